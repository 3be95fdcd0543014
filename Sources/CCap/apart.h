// A process that makes system calls on files for another, which waits for all of them together no longer
// than it likes: a call that waits for a server without an end (FUSE, NFS) cannot be given up by who makes it.
//
// The process makes system calls alone, for other threads may have held locks at the fork, and holds
// nothing that a wait without an end would keep: no lock, no file of the caller. One that reads what others can
// change has no capability, the ids of a user, and a root directory that no path and no link leaves.
#ifndef CCAP_APART_H
#define CCAP_APART_H

#include <sys/mman.h>

enum {
  CCAP_APART_OPENAT, CCAP_APART_CLOSE, CCAP_APART_STATX, CCAP_APART_READLINKAT, CCAP_APART_GETXATTR,
  CCAP_APART_SETXATTR, CCAP_APART_REMOVEXATTR, CCAP_APART_CHMOD, CCAP_APART_CHGRP, CCAP_APART_FSTATFS,
  CCAP_APART_GETDENTS, CCAP_APART_FACCESSAT2, CCAP_APART_UNLINK, CCAP_APART_READ, CCAP_APART_OPENAT2, CCAP_APART_REGULAR
};

// One call, in memory that both processes have, with a text and data behind it, for an array would become a
// tuple in Swift. A descriptor from `CCAP_APART_OWN` on is that process's own.
enum { CCAP_APART_OWN = 1 << 30, CCAP_APART_PATH = 010000000, CCAP_APART_FOLDER = 0200000, CCAP_APART_TEXT = 4096, CCAP_APART_DATA = 1 << 16 };
struct ccap_apart_call {
  int call, descriptor, flags;
  unsigned mode;
  size_t size;
  long result;
};
enum { CCAP_APART_SIZE = sizeof(struct ccap_apart_call) + CCAP_APART_TEXT + CCAP_APART_DATA };

static inline char *ccap_apart_text(struct ccap_apart_call *c) { return (char *)(c + 1); }
static inline char *ccap_apart_data(struct ccap_apart_call *c) { return ccap_apart_text(c) + CCAP_APART_TEXT; }

struct ccap_apart {
  int socket, pidfd, pid;
  struct ccap_apart_call *call;
};

// What a process takes on that reads what others can change: an O_PATH descriptor of its root directory, and the ids
// of a user. With its caller's ids it opens what belongs to the user or may be read by everybody, or anything.
struct ccap_apart_reader {
  int root, takes_ids, checks_owner;
  unsigned uid, gid;
  const unsigned *groups;
  size_t group_count;
};

// Drops each right that the user lacks; 0, or -errno. Not by glibc, which would look for threads.
static inline long ccap_apart_become(const struct ccap_apart_reader *reader) {
  struct { uint32_t version; int pid; } header = {0x20080522, 0};
  uint32_t none[2][3] = {{0}};
  // Its memory is a copy of its caller's, which the user must not see.
  syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (reader->takes_ids && (syscall(SYS_setgroups, reader->group_count, reader->groups) != 0 ||
                            syscall(SYS_setresgid, reader->gid, reader->gid, reader->gid) != 0 ||
                            syscall(SYS_setresuid, reader->uid, reader->uid, reader->uid) != 0))
    return -errno;
  if (syscall(SYS_capset, &header, none) != 0) return -errno;
  syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  return 0;
}

// Opens below a root directory, which no link leaves.
static inline long ccap_apart_open(int root, const char *path, int flags) {
  enum { IN_ROOT = 0x10 };
  long fd;
  int tries = 0;
  // EAGAIN: a name was exchanged meanwhile.
  do fd = ccap_openat2(root, path, flags | O_CLOEXEC, IN_ROOT);
  while (fd == -EINTR || (fd == -EAGAIN && ++tries < 32));
  return fd;
}

