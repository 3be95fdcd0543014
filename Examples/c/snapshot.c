/* A program that runs only if it may use the camera; else it says why not, in its own name. */
#include <permissionkit.h>
#include <stdio.h>

int main(void) {
  pk_result *camera = pk_check("camera", NULL);
  int granted = pk_result_is_granted(camera);
  if (!granted) fprintf(stderr, "snapshot: no camera: %s\n", pk_result_message(camera));
  pk_result_free(camera);
  if (!granted) return 77; /* EX_NOPERM of sysexits(3) */
  puts("here the picture would be taken");
  return 0;
}
