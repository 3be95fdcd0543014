/*
 * Tells what there is to tell about accessors and paths: access NAME|/PATH…
 *
 * The exit status is 0 if there is access to all of them, 1 otherwise, and 64 for wrong usage.
 */
#include <permissionkit.h>
#include <stdio.h>

int main(int count, char **arguments) {
  int status = 0;
  if (count < 2) {
    fprintf(stderr, "usage: %s NAME|/PATH...\n", arguments[0]);
    return 64;
  }
  for (int index = 1; index < count; index++) {
    const char *name = arguments[index];
    pk_result *result = name[0] == '/' ? pk_explain_path(name, NULL) : pk_check(name, NULL);
    switch (pk_result_status(result)) {
    case PK_AUTHORIZED:
    case PK_LIMITED:
      puts(pk_result_line(result));
      break;
    case PK_ERROR:
      fprintf(stderr, "%s: %s\n", arguments[0], pk_result_message(result));
      status = 64;
      break;
    default:
      fputs(pk_result_explanation(result), stdout);
      if (status == 0) status = 1;
    }
    pk_result_free(result);
  }
  return status;
}
