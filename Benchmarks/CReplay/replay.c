#define _GNU_SOURCE
#include "CReplay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static int credentials(void) {
  uid_t r, e, s;
  gid_t groups[65536];
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2];
  getresuid(&r, &e, &s);
  getresgid(&r, &e, &s);
  int count = getgroups(0, NULL);
  if (getgroups(count, groups) < 0) return -1;
  setfsuid((uid_t)-1);
  setfsgid((gid_t)-1);
  return syscall(SYS_capget, &header, data);
}

long replay(const struct replay_step *steps, size_t count) {
  static char buffer[1 << 16];
  int open_files[256];
  char name[64];
  long failed = 0;
  for (size_t i = 0; i < count; i++) {
    const struct replay_step *step = &steps[i];
    int fd = step->slot < 0 ? AT_FDCWD : open_files[step->slot];
    long result = 0;
    switch (step->call) {
    case REPLAY_OPENAT:
      result = openat(fd, step->path, step->flags, 0600);
      open_files[step->result] = result;
      break;
    case REPLAY_CLOSE: result = close(fd); break;
    case REPLAY_READ: result = read(fd, buffer, step->flags); break;
    case REPLAY_STATX: {
      struct statx sx;
      result = syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                       STATX_BASIC_STATS | STATX_MNT_ID, &sx);
      break;
    }
    case REPLAY_READLINKAT: result = readlinkat(fd, "", buffer, 4096); break;
    case REPLAY_GETXATTR:
      snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
      result = getxattr(name, "system.posix_acl_access", buffer, 1024);
      break;
    case REPLAY_GETDENTS:
      while ((result = syscall(SYS_getdents64, fd, buffer, 1 << 15)) > 0) {
      }
      break;
    case REPLAY_FACCESSAT2:
      result = syscall(439, AT_FDCWD, step->path, step->flags, AT_EACCESS);
      break;
    case REPLAY_CREDENTIALS: result = credentials(); break;
    }
    if (result < 0) failed++;
  }
  return failed;
}
