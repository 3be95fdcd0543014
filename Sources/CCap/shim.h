// Typed wrappers for functions that Swift cannot import: variadic functions, macros, and functions
// that need constants with a wrong integer type. Each has the name of its system call and returns
// -errno.
#ifndef CCAP_SHIM_H
#define CCAP_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fscrypt.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/stat.h>
#include <linux/unix_diag.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/quota.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

// The feature macros must equal those of Swift's own Glibc module, so functions that need
// _GNU_SOURCE are called by the number of their system call.
#define CCAP_AT_EMPTY_PATH 0x1000
#define CCAP_AT_STATX_DONT_SYNC 0x4000
#define CCAP_AT_NO_AUTOMOUNT 0x800
#define CCAP_AT_EACCESS 0x200

// The fields of statx(2) that matter for a decision.
struct ccap_stat {
  uint32_t mode, uid, gid, rdev_major, rdev_minor, dev_major, dev_minor, links, has_mount;
  uint64_t inode, mount, attributes, size;
  int64_t birth, changed, modified;
};

// `flags` are those of include/uapi/asm-generic/fcntl.h; some architectures have other numbers for
// three of them.
static inline int ccap_openat(int dir, const char *path, int flags, unsigned mode) {
  enum { DIRECTORY = 0200000, NOFOLLOW = 0400000, DIRECT = 040000 };
  int fd, native = flags & ~(DIRECTORY | NOFOLLOW | DIRECT);
  if (flags & DIRECTORY) native |= O_DIRECTORY;
  if (flags & NOFOLLOW) native |= O_NOFOLLOW;
  flags = native;
  do fd = openat(dir, path, flags, mode);
  while (fd < 0 && errno == EINTR);
  return fd < 0 ? -errno : fd;
}

// statx(2) of a path, or of the descriptor itself if the path is empty; mounts nothing.
static inline int ccap_statx(int fd, const char *path, struct ccap_stat *out) {
  struct statx sx;
  int what = (*path ? 0 : CCAP_AT_EMPTY_PATH) | CCAP_AT_NO_AUTOMOUNT | CCAP_AT_STATX_DONT_SYNC;
  long failed;
  do failed = syscall(SYS_statx, fd, path, what, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, &sx);
  while (failed && errno == EINTR);
  if (failed) return -errno;
  out->birth = sx.stx_mask & STATX_BTIME
                   ? (int64_t)sx.stx_btime.tv_sec * 1000000000 + sx.stx_btime.tv_nsec
                   : INT64_MIN;
  out->changed = (int64_t)sx.stx_ctime.tv_sec * 1000000000 + sx.stx_ctime.tv_nsec;
  out->modified = (int64_t)sx.stx_mtime.tv_sec * 1000000000 + sx.stx_mtime.tv_nsec;
  out->mode = sx.stx_mode;
  out->uid = sx.stx_uid;
  out->gid = sx.stx_gid;
  out->rdev_major = sx.stx_rdev_major;
  out->rdev_minor = sx.stx_rdev_minor;
  out->dev_major = sx.stx_dev_major;
  out->dev_minor = sx.stx_dev_minor;
  out->links = sx.stx_nlink;
  out->has_mount = (sx.stx_mask & STATX_MNT_ID) != 0;
  out->inode = sx.stx_ino;
  out->size = sx.stx_size;
  out->mount = sx.stx_mnt_id;
  out->attributes = sx.stx_attributes;
  return 0;
}

// The id maps of a descriptor's mount, by statmount(2) (Linux 6.15): lines "inside outside count"
// in `users` and `groups`, each NUL-terminated; -ENODATA if the mount is not idmapped.
static inline int ccap_statmount_idmap(int fd, char *users, char *groups, size_t size) {
  enum { UNIQUE_MNT_ID = 0x4000, STATMOUNT_MNT_UIDMAP = 0x2000, STATMOUNT_MNT_GIDMAP = 0x4000 };
  // struct mnt_id_req and struct statmount of include/uapi/linux/mount.h, which the headers may
  // lack.
  struct { uint32_t size, spare; uint64_t mount, param; } request = {24, 0, 0, 0};
  struct {
    uint32_t size, opts; uint64_t mask, other[17];
    uint32_t users_count, users, groups_count, groups; uint64_t spare[43]; char text[8192];
  } answer;
  struct statx sx;
  if (syscall(SYS_statx, fd, "", CCAP_AT_EMPTY_PATH, UNIQUE_MNT_ID, &sx) != 0) return -errno;
  if (!(sx.stx_mask & UNIQUE_MNT_ID)) return -ENOSYS;
  request.mount = sx.stx_mnt_id;
  request.param = STATMOUNT_MNT_UIDMAP | STATMOUNT_MNT_GIDMAP;
  if (syscall(457 /* statmount */, &request, &answer, sizeof answer, 0) != 0) return -errno;
  if ((answer.mask & request.param) != request.param) return -ENOSYS;
  const char *from[2] = {answer.text + answer.users, answer.text + answer.groups};
  uint32_t counts[2] = {answer.users_count, answer.groups_count};
  char *to[2] = {users, groups};
  if (!counts[0] && !counts[1]) return -ENODATA;
  for (int kind = 0; kind < 2; kind++) {
    size_t used = 0;
    const char *line = from[kind];
    for (uint32_t i = 0; i < counts[kind]; i++) {
      size_t length = strlen(line);
      if (used + length + 2 > size) return -ERANGE;
      memcpy(to[kind] + used, line, length);
      used += length;
      to[kind][used++] = '\n';
      line += length + 1;
    }
    to[kind][used] = 0;
  }
  return 0;
}

