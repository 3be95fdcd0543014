// Plays a recorded list of system calls again, in C: what a check costs at the least.
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
  REPLAY_GETPWUID,
};

struct replay_step {
  int32_t call;      // enum replay_call
  int32_t slot;      // the descriptor: its place in the table of open ones; -1 for AT_FDCWD
  int32_t result;    // openat: the slot that the new descriptor takes
  int32_t flags;     // openat: flags; faccessat2: mode; read: count
  const char *path;  // openat, faccessat2
};

// Plays the steps and returns how many failed; what fails in the recording must fail here too.
long replay(const struct replay_step *steps, size_t count);

#endif
