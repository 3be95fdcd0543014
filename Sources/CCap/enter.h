// A child that takes on the namespaces, the cgroup, the ids and the capabilities of another process,
// and asks the kernel as that process. Included by shim.h.
#ifndef CCAP_ENTER_H
#define CCAP_ENTER_H

enum { CCAP_ENTER_CGROUP = 1, CCAP_ENTER_NAMESPACE, CCAP_ENTER_ROOT, CCAP_ENTER_IDS, CCAP_ENTER_CAPABILITIES };

// What is taken on: descriptors that were opened before, and ids as the process's own namespace has
// them; supplementary groups are those of this namespace.
struct ccap_identity {
  int pidfd, root, cwd, cgroups[2], cgroup_count, joins_users;
  uint32_t uids[3], fsuid, gids[3], fsgid;
  uint64_t group_count, effective, permitted;
};

// The answers, or the step that failed with an errno.
struct ccap_entered {
  int32_t failed, error, opened, accessed;
};

// Takes everything on; the step that failed, or 0. Makes system calls alone: other threads may have
// held locks at the fork, and glibc's setresuid(3) would look for threads.
static inline int ccap_take_on(const struct ccap_identity *who, const uint32_t *groups) {
  enum { NEWNS = 0x20000, NEWCGROUP = 0x2000000, NEWUSER = 0x10000000 };
  // Before the user namespace is joined, which may know no such group or allow no change.
  if (syscall(SYS_setgroups, who->group_count, groups) != 0) return CCAP_ENTER_IDS;
  for (int i = 0; i < who->cgroup_count; i++)
    if (syscall(SYS_write, who->cgroups[i], "0", 1) != 1) return CCAP_ENTER_CGROUP;
  int spaces = NEWNS | NEWCGROUP | (who->joins_users ? NEWUSER : 0);
  if (syscall(SYS_setns, who->pidfd, spaces) != 0) return CCAP_ENTER_NAMESPACE;
  if (syscall(SYS_fchdir, who->root) != 0 || syscall(SYS_chroot, ".") != 0 ||
      syscall(SYS_fchdir, who->cwd) != 0)
    return CCAP_ENTER_ROOT;
  syscall(SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0);
  if (syscall(SYS_setresgid, who->gids[0], who->gids[1], who->gids[2]) != 0 ||
      syscall(SYS_setresuid, who->uids[0], who->uids[1], who->uids[2]) != 0)
    return CCAP_ENTER_IDS;
  syscall(SYS_setfsgid, who->fsgid);
  syscall(SYS_setfsuid, who->fsuid);
  if ((uint32_t)syscall(SYS_setfsgid, -1) != who->fsgid || (uint32_t)syscall(SYS_setfsuid, -1) != who->fsuid)
    return CCAP_ENTER_IDS;
  struct { uint32_t version; int pid; } header = {0x20080522, 0};
  uint32_t sets[2][3];
  for (int i = 0; i < 2; i++) {
    sets[i][0] = (uint32_t)(who->effective >> 32 * i);
    sets[i][1] = (uint32_t)(who->permitted >> 32 * i);
    sets[i][2] = 0;
  }
  if (syscall(SYS_capset, &header, sets) != 0) return CCAP_ENTER_CAPABILITIES;
  return 0;
}

// The child: it may be seen from inside the process's container, so it is not dumpable and holds nothing
// but its end of the pipe.
static inline void ccap_ask_inside(
    const struct ccap_identity *who, const uint32_t *groups, const char *path, int flags, int need, int pipe_end) {
  struct ccap_entered entered = {0, 0, 0, 0};
  syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  entered.failed = ccap_take_on(who, groups);
  entered.error = entered.failed ? errno : 0;
  // New ids made it dumpable again where fs.suid_dumpable says so.
  syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (pipe_end > 0) syscall(SYS_close_range, 0U, (unsigned)pipe_end - 1, 0);
  syscall(SYS_close_range, (unsigned)pipe_end + 1, ~0U, 0);
  if (!entered.failed) {
    if (flags >= 0) {
      int fd = ccap_openat(AT_FDCWD, path, flags | O_CLOEXEC, 0);
      entered.opened = fd < 0 ? -fd : 0;
      if (fd >= 0) syscall(SYS_close, fd);
    }
    // The number of faccessat2(2) is the same on every architecture.
    entered.accessed = syscall(439, AT_FDCWD, path, need, CCAP_AT_EACCESS) != 0 ? errno : 0;
  }
  syscall(SYS_write, pipe_end, &entered, sizeof entered);
  syscall(SYS_exit_group, 0);
}

// Asks within `ms`; -ETIMEDOUT if there was no answer, as from a frozen cgroup.
static inline int ccap_enter(
    const struct ccap_identity *who, const uint32_t *groups, const char *path, int flags, int need, int ms,
    struct ccap_entered *entered) {
  enum { PIDFD = 0x1000 };
  int ends[2], pidfd = -1;
  if (syscall(SYS_pipe2, ends, O_CLOEXEC) != 0) return -errno;
  long child = syscall(SYS_clone, (unsigned long)PIDFD, 0, &pidfd, 0, 0);
  if (child == 0) ccap_ask_inside(who, groups, path, flags, need, ends[1]);
  int error = child < 0 ? errno : 0;
  close(ends[1]);
  if (child > 0) {
    int has_ended = ccap_wait_end(pidfd, ms);
    if (!has_ended) {
      kill((pid_t)child, SIGKILL);
      has_ended = ccap_wait_end(pidfd, 100);
      error = ETIMEDOUT;
    }
    // A child in a frozen cgroup ends when that is thawed; init takes it.
    if (has_ended) ccap_reap(pidfd);
    else close(pidfd);
    if (!error && read(ends[0], entered, sizeof *entered) != sizeof *entered) error = EIO;
  }
  close(ends[0]);
  return -error;
}

#endif