// The flags (ST_…), the type and the id of the file system of a descriptor, which may be O_PATH.
//
// The id of an XFS is its device number, unless the descriptor may ask for its UUID, which is then
// folded as ext4 folds its own; see XFS_IOC_FSGEOMETRY_V1 and struct xfs_fsop_geom_v1 in xfs_fs.h.
static inline int ccap_fstatfs(int fd, uint64_t *flags, uint64_t *type, uint64_t *id) {
  struct statfs fs;
  if (fstatfs(fd, &fs) != 0) return -errno;
  *flags = (uint64_t)fs.f_flags;
  *type = (uint64_t)fs.f_type & 0xffffffff;
  memcpy(id, &fs.f_fsid, sizeof *id);
  if (*type == 0x58465342) {
    unsigned char geometry[112];
    uint64_t half[2];
    if (ioctl(fd, 0x80705864, geometry) == 0) {
      memcpy(half, geometry + 64, sizeof half);
      *id = half[0] ^ half[1];
    }
  }
  return 0;
}

// What refuses a new inode whatever the permissions are: -ENOSPC where none is free, -EDQUOT at a limit of the
// user's or the group's quota; see inode_quota_check() in fs/quota/dquot.c. -ENODATA where a quota does not answer: it
// answers its own user and group, and root. 0 where there is none (ENOSYS, ESRCH, EINVAL …).
static inline int ccap_room(int fd, uint32_t uid, uint32_t gid) {
  struct statfs fs;
  if (fstatfs(fd, &fs) != 0) return -errno;
  if (fs.f_files > 0 && fs.f_ffree == 0) return -ENOSPC;
  int result = 0;
  for (int kind = USRQUOTA; kind <= GRPQUOTA; kind++) {
    struct if_dqblk limits;
    if (syscall(SYS_quotactl_fd, fd, QCMD(Q_GETQUOTA, kind), kind == USRQUOTA ? uid : gid, &limits) != 0) {
      if (errno == EPERM || errno == EACCES) result = -ENODATA;
      continue;
    }
    uint64_t next = limits.dqb_curinodes + 1;
    int isHard = limits.dqb_ihardlimit != 0 && next > limits.dqb_ihardlimit;
    int isLate = limits.dqb_isoftlimit != 0 && next > limits.dqb_isoftlimit && limits.dqb_itime != 0 &&
                 (uint64_t)time(NULL) >= limits.dqb_itime;
    if (isHard || isLate) return -EDQUOT;
  }
  return result;
}

// The link in /proc that leads to the inode of a descriptor, which may be O_PATH; fgetxattr(2) and
// similar calls refuse such a descriptor.
static inline void ccap_link(int fd, char path[32]) {
  char digits[12];
  int count = 0, length = 14;
  memcpy(path, "/proc/self/fd/", 14);
  do digits[count++] = (char)('0' + fd % 10);
  while ((fd /= 10) > 0);
  while (count > 0) path[length++] = digits[--count];
  path[length] = 0;
}

static inline long ccap_getxattr(int fd, const char *name, void *value, size_t size) {
  char path[32];
  ccap_link(fd, path);
  ssize_t n = getxattr(path, name, value, size);
  return n < 0 ? -errno : n;
}

static inline int ccap_setxattr(int fd, const char *name, const void *value, size_t size) {
  char path[32];
  ccap_link(fd, path);
  return setxattr(path, name, value, size, 0) != 0 ? -errno : 0;
}

static inline int ccap_removexattr(int fd, const char *name) {
  char path[32];
  ccap_link(fd, path);
  return removexattr(path, name) != 0 ? -errno : 0;
}

static inline int ccap_chmod(int fd, unsigned mode) {
  char path[32];
  ccap_link(fd, path);
  return chmod(path, mode) != 0 ? -errno : 0;
}

static inline int ccap_chgrp(int fd, unsigned gid) {
  char path[32];
  ccap_link(fd, path);
  return chown(path, (uid_t)-1, gid) != 0 ? -errno : 0;
}

static inline int ccap_fsync(int fd) { return fsync(fd) != 0 ? -errno : 0; }

static inline int ccap_flock(int fd) { return flock(fd, LOCK_EX | LOCK_NB) != 0 ? -errno : 0; }

