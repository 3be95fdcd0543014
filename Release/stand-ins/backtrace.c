// Takes the place of the part of the Swift runtime that installs signal handlers at a start with
// SWIFT_BACKTRACE set: a library leaves the signals of a program alone.
//
// The rest of the runtime refers to these two symbols of stdlib/public/runtime/Backtrace.cpp alone; all
// zero means that nothing is enabled (BacktraceSettings in swift/Runtime/Backtrace.h).
#include <stdbool.h>

long _swift_backtraceSettings[64];

bool _swift_backtrace_isThunkFunction(const char *name) {
  (void)name;
  return false;
}