// Opens a regular file to read: first as what it is, for an open would affect a device or a FIFO. -ENODATA for
// /dev/null, -EINVAL for anything else.
static inline long ccap_apart_regular(const struct ccap_apart_reader *reader, const char *path) {
  char link[40] = "/proc/self/fd/";
  struct ccap_stat fields;
  long fd = ccap_apart_open(reader->root, path, CCAP_APART_PATH), failed;
  if (fd < 0) return fd;
  failed = ccap_statx((int)fd, "", &fields);
  if (!failed && S_ISCHR(fields.mode) && fields.rdev_major == 1 && fields.rdev_minor == 3) failed = -ENODATA;
  if (!failed && !S_ISREG(fields.mode)) failed = -EINVAL;
  if (!failed && reader->checks_owner && fields.uid != reader->uid && !(fields.mode & 04)) failed = -EACCES;
  if (!failed) {
    size_t end = strlen(link), digits = 1;
    for (long rest = fd; rest >= 10; rest /= 10) digits++;
    for (long rest = fd, i = (long)digits; i > 0; rest /= 10) link[end + (size_t)--i] = (char)('0' + rest % 10);
    failed = ccap_openat(AT_FDCWD, link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
  }
  close((int)fd);
  return failed;
}

// Makes a call for a reader of what others can change; it knows no other calls.
static inline long ccap_apart_look(struct ccap_apart_call *c, const struct ccap_apart_reader *reader) {
  const char *path = ccap_apart_text(c);
  long n;
  c->size = 0;
  if (c->call == CCAP_APART_STATX && *path) {
    if ((n = ccap_apart_open(reader->root, path, CCAP_APART_PATH)) < 0) return n;
    long failed = ccap_statx((int)n, "", (struct ccap_stat *)ccap_apart_data(c));
    close((int)n);
    c->size = sizeof(struct ccap_stat);
    return failed;
  }
  if (c->call != CCAP_APART_REGULAR && c->call != CCAP_APART_OPENAT) return -ENOSYS;
  // A folder's names, or a regular file: nothing else is opened.
  if (c->call == CCAP_APART_OPENAT && !(c->flags & CCAP_APART_FOLDER)) return -EPERM;
  n = c->call == CCAP_APART_REGULAR ? ccap_apart_regular(reader, path) : ccap_apart_open(reader->root, path, c->flags);
  return n < 0 ? n : n + CCAP_APART_OWN;
}

// Makes the call; `size` becomes that of what was read.
static inline long ccap_apart_make(struct ccap_apart_call *c, int fd) {
  size_t size = c->size;
  char *text = ccap_apart_text(c), *data = ccap_apart_data(c);
  long n;
  c->size = 0;
  switch (c->call) {
    case CCAP_APART_OPENAT:
      // A descriptor with O_PATH goes to the caller, whose close(2) of it waits for nobody.
      n = ccap_openat(fd, text, c->flags, c->mode);
      return n < 0 || c->flags & CCAP_APART_PATH ? n : n + CCAP_APART_OWN;
    case CCAP_APART_OPENAT2:
      n = ccap_openat2(fd, text, c->flags, 0);
      return n < 0 ? n : n + CCAP_APART_OWN;
    case CCAP_APART_CLOSE: return close(fd);
    case CCAP_APART_STATX:
      c->size = sizeof(struct ccap_stat);
      return ccap_statx(fd, text, (struct ccap_stat *)data);
    case CCAP_APART_FSTATFS:
      c->size = 3 * sizeof(uint64_t);
      return ccap_fstatfs(fd, (uint64_t *)data, (uint64_t *)data + 1, (uint64_t *)data + 2);
    case CCAP_APART_SETXATTR: return ccap_setxattr(fd, text, data, size);
    case CCAP_APART_REMOVEXATTR: return ccap_removexattr(fd, text);
    case CCAP_APART_CHMOD: return ccap_chmod(fd, c->mode);
    case CCAP_APART_CHGRP: return ccap_chgrp(fd, c->mode);
    case CCAP_APART_FACCESSAT2: return ccap_faccessat2(text, (int)c->mode);
    case CCAP_APART_UNLINK: return unlinkat(AT_FDCWD, text, 0) != 0 ? -errno : 0;
    case CCAP_APART_READLINKAT: n = ccap_readlinkat(fd, text, data, size); break;
    case CCAP_APART_GETXATTR: n = ccap_getxattr(fd, text, data, size); break;
    case CCAP_APART_GETDENTS: n = ccap_getdents64(fd, data, size); break;
    case CCAP_APART_READ: n = ccap_read(fd, data, size); break;
    default: return -ENOSYS;
  }
  if (n > 0) c->size = (size_t)n;
  return n;
}

// Closes all descriptors but one or two; the second may be -1.
static inline void ccap_apart_keep(int one, int other) {
  unsigned low = (unsigned)(other >= 0 && other < one ? other : one);
  unsigned high = (unsigned)(other > one ? other : one);
  if (low > 0) syscall(SYS_close_range, 0U, low - 1, 0);
  if (high > low + 1) syscall(SYS_close_range, low + 1, high - 1, 0);
  syscall(SYS_close_range, high + 1, ~0U, 0);
}

// Sends or receives a byte, with a descriptor if there is one; the descriptor, -1 for none, -2 at the end.
static inline int ccap_apart_send(int socket, int fd) {
  char byte = 0;
  struct ccap_message message;
  struct msghdr *carrying = ccap_carrying(&message, &byte, 1, fd < 0 ? -1 : fd);
  long sent;
  do sent = syscall(SYS_sendmsg, socket, carrying, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == 1 ? 0 : -errno;
}

static inline int ccap_apart_receive(int socket) {
  char byte;
  int fd = -1;
  struct ccap_message message;
  struct msghdr *carrying = ccap_carrying(&message, &byte, 1, -2);
  long received;
  do received = syscall(SYS_recvmsg, socket, carrying, MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received != 1) return -2;
  if (carrying->msg_controllen >= CMSG_LEN(sizeof fd)) memcpy(&fd, CMSG_DATA(&message.control.header), sizeof fd);
  return fd;
}

// Whether a call of a reader is about a descriptor that it opened itself.
static inline int ccap_apart_is_own(const struct ccap_apart_call *c) {
  return c->descriptor >= CCAP_APART_OWN &&
         (c->call == CCAP_APART_READ || c->call == CCAP_APART_GETDENTS || c->call == CCAP_APART_CLOSE);
}

// Starts the process; it ends when its socket is closed. `reader` is NULL for one that has the caller's rights.
static inline int ccap_apart_start(struct ccap_apart *apart, const struct ccap_apart_reader *reader) {
  enum { PIDFD = 0x1000 };
  int ends[2];
  void *memory = mmap(NULL, CCAP_APART_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | 0x20 /* ANONYMOUS */, -1, 0);
  if (memory == MAP_FAILED) return -errno;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    int failed = -errno;
    munmap(memory, CCAP_APART_SIZE);
    return failed;
  }
  apart->call = memory;
  long child = syscall(SYS_clone, (unsigned long)PIDFD, 0, &apart->pidfd, 0, 0);
  if (child == 0) {
    ccap_apart_keep(ends[1], reader ? reader->root : -1);
    long failed = reader ? ccap_apart_become(reader) : 0;
    for (int fd; (fd = ccap_apart_receive(ends[1])) != -2;) {
      struct ccap_apart_call *c = memory;
      int own = c->descriptor >= CCAP_APART_OWN ? c->descriptor - CCAP_APART_OWN : fd >= 0 ? fd : c->descriptor;
      if (failed) c->result = failed;
      else if (reader && !ccap_apart_is_own(c)) c->result = ccap_apart_look(c, reader);
      else c->result = ccap_apart_make(c, own);
      if (fd >= 0) close(fd);
      int opened = c->call == CCAP_APART_OPENAT && c->result >= 0 && c->result < CCAP_APART_OWN ? (int)c->result : -1;
      int failed = ccap_apart_send(ends[1], opened);
      if (opened >= 0) close(opened);
      if (failed) break;
    }
    syscall(SYS_exit_group, 0);
  }
  int failed = child < 0 ? -errno : 0;
  close(ends[1]);
  apart->socket = ends[0];
  apart->pid = (int)child;
  if (failed) {
    close(ends[0]);
    munmap(memory, CCAP_APART_SIZE);
  }
  return failed;
}

// Has a call made; -ETIME if there is no answer within `ms`, and then the process is to be ended. `data` is
// written if it is not NULL, else `size` bytes are read at most.
static inline long ccap_apart_ask(
    struct ccap_apart *apart, int call, int fd, const char *text, int flags, unsigned mode, const void *data,
    size_t size, int ms) {
  struct ccap_apart_call *c = apart->call;
  if (strlen(text) >= CCAP_APART_TEXT) return -ENAMETOOLONG;
  if (size > CCAP_APART_DATA) {
    if (data) return -E2BIG;
    size = CCAP_APART_DATA;
  }
  c->call = call;
  c->descriptor = fd;
  c->flags = flags;
  c->mode = mode;
  c->size = size;
  strcpy(ccap_apart_text(c), text);
  if (data) memcpy(ccap_apart_data(c), data, size);
  int failed = ccap_apart_send(apart->socket, fd >= CCAP_APART_OWN ? -1 : fd);
  // A filter of sendmsg(2) says nothing of the file.
  if (failed) return -EIO;
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  int64_t left = ms;
  do {
    struct pollfd wait = {apart->socket, POLLIN, 0};
    if (poll(&wait, 1, (int)left) > 0) {
      int opened = ccap_apart_receive(apart->socket);
      return opened == -2 ? -EIO : opened >= 0 ? opened : c->result;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    left = ms - ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000);
  } while (left > 0);
  return -ETIME;
}

// What the last call has read.
static inline const void *ccap_apart_read(struct ccap_apart *apart, size_t *size) {
  *size = apart->call->size;
  return ccap_apart_data(apart->call);
}

// Ends the process; its descriptor if it does not even end when it is killed, otherwise -1.
static inline int ccap_apart_end(struct ccap_apart *apart, int kills) {
  close(apart->socket);
  if (kills) kill(apart->pid, SIGKILL);
  // A call that goes on may still write to the memory, which is that process's own then.
  munmap(apart->call, CCAP_APART_SIZE);
  if (!ccap_wait_end(apart->pidfd, 100)) return apart->pidfd;
  ccap_reap(apart->pidfd);
  return -1;
}

#endif
