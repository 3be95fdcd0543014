// Repeats a recorded list of system calls in C: the lowest possible cost of a check.
#ifndef CREPLAY_H
#define CREPLAY_H

#include <stddef.h>
#include <stdint.h>

enum replay_call {
  REPLAY_OPENAT,
  REPLAY_CLOSE,
  REPLAY_READ,
  REPLAY_STATX,
  REPLAY_READLINKAT,
  REPLAY_GETXATTR,
  REPLAY_GETDENTS,
  REPLAY_FACCESSAT2,
  REPLAY_CREDENTIALS,
};

struct replay_step {
  int32_t call;      // enum replay_call
  int32_t slot;      // the descriptor: its index in the table of open ones; -1 for AT_FDCWD
  int32_t result;    // openat: the slot of the new descriptor
  int32_t flags;     // openat: flags; faccessat2: mode; read: count
  const char *path;  // openat, faccessat2
};

// Repeats the steps and returns the number of failures; a call that failed when recorded fails here
// too.
long replay(const struct replay_step *steps, size_t count);

#endif
