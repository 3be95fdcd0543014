// Loads libm at the first call of one of its functions, instead of at each start, of which it takes 5 %.
//
// The Swift library refers to these functions. A check calls ceil alone, for a dictionary that grows, so it
// is here; the results of all others are those of libm.
// Nothing else is linked in libm's place.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

// ioctl of Swift's Glibc module, which ArgumentParser asks for the width of the terminal. Taken from the
// module, it would bring the rest, which refers to 80 functions more. Swift passes integers as C does.
int stand_in(int file, unsigned long request, void *pointer) __asm__("$s5Glibc5ioctlys5Int32VAD_SuSvtF");
int stand_in(int file, unsigned long request, void *pointer) { return ioctl(file, request, pointer); }

static void *find(const char *name) {
  // The handle stays open: its functions are called until the process ends.
  void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
  void *function = library ? dlsym(library, name) : NULL;
  if (!function) {
    fprintf(stderr, "%s\n", dlerror());
    abort();
  }
  return function;
}

// Two threads that find a function at the same time store the same pointer.
#define FUNCTION(TYPE, NAME, PARAMETERS, ARGUMENTS)                                                 \
  TYPE NAME PARAMETERS {                                                                            \
    static TYPE(*_Atomic function) PARAMETERS;                                                      \
    if (!function) function = (TYPE(*) PARAMETERS)find(#NAME);                                      \
    return function ARGUMENTS;                                                                      \
  }
#define ONE(TYPE, NAME) FUNCTION(TYPE, NAME, (TYPE x), (x))
#define TWO(TYPE, NAME) FUNCTION(TYPE, NAME, (TYPE x, TYPE y), (x, y))
#define THREE(TYPE, NAME) FUNCTION(TYPE, NAME, (TYPE x, TYPE y, TYPE z), (x, y, z))
#define ALL(NUMBER, NAME) NUMBER(double, NAME) NUMBER(float, NAME##f) NUMBER(long double, NAME##l)

double ceil(double x) {
  // From 2^52 on, and for what is no number, there is no fraction.
  if (!(__builtin_fabs(x) < 0x1p52)) return x;
  double whole = (double)(long long)x;
  if (whole < x) whole += 1;
  // -0.5 becomes -0.
  return __builtin_copysign(whole, x);
}
ONE(float, ceilf)
ONE(long double, ceill)
ALL(ONE, cos)
ALL(ONE, exp)
ALL(ONE, exp2)
ALL(ONE, floor)
ALL(ONE, log)
ALL(ONE, log10)
ALL(ONE, log2)
ALL(ONE, nearbyint)
ALL(ONE, rint)
ALL(ONE, round)
ALL(ONE, sin)
ALL(ONE, sqrt)
ALL(ONE, trunc)
ALL(TWO, fmod)
ALL(TWO, remainder)
ALL(THREE, fma)
