// What the parts of the tracer share.
#ifndef PERMISSIONKIT_TRACER_H
#define PERMISSIONKIT_TRACER_H

#include <stddef.h>
#include <sys/types.h>

#include "include/refusal.h"

// A system call of a thread that is stopped.
struct pk_stop {
  int is_i386;
  uint64_t number, arguments[6];
};

// A refusal, with its strings.
struct pk_noted {
  struct pk_refusal refusal;
  char bytes[5 * 4096];
};

// Whether an error may be one that counts.
int pk_counts(int64_t error);
// Writes down the failure of a call, with everything that decides it. Returns how many bytes that is; 0 if it is none
// that counts.
size_t pk_note(const struct pk_stop *stop, pid_t thread, int64_t error, struct pk_noted *noted);

// Makes the kernel stop this process, and what it starts, at each call that can be refused; without a tracer these fail
// (ENOSYS). Returns 0 or an errno.
int pk_filter(void);

#endif
