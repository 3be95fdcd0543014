/* A program that was built with the first header: its options have fewer members. In a folder of its own. */
#include <permissionkit.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
  char folder[4096];
  if (getcwd(folder, sizeof folder) == NULL || chmod(folder, 0700) != 0) return 1;
  /* What lies behind the options is not theirs. */
  struct {
    pk_options options;
    char rest[128];
  } given = {PK_OPTIONS_INIT, {0}};
  memset(given.rest, 0xa5, sizeof given.rest);
  given.options.path = folder;
  given.options.need = PK_READ | PK_EXECUTE;
  given.options.purpose = "to test";
  pk_result *checked = pk_check("photos", &given.options), *requested = pk_request("photos", &given.options);
  given.options.path = NULL;
  pk_result *explained = pk_explain_path(folder, &given.options);
  int granted = pk_result_is_granted(checked) + pk_result_is_granted(requested) + pk_result_is_granted(explained);
  if (granted != 3) fprintf(stderr, "first: %s\n", pk_result_message(checked));
  pk_result_free(checked);
  pk_result_free(requested);
  pk_result_free(explained);
  return granted != 3;
}
