// Runs before every constructor of every library, so also before the Swift runtime. The runtime looks
// for its backtracer at its start, below the working directory too, whose server may not answer.
#include <stddef.h>
#include <string.h>

#include "ToolStart.h"

static char no_search[] = "SWIFT_BACKTRACE=enable=no,swift-backtrace=/";
static char *replaced;

// The runtime would look for the arguments in /proc/self/maps before main(). In a static program these
// stand in for its own functions of the same names (stdlib/public/stubs/CommandLine.cpp).
static int count;
static char **arguments;

char **_swift_stdlib_getUnsafeArgvArgc(int *length) {
  *length = count;
  return arguments;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **argv, int argc) {
  count = argc;
  arguments = argv;
}

// A constructor, also of a preloaded library, may have moved the environment by setenv(3).
void tool_start_done(void) {
  extern char **environ;
  for (char **variable = environ; replaced && variable && *variable; variable++) {
    if (*variable == no_search) *variable = replaced;
  }
  replaced = NULL;
}

// The environment cannot grow here, and libc cannot change it yet, so one variable gives its place
// until the program has started.
static void start(int argc, char **argv, char **environment) {
  count = argc;
  arguments = argv;
  if (!environment[0]) return;
  for (char **variable = environment; *variable; variable++) {
    if (strncmp(*variable, "SWIFT_BACKTRACE=", 16) == 0) return;
  }
  replaced = environment[0];
  environment[0] = no_search;
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = start;

// Release/build links it.
extern const char permcheck_build[] __attribute__((weak));

const char *tool_build(void) { return permcheck_build ? permcheck_build : ""; }