// fallocate(2) with FALLOC_FL_KEEP_SIZE: space for `size` bytes, without a change of the file's size.
static inline int ccap_fallocate(int fd, int64_t size) {
  enum { KEEP_SIZE = 1 };
  return syscall(SYS_fallocate, fd, KEEP_SIZE, (int64_t)0, size) != 0 ? -errno : 0;
}

// A file handle as one block: the type, then the bytes of struct file_handle of fcntl.h.
enum { CCAP_HANDLE = 128 };

// name_to_handle_at(2) of the descriptor itself, which may be O_PATH; the length, or -errno.
static inline long ccap_name_to_handle_at(int fd, uint8_t out[CCAP_HANDLE + 4]) {
  struct { uint32_t bytes; int32_t type; uint8_t handle[CCAP_HANDLE]; } handle = {CCAP_HANDLE, 0, {0}};
  int mount;
  if (syscall(SYS_name_to_handle_at, fd, "", &handle, &mount, CCAP_AT_EMPTY_PATH) != 0)
    return -errno;
  memcpy(out, &handle.type, 4);
  memcpy(out + 4, handle.handle, handle.bytes);
  return 4 + (long)handle.bytes;
}

// open_by_handle_at(2) with O_PATH; `mount` is any directory of the file system, not O_PATH.
static inline int ccap_open_by_handle_at(int mount, const uint8_t *block, size_t size) {
  struct { uint32_t bytes; int32_t type; uint8_t handle[CCAP_HANDLE]; } handle;
  enum { PATH = 010000000 };
  if (size < 4 || size > CCAP_HANDLE + 4) return -EINVAL;
  handle.bytes = (uint32_t)(size - 4);
  memcpy(&handle.type, block, 4);
  memcpy(handle.handle, block + 4, size - 4);
  long fd = syscall(SYS_open_by_handle_at, mount, &handle, PATH | O_CLOEXEC);
  return fd < 0 ? -errno : (int)fd;
}

// Waits at most `ms` until a process ends; whether it has ended.
static inline int ccap_wait_end(int pidfd, int ms) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  int64_t left = ms;
  do {
    struct pollfd wait = {pidfd, POLLIN, 0};
    if (poll(&wait, 1, (int)left) > 0) return 1;
    clock_gettime(CLOCK_MONOTONIC, &now);
    left = ms - ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000);
  } while (left > 0);
  return 0;
}

// Takes the end of a child of ccap_answers, and closes its descriptor.
static inline void ccap_reap(int pidfd) {
  enum { PIDFD = 3, WCLONE = (int)0x80000000 };
  siginfo_t info;
  waitid((idtype_t)PIDFD, (id_t)pidfd, &info, WEXITED | WCLONE | WNOHANG);
  close(pidfd);
}

// Asks for the status of a path in a process of its own, which nobody waits for longer than `ms`.
// The new process makes system calls alone, for other threads may have held locks at the fork. If
// it does not even end when it is killed, its descriptor is kept in `stuck`.
static inline int ccap_answers(const char *path, int ms, int *stuck) {
  enum { FORCE_SYNC = 0x2000, NO_AUTOMOUNT = 0x800, PIDFD = 0x1000 };
  int pidfd = -1;
  *stuck = -1;
  // No signal at its end: a child that nobody knows of must not disturb the caller.
  long child = syscall(SYS_clone, (unsigned long)PIDFD, 0, &pidfd, 0, 0);
  if (child < 0) return -errno;
  if (child == 0) {
    struct statx sx;
    // A lock that the caller holds would stay for as long as this waits.
    syscall(SYS_close_range, 0U, ~0U, 0);
    syscall(SYS_statx, AT_FDCWD, path, FORCE_SYNC | NO_AUTOMOUNT, STATX_BASIC_STATS, &sx);
    syscall(SYS_exit_group, 0);
  }
  int answered = ccap_wait_end(pidfd, ms);
  if (!answered) kill((pid_t)child, SIGKILL);
  if (answered || ccap_wait_end(pidfd, 100)) ccap_reap(pidfd);
  else *stuck = pidfd;
  return answered;
}

// A message that can carry a descriptor: `fd`, none if it is -1, room for one that comes if it is -2.
struct ccap_message {
  struct iovec data;
  union { struct cmsghdr header; char bytes[CMSG_SPACE(sizeof(int))]; } control;
  struct msghdr message;
};

static inline struct msghdr *ccap_carrying(struct ccap_message *m, void *bytes, size_t size, int fd) {
  memset(m, 0, sizeof *m);
  m->data.iov_base = bytes;
  m->data.iov_len = size;
  m->message.msg_iov = &m->data;
  m->message.msg_iovlen = 1;
  if (fd == -1) return &m->message;
  m->message.msg_control = &m->control;
  m->message.msg_controllen = sizeof m->control;
  m->control.header.cmsg_level = SOL_SOCKET;
  m->control.header.cmsg_type = SCM_RIGHTS;
  m->control.header.cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(&m->control.header), &fd, sizeof fd);
  return &m->message;
}

