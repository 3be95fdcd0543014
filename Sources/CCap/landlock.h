// How many Landlock domains this process is in. Included by shim.h.
#ifndef CCAP_LANDLOCK_H
#define CCAP_LANDLOCK_H

// Nothing shows a domain, but no process can be in more than 16 (LANDLOCK_MAX_NUM_LAYERS of
// security/landlock/limits.h), so those that a child can still add tell the rest. Returns -1 if unknown.
// The child makes system calls alone, for other threads may have held locks at the fork.
static inline int ccap_landlock_layers(void) {
  enum { PIDFD = 0x1000, P_PIDFD_ = 3, WCLONE = (int)0x80000000, MOST = 16, UNKNOWN = 100 };
  int pidfd = -1;
  // No signal at its end: a child that nobody knows of must not disturb the caller.
  long child = syscall(SYS_clone, (unsigned long)PIDFD, 0, &pidfd, 0, 0);
  if (child < 0) return -1;
  if (child == 0) {
    uint64_t handled = 1;
    int added = 0;
    syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    long rules = syscall(444 /* landlock_create_ruleset */, &handled, sizeof handled, 0);
    // Not in this kernel, or not turned on.
    if (rules < 0) syscall(SYS_exit_group, errno == ENOSYS || errno == EOPNOTSUPP ? MOST : UNKNOWN);
    while (added <= MOST && syscall(446 /* landlock_restrict_self */, rules, 0) == 0) added++;
    syscall(SYS_exit_group, added <= MOST && errno == E2BIG ? added : UNKNOWN);
  }
  siginfo_t info = {0};
  int waited = waitid((idtype_t)P_PIDFD_, (id_t)pidfd, &info, WEXITED | WCLONE);
  close(pidfd);
  return waited == 0 && info.si_code == CLD_EXITED && info.si_status <= MOST ? MOST - info.si_status : -1;
}

#endif
