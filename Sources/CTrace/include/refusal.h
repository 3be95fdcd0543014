// What the BPF program says of one refusal, in the byte order of the machine.
#ifndef PERMISSIONKIT_REFUSAL_H
#define PERMISSIONKIT_REFUSAL_H

#ifndef __bpf__
#include <stdint.h>
#endif

// The most groups that are told; `groups` is how many there are.
#define PK_GROUPS 32
// The length of a string that could not be read.
#define PK_UNREADABLE 65535

struct pk_refusal {
  uint64_t time;                        // CLOCK_MONOTONIC, in nanoseconds
  uint64_t arguments[8];                // of the system call: six
  uint64_t effective, permitted;        // capability sets, see capabilities(7)
  uint64_t root_inode, directory_inode; // directory: where a relative path begins, or the object itself; 0 if none
  uint32_t root_device, directory_device; // dev_t of the kernel: major << 20 | minor
  uint32_t process, thread;             // in the pid namespace of the reader
  uint32_t user[4], group[4];           // real, effective, saved, file system; in the initial user namespace
  uint32_t mount_namespace, user_namespace; // inode numbers in nsfs
  int32_t number;                       // of the system call, or the opcode of io_uring
  uint32_t error;                       // errno
  uint32_t kind;                        // enum pk_kind
  uint32_t groups, group_ids[PK_GROUPS]; // supplementary groups
  char name[16];                        // comm of the thread
  // Lengths of the strings that follow: path, second path, directory, second directory. A directory is
  // written backwards, each name followed by a zero byte.
  uint16_t lengths[4];
};

// What the programs and the reader share.
struct pk_state {
  uint64_t lost;      // refusals that did not fit, and processes that could not be followed
  uint64_t namespace; // the reader's pid namespace: where it is in the kernel's memory
  uint32_t level;     // and how deep it is; 0: the initial one
};

enum pk_kind { PK_NATIVE = 0, PK_I386 = 1, PK_URING = 2 };

// Which arguments are paths and the directories that they begin in, counted from 1; 0: none.
struct pk_call {
  uint8_t directory, path, second_directory, second_path;
  uint8_t is; // bits of enum pk_call_is
};

enum pk_call_is {
  PK_OBJECT = 1,  // the directory is the object itself, as in fchmod
  PK_ADDRESS = 2, // the path is a socket address, and the next argument its length
  PK_PASSED = 4,  // it is refused too rarely for a tracer to stop it
};

#endif