// Opens a path in a process of its own, which nobody waits for longer than `ms`: the descriptor, or -errno.
// The new process holds nothing that a wait without an end would keep: no lock, no file. `stuck` is as for
// ccap_answers; -ECHILD if no process could be started. The mounts at `covers`, paths that each end with a
// NUL, the last one with two, are away for the new process, whose list of mounts is its own then.
static inline int ccap_open_within(const char *path, int flags, const char *covers, int ms, int *stuck) {
  enum { PIDFD = 0x1000, NEWNS = 0x20000, PRIVATE = 1 << 18 | 1 << 14, DETACH = 2, NOFOLLOW = 8 };
  int ends[2], pidfd = -1;
  struct ccap_message message;
  int answer = -ETIMEDOUT;
  *stuck = -1;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  long child = syscall(SYS_clone, (unsigned long)PIDFD, 0, &pidfd, 0, 0);
  if (child == 0) {
    if (ends[1] > 0) syscall(SYS_close_range, 0U, (unsigned)ends[1] - 1, 0);
    syscall(SYS_close_range, (unsigned)ends[1] + 1, ~0U, 0);
    int fd = 0;
    if (*covers && (syscall(SYS_unshare, NEWNS) != 0 || syscall(SYS_mount, "", "/", "", PRIVATE, "") != 0)) fd = -errno;
    for (; *covers && fd == 0; covers += strlen(covers) + 1) syscall(SYS_umount2, covers, DETACH | NOFOLLOW);
    if (fd == 0) fd = ccap_openat(AT_FDCWD, path, flags | O_CLOEXEC, 0);
    answer = fd < 0 ? fd : 0;
    syscall(SYS_sendmsg, ends[1], ccap_carrying(&message, &answer, sizeof answer, fd < 0 ? -1 : fd), 0);
    syscall(SYS_exit_group, 0);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return -ECHILD;
  }
  int answered = ccap_wait_end(pidfd, ms);
  if (!answered) kill((pid_t)child, SIGKILL);
  if (answered || ccap_wait_end(pidfd, 100)) ccap_reap(pidfd);
  else *stuck = pidfd;
  if (answered) {
    struct msghdr *answers = ccap_carrying(&message, &answer, sizeof answer, -2);
    if (recvmsg(ends[0], answers, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof answer) answer = -EIO;
    else if (answer == 0) memcpy(&answer, CMSG_DATA(&message.control.header), sizeof answer);
  }
  close(ends[0]);
  return answer;
}

// How many device programs apply to a cgroup of version 2, with those of its ancestors.
static inline int ccap_device_programs(int cgroup) {
  enum { QUERY = 16, DEVICE = 6, EFFECTIVE = 1 };
  struct {
    uint32_t target, type, query_flags, attach_flags;
    uint64_t ids;
    uint32_t count, unused;
    uint64_t more[4];
  } query;
  memset(&query, 0, sizeof query);
  query.target = (uint32_t)cgroup;
  query.type = DEVICE;
  query.query_flags = EFFECTIVE;
  if (syscall(SYS_bpf, QUERY, &query, 32) != 0 && errno != ENOSPC) return -errno;
  return (int)query.count;
}

// Whether the key of an encrypted directory is there; it must be open for reading.
static inline int ccap_key_is_present(int fd) {
  struct {
    uint64_t size;
    union {
      uint8_t version;
      struct fscrypt_policy_v1 v1;
      struct fscrypt_policy_v2 v2;
    } policy;
  } policy = {sizeof policy.policy, {0}};
  if (ioctl(fd, _IOWR('f', 22, uint8_t[9]), &policy) != 0) return -errno;
  struct fscrypt_get_key_status_arg status;
  memset(&status, 0, sizeof status);
  if (policy.policy.version == FSCRYPT_POLICY_V1) {
    status.key_spec.type = FSCRYPT_KEY_SPEC_TYPE_DESCRIPTOR;
    memcpy(status.key_spec.u.descriptor, policy.policy.v1.master_key_descriptor,
           FSCRYPT_KEY_DESCRIPTOR_SIZE);
  } else {
    status.key_spec.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER;
    memcpy(status.key_spec.u.identifier, policy.policy.v2.master_key_identifier,
           FSCRYPT_KEY_IDENTIFIER_SIZE);
  }
  if (ioctl(fd, FS_IOC_GET_ENCRYPTION_KEY_STATUS, &status) != 0) return -errno;
  return status.status == FSCRYPT_KEY_STATUS_PRESENT;
}

// Whether the subvolume of btrfs that a directory is in was made from another one; Linux 4.18. The ioctl also returns 1
// with an answer, see btrfs_ioctl_get_subvol_info().
static inline int ccap_is_snapshot(int fd) {
  struct btrfs_ioctl_get_subvol_info_args info;
  memset(&info, 0, sizeof info);
  if (ioctl(fd, BTRFS_IOC_GET_SUBVOL_INFO, &info) < 0) return -errno;
  for (size_t i = 0; i < sizeof info.parent_uuid; i++) {
    if (info.parent_uuid[i]) return 1;
  }
  return 0;
}

// pidfd_open(2), Linux 5.3; the number is the same on every architecture.
static inline int ccap_pidfd_open(int pid) {
  long fd = syscall(434, pid, 0);
  return fd < 0 ? -errno : (int)fd;
}

// Without _GNU_SOURCE stdlib.h does not declare it.
extern char *secure_getenv(const char *name);

// secure_getenv(3): nothing in a program with more rights than who started it.
static inline const char *ccap_getenv(const char *name) { return secure_getenv(name); }

// What became of a child since the last time: 1 if it was stopped, 2 if it was continued, else 0.
static inline int ccap_child_news(int pid) {
  siginfo_t info = {0};
  if (waitid(P_PID, pid, &info, WSTOPPED | WCONTINUED | WNOHANG) != 0 || info.si_pid == 0) return 0;
  return info.si_code == CLD_CONTINUED ? -1 : info.si_status;
}

// Stops this process by a signal that it blocks; by SIGSTOP if it ignores that one.
static inline void ccap_stop(int number) {
  struct sigaction action;
  if (number != SIGTSTP && number != SIGTTIN && number != SIGTTOU) number = SIGSTOP;
  if (sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_DFL) number = SIGSTOP;
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, number);
  kill(getpid(), number);
  // A blocked one waits until here.
  pthread_sigmask(SIG_UNBLOCK, &one, &before);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// Whether a shell with job control started the group of this process: it is in the same session, and not in the group.
static inline int ccap_is_in_job(void) {
  pid_t parent = getppid();
  return parent > 0 && getsid(parent) == getsid(0) && getpgid(parent) != getpgrp();
}

// Whether a folder of PATH that can be searched has a program of this name, see execvp(3).
static inline int ccap_is_in_path(const char *name) {
  const char *path = secure_getenv("PATH");
  struct stat fields;
  while (path && *path) {
    size_t length = strcspn(path, ":"), size = strlen(name) + 1;
    char file[4096] = "./";
    if (length + 2 + size > sizeof file) return 1;
    // An empty one is the working directory.
    if (length) memcpy(file, path, length), file[length] = '/';
    memcpy(file + (length ? length + 1 : 2), name, size);
    if (stat(file, &fields) == 0) return 1;
    path += length + (path[length] == ':');
  }
  return 0;
}

// Starts a program, found by PATH, with the environment of this process; returns its process id, or -errno. In a
// program with more rights than who started it, no environment is handed on, and a name without a folder is not found.
// `blocked` are the signals that the program blocks: bit n - 1 for signal n. `before` runs in the new process, and returns
// 0 or an errno. Not by posix_spawn(3), of which the program would ignore signals 32 and 33.
static inline int ccap_spawn(
    char *const argv[], int output, uint64_t blocked, int (*before)(void *), void *context) {
  extern char **environ;
  char *secure[] = {(char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
  char **environment = getauxval(AT_SECURE) ? secure : environ;
  if (environment == secure && !strchr(argv[0], '/')) return -ENOENT;
  int ends[2], error = 0;
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  // No handler of this program runs in the child.
  sigset_t mask, own;
  sigfillset(&mask);
  pthread_sigmask(SIG_SETMASK, &mask, &own);
  pid_t pid = fork();
  if (pid == 0) {
    sigemptyset(&mask);
    for (int number = 1; number <= 64; number++) {
      struct sigaction action;
      if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN) signal(number, SIG_DFL);
      if (blocked >> (number - 1) & 1) sigaddset(&mask, number);
    }
    if (output == 1 || dup2(output, 1) == 1) {
      error = before ? before(context) : 0;
      sigprocmask(SIG_SETMASK, &mask, NULL);
      if (!error) execvpe(argv[0], argv, environment);
    }
    if (!error) error = errno;
    // A folder that may not be searched does not make a name one that is there.
    if (error == EACCES && !strchr(argv[0], '/') && !ccap_is_in_path(argv[0])) error = ENOENT;
    _exit(write(ends[1], &error, sizeof error) == sizeof error ? 127 : 126);
  }
  if (pid < 0) error = errno;
  pthread_sigmask(SIG_SETMASK, &own, NULL);
  close(ends[1]);
  struct pollfd started = {.fd = ends[0], .events = POLLIN};
  while (pid > 0 && poll(&started, 1, 20) <= 0) {
    // Whoever stopped the job did so before the program began.
    int stop = ccap_child_news(pid);
    if (stop <= 0 || !ccap_is_in_job()) continue;
    ccap_stop(stop);
    kill(pid, SIGCONT);
  }
  if (pid > 0 && read(ends[0], &error, sizeof error) < 0) error = errno;
  close(ends[0]);
  if (pid > 0 && error) while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
  return error ? -error : pid;
}

// The status of a child that ended: 0 to 255, or 256 plus the number of the signal; 512 if the
// child still runs.
static inline int ccap_waitpid(int pid, int options) {
  int status, result;
  do result = waitpid(pid, &status, options);
  while (result < 0 && errno == EINTR);
  if (result < 0) return -errno;
  if (result == 0) return 512;
  return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

// The signals that this thread blocks: bit n - 1 for signal n.
static inline uint64_t ccap_blocked(void) {
  sigset_t set;
  uint64_t bits = 0;
  if (pthread_sigmask(SIG_BLOCK, NULL, &set)) return 0;
  for (int number = 1; number <= 64; number++)
    if (sigismember(&set, number) == 1) bits |= 1ull << (number - 1);
  return bits;
}

static inline void ccap_raise(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  signal(number, SIG_DFL);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static inline long ccap_readlinkat(int dir, const char *path, char *buffer, size_t size) {
  ssize_t n = readlinkat(dir, path, buffer, size);
  return n < 0 ? -errno : n;
}

static inline long ccap_read(int fd, void *buffer, size_t size) {
  ssize_t n;
  do n = read(fd, buffer, size);
  while (n < 0 && errno == EINTR);
  return n < 0 ? -errno : n;
}

static inline long ccap_write(int fd, const void *buffer, size_t size) {
  ssize_t n;
  do n = write(fd, buffer, size);
  while (n < 0 && errno == EINTR);
  return n < 0 ? -errno : n;
}

static inline int ccap_mkdirat(int dir, const char *path, unsigned mode) {
  return mkdirat(dir, path, mode) != 0 ? -errno : 0;
}

static inline long ccap_getdents64(int fd, void *buffer, size_t size) {
  long n = syscall(SYS_getdents64, fd, buffer, size);
  return n < 0 ? -errno : n;
}

// faccessat2(2) with the effective ids, called directly because glibc's faccessat may emulate it.
static inline int ccap_faccessat2(const char *path, int mode) {
  // The number is the same on every architecture.
  return syscall(439, AT_FDCWD, path, mode, CCAP_AT_EACCESS) != 0 ? -errno : 0;
}

static inline int ccap_getresuid(uint32_t ids[3]) {
  return syscall(SYS_getresuid, &ids[0], &ids[1], &ids[2]) != 0 ? -errno : 0;
}

static inline int ccap_getresgid(uint32_t ids[3]) {
  return syscall(SYS_getresgid, &ids[0], &ids[1], &ids[2]) != 0 ? -errno : 0;
}

// The file system ids: setfsuid(2) with an invalid id changes nothing and returns the current id.
static inline uint32_t ccap_fsuid(void) { return (uint32_t)setfsuid((uid_t)-1); }
static inline uint32_t ccap_fsgid(void) { return (uint32_t)setfsgid((gid_t)-1); }

// cap_to_name(3): `cap_dac_override`; empty if libcap has no name for the number.
static inline void ccap_cap_name(int number, char out[32]) {
  char *name = cap_to_name(number);
  out[0] = 0;
  if (!name) return;
  if (strncmp(name, "cap_", 4) == 0 && strlen(name) < 32) strcpy(out, name);
  cap_free(name);
}

// cap_get_file(3) and cap_to_text(3) through a descriptor, which may be O_PATH: `cap_net_raw=ep`.
static inline long ccap_cap_get_file(int fd, char *out, size_t size) {
  char path[32];
  ccap_link(fd, path);
  cap_t caps = cap_get_file(path);
  if (!caps) return -errno;
  ssize_t length = 0;
  char *text = cap_to_text(caps, &length);
  long result = text ? (long)length : -errno;
  if (text && (size_t)length < size) memcpy(out, text, (size_t)length + 1);
  else if (text) result = -ERANGE;
  if (text) cap_free(text);
  cap_free(caps);
  return result;
}

// The capabilities of the calling thread as bit masks, by libcap's capget(2).
static inline int ccap_capget(uint64_t *effective, uint64_t *permitted) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  // Cleared for valgrind(1), which takes the second half for unwritten.
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
  if (capget(&header, data) != 0) return -errno;
  *effective = (uint64_t)data[1].effective << 32 | data[0].effective;
  *permitted = (uint64_t)data[1].permitted << 32 | data[0].permitted;
  return 0;
}

// VIDIOC_QUERYCAP, see the V4L2 documentation: the capabilities of this node alone, and the name of
// the card.
static inline int ccap_querycap(int fd, uint32_t *device_caps, char card[32]) {
  struct v4l2_capability cap;
  memset(&cap, 0, sizeof cap);
  if (ioctl(fd, VIDIOC_QUERYCAP, &cap) != 0) return -errno;
  *device_caps =
      cap.capabilities & V4L2_CAP_DEVICE_CAPS ? cap.device_caps : cap.capabilities;
  memcpy(card, cap.card, 32);
  return 0;
}

// The arguments of the process, for systems without /proc/self/cmdline, where Swift reads them. The
// kernel stores the arguments before the environment (see create_elf_tables() of fs/binfmt_elf.c).
// NULL if the process moved its environment.
static inline char **ccap_arguments(long *count) {
  extern char **environ;
  if (!environ || environ[-1]) return NULL;
  char **word = environ - 2;
  for (long found = 0; found < 1 << 20; found++, word--)
    if ((intptr_t)*word == found) {
      *count = found;
      return word + 1;
    }
  return NULL;
}

// openat2(2), with RESOLVE_… flags.
static inline int ccap_openat2(int dir, const char *path, int flags, uint64_t resolve) {
  enum { DIRECTORY = 0200000, NOFOLLOW = 0400000, DIRECT = 040000 };
  struct { uint64_t flags, mode, resolve; } how = {0, 0, resolve};
  int native = flags & ~(DIRECTORY | NOFOLLOW | DIRECT);
  if (flags & DIRECTORY) native |= O_DIRECTORY;
  if (flags & NOFOLLOW) native |= O_NOFOLLOW;
  how.flags = (uint64_t)(unsigned)native;
  // The number is the same on every architecture.
  long fd = syscall(437, dir, path, &how, sizeof how);
  return fd < 0 ? -errno : (int)fd;
}

// lsm_list_modules(2), Linux 6.8: LSM_ID_… of include/uapi/linux/lsm.h; returns how many there are.
static inline int ccap_lsm_list_modules(uint64_t ids[32]) {
  uint32_t size = 32 * sizeof ids[0];
  long count = syscall(461, ids, &size, 0);
  return count < 0 ? -errno : (int)count;
}

// execveat(2) with AT_EMPTY_PATH and AT_EXECVE_CHECK of Linux 6.14: opens the file as execve(2) does,
// and executes nothing. Older kernels know no such flag, and fail with EINVAL before they open anything.
static inline int ccap_execve_check(int fd) {
  const char *const arguments[] = {"", NULL}, *const environment[] = {NULL};
  return syscall(SYS_execveat, fd, "", arguments, environment, CCAP_AT_EMPTY_PATH | 0x10000) != 0 ? -errno : 0;
}

// TIOCGEXCL of ioctl_tty(2): 1 if the terminal is open for one alone.
static inline int ccap_is_exclusive(int fd) {
  int answer = 0;
  return ioctl(fd, TIOCGEXCL, &answer) != 0 ? -errno : answer != 0;
}

// VIDIOC_REQBUFS with zero buffers, which frees the buffers of this descriptor; it has none. EBUSY
// if another descriptor has buffers or streams, see vb2_ioctl_reqbufs() in
// drivers/media/common/videobuf2/videobuf2-v4l2.c and uvc_ioctl_reqbufs().
static inline int ccap_reqbufs_none(int fd) {
  const uint32_t types[] = {V4L2_BUF_TYPE_VIDEO_CAPTURE, V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE};
  int error = 0;
  for (int i = 0; i < 2; i++) {
    struct v4l2_requestbuffers request;
    memset(&request, 0, sizeof request);
    request.type = types[i];
    request.memory = V4L2_MEMORY_MMAP;
    if (ioctl(fd, VIDIOC_REQBUFS, &request) == 0) return 0;
    error = errno;
    if (error != EINVAL) break;
  }
  return -error;
}

static inline void ccap_raise_file_limit(void) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

// What execve(2) keeps of the process that started this one, and what a root program must not keep:
// signals, timers, limits, descriptors, environment, umask, working directory, terminal, priority.
// Standard output stays. SIGALRM ends the process after `seconds`.
static inline int ccap_isolate(unsigned seconds) {
  extern char **environ;
  static char *empty[1] = {NULL};
  environ = empty;
  sigset_t none;
  sigemptyset(&none);
  const struct itimerval stopped = {{0, 0}, {0, 0}};
  for (int timer = ITIMER_REAL; timer <= ITIMER_PROF; timer++) setitimer(timer, &stopped, NULL);
  for (int number = 1; number < 65; number++) {
    int is_own = number == SIGALRM || number == SIGCHLD || number == SIGSEGV || number == SIGBUS ||
                 number == SIGFPE || number == SIGILL || number == SIGABRT || number == SIGTRAP ||
                 number == SIGSYS;
    signal(number, is_own ? SIG_DFL : SIG_IGN);
  }
  sigprocmask(SIG_SETMASK, &none, NULL);
  struct rlimit whole = {RLIM_INFINITY, RLIM_INFINITY}, files = {4096, 4096}, nothing = {0, 0};
  for (int limit = 0; limit < RLIM_NLIMITS; limit++) {
    __rlimit_resource_t name = (__rlimit_resource_t)limit;
    struct rlimit now;
    if (setrlimit(name, limit == RLIMIT_NOFILE ? &files : limit == RLIMIT_CORE ? &nothing : &whole) == 0)
      continue;
    // Without CAP_SYS_RESOURCE, as in a container, the hard limit stays.
    if (getrlimit(name, &now) != 0) continue;
    now.rlim_cur = now.rlim_max;
    setrlimit(name, &now);
  }
  setpriority(PRIO_PROCESS, 0, 0);
  // SCHED_OTHER, all processors, no I/O priority, and the usual timer slack: the last decides how late
  // a wait ends, and 0 would give back that of the caller.
  const int ordinary = 0;
  unsigned long processors[128];
  memset(processors, 0xff, sizeof processors);
  syscall(SYS_sched_setscheduler, 0, 0, &ordinary);
  syscall(SYS_sched_setaffinity, 0, sizeof processors, processors);
  syscall(SYS_ioprio_set, 1, 0, 0);
  prctl(PR_SET_TIMERSLACK, 50000UL, 0, 0, 0);
  if (syscall(SYS_close_range, 3U, ~0U, 0) != 0)
    for (int fd = 3; fd < 65536; fd++) close(fd);
  for (int fd = 0; fd < 3; fd++) {
    if (fd == 1 && fcntl(fd, F_GETFD) >= 0) continue;
    close(fd);
    if (open("/dev/null", O_RDWR) != fd) return -EBADF;
  }
  umask(077);
  if (chdir("/") != 0) return -errno;
  setsid();
  alarm(seconds);
  return 0;
}

// Forks a process that keeps nothing open and has no time limit; 0 in that process, else its id.
static inline int ccap_fork_detached(void) {
  int pid = fork();
  if (pid != 0) return pid < 0 ? -errno : pid;
  alarm(0);
  setsid();
  if (syscall(SYS_close_range, 0U, ~0U, 0) != 0)
    for (int fd = 0; fd < 4096; fd++) close(fd);
  for (int fd = 0; fd < 3; fd++)
    if (open("/dev/null", O_RDWR) != fd) _exit(70);
  return 0;
}

// Leaves everything to a new process and ends with its exit status; returns in the new one alone, with the
// descriptor that takes that status: a process that has a thread which waits for a server does not end.
static inline int ccap_stand_aside(void) {
  int ends[2], end = 0;
  if (syscall(SYS_pipe2, ends, O_CLOEXEC) != 0) return -errno;
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return ends[1];
  }
  int failed = child < 0 ? -errno : 0;
  close(ends[1]);
  if (failed) {
    close(ends[0]);
    return failed;
  }
  // The new process notices Ctrl-C, too, and says how far it came.
  signal(SIGINT, SIG_IGN);
  unsigned char status;
  long length;
  do length = read(ends[0], &status, 1);
  while (length < 0 && errno == EINTR);
  if (length == 1) _exit(status);
  while (waitpid(child, &end, 0) < 0 && errno == EINTR) {}
  if (WIFSIGNALED(end)) {
    signal(WTERMSIG(end), SIG_DFL);
    raise(WTERMSIG(end));
  }
  _exit(WEXITSTATUS(end));
}

enum { CCAP_STREAM = SOCK_STREAM, CCAP_DATAGRAM = SOCK_DGRAM };

// A socket of this type that is connected to the socket at `path`; nothing waits.
static inline int ccap_connect(const char *path, int type) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof name.sun_path) return -ENAMETOOLONG;
  strcpy(name.sun_path, path);
  int fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  if (connect(fd, (struct sockaddr *)&name, sizeof name) == 0) return fd;
  int error = errno;
  close(fd);
  return -error;
}

