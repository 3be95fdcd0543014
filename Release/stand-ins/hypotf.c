// The Swift runtime calls hypotf(3), which has had a new version (GLIBC_2.35) since it leaves errno
// alone. Without this one the programs would not start with glibc 2.34.
#include <math.h>

float hypotf(float x, float y) {
  if (isinf(x) || isinf(y)) return INFINITY;
  return (float)sqrt((double)x * x + (double)y * y);
}