static inline long ccap_send(int fd, const void *bytes, unsigned long count) {
  long sent = send(fd, bytes, count, MSG_NOSIGNAL);
  return sent < 0 ? -errno : sent;
}

static inline int ccap_columns(int fd) {
  struct winsize size;
  return ioctl(fd, TIOCGWINSZ, &size) != 0 ? -errno : size.ws_col;
}

// Watching: inotify(7), poll(2), eventfd(2), signalfd(2).

static inline int ccap_inotify_init1(void) {
  int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

static inline int ccap_inotify_add_watch(int inotify, const char *path, uint32_t mask) {
  int watch = inotify_add_watch(inotify, path, mask);
  return watch < 0 ? -errno : watch;
}

static inline int ccap_poll(struct pollfd *requests, unsigned long count, int timeout) {
  int ready = poll(requests, count, timeout);
  return ready < 0 ? -errno : ready;
}

static inline int ccap_eventfd(void) {
  int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

static inline int ccap_signalfd(const int *signals, int count) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < count; i++) {
    sigaddset(&set, signals[i]);
    // An ignored SIGCHLD, which execve(2) keeps, would make waitpid(2) find no child.
    if (signals[i] == SIGCHLD) signal(SIGCHLD, SIG_DFL);
  }
  int error = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (error) return -error;
  int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

#include "run-program.h"
#include "apart.h"
#include "enter.h"
#include "landlock.h"
#include "listener.h"
#include "tree.h"

#endif
