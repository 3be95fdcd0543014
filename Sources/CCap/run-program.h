// A child that becomes a program which is asked by its standard input. Included by shim.h.
#ifndef CCAP_CONVERSE_H
#define CCAP_CONVERSE_H

// Gives each signal its default action.
static inline void ccap_default_signals(void) {
  struct sigaction usual;
  memset(&usual, 0, sizeof usual);
  usual.sa_handler = SIG_DFL;
  for (int number = 1; number < 65; number++) sigaction(number, &usual, NULL);
}

static inline void ccap_close_from(unsigned first, unsigned last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
  for (unsigned fd = first; fd <= last && fd < 65536; fd++) close((int)fd);
}

// Closes every descriptor but the standard ones and this one, which is above them.
static inline void ccap_close_all_but(int one) {
  ccap_close_from(3, (unsigned)one - 1);
  ccap_close_from((unsigned)one + 1, ~0U);
}

// What the program is given: the question, the pipe for its answer, and a pipe that is closed when it
// starts.
struct ccap_ends {
  int question, answers[2], started[2];
};

// Becomes the program; returns only if it failed, with the reason in errno.
static inline void ccap_become(char *const argv[], char *const envp[], const struct ccap_ends *ends, pid_t parent) {
  // The kernel ends it with its parent, which may have ended before it was told so.
  if (prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL) != 0) return;
  if (getppid() != parent) _exit(127);
  if (dup2(ends->question, 0) < 0 || dup2(ends->answers[1], 1) < 0) return;
  int nothing = open("/dev/null", O_WRONLY);
  if (nothing < 0 || dup2(nothing, 2) < 0) return;
  ccap_close_all_but(ends->started[1]);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(argv[0], argv, envp);
}

// Ends this process as another one ended, without a core file.
static inline void ccap_end_like(int status) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  sigset_t none;
  sigemptyset(&none);
  prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  kill(getpid(), WTERMSIG(status));
  _exit(126);
}

// The process between, which waits for the program: the kernel gives what calls execve(2) the signal SIGCHLD
// at its end (de_thread() in fs/exec.c), and then a waitpid(2) of the calling process for any child would see it.
// Makes system calls alone: other threads may have held locks at the fork. Returns only if it failed, as above.
static inline void ccap_stand_between(
    char *const argv[], char *const envp[], const struct ccap_ends *ends, pid_t parent, int may_gain) {
  if (prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL) != 0) return;
  pid_t now = getppid();
  // It is 0 in a process namespace that the child is the first of, after unshare(1) without --fork.
  if (now != parent && now != 0) _exit(127);
  if (!may_gain && prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0) return;
  // No terminal of this session is its own, so that it cannot type into it (TIOCSTI).
  if (setsid() < 0) return;
  ccap_default_signals();
  pid_t own = getpid();
  long program = syscall(SYS_clone, (unsigned long)SIGCHLD, 0, NULL, 0, 0);
  if (program < 0) return;
  if (program == 0) {
    ccap_become(argv, envp, ends, own);
    return;
  }
  ccap_close_from(0, ~0U);
  int status = 0;
  while (waitpid((pid_t)program, &status, 0) < 0 && errno == EINTR) {}
  ccap_end_like(status);
}

// Starts the child; its descriptor (pidfd), or -errno. No signal tells its end; see clone(2).
static inline int ccap_fork_to_become(
    char *const argv[], char *const envp[], const struct ccap_ends *ends, int may_gain, pid_t *child) {
  enum { PIDFD = 0x1000 };
  sigset_t all, before;
  sigfillset(&all);
  pid_t parent = getpid();
  int pidfd = -1;
  // No handler of this process may run in the child.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  long pid = syscall(SYS_clone, (unsigned long)PIDFD, 0, &pidfd, 0, 0);
  if (pid == 0) {
    ccap_stand_between(argv, envp, ends, parent, may_gain);
    int error = errno;
    _exit(write(ends->started[1], &error, sizeof error) < 0 ? 126 : 127);
  }
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  *child = (pid_t)pid;
  return pid < 0 ? -error : pidfd;
}

// Kills a program of ccap_run_program and its group, waits for it, at most 200 ms, and closes its descriptor.
// The status: 0 to 255, or 256 plus the number of the signal; -1 if it is still there.
static inline int ccap_end_program(int pidfd, pid_t child) {
  enum { WCLONE = (int)0x80000000 };
  siginfo_t info;
  memset(&info, 0, sizeof info);
  int status = -1;
  // The number of the group stays taken until the child is waited for; it may have joined another group.
  kill(-child, SIGKILL);
  syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
  if (ccap_wait_end(pidfd, 200) && waitid(P_PID, (id_t)child, &info, WEXITED | WCLONE | WNOHANG) == 0)
    status = info.si_code == CLD_EXITED ? info.si_status : 256 + info.si_status;
  close(pidfd);
  return status;
}

// Starts a program, argv[0], in a session of its own, with `length` bytes to read on its standard input, a pipe
// as standard output, nothing on standard error, no other descriptor, and the default action of each signal.
// It is killed when the calling thread ends, unless it has taken on other ids; without `may_gain`, execve(2)
// gives it no privileges. Returns its descriptor (pidfd), or -errno; `*answers` is the other end of the pipe.
static inline int ccap_run_program(char *const argv[], char *const envp[], const void *bytes, size_t length,
                                   int may_gain, pid_t *child, int *answers) {
  struct ccap_ends ends = {(int)syscall(SYS_memfd_create, "question", 1u /* MFD_CLOEXEC */), {-1, -1}, {-1, -1}};
  int result = 0, error = 0;
  if (ends.question < 0) return -errno;
  // Where a standard descriptor is closed, it has that number.
  if (ends.question < 3) result = -EBADF;
  else if (write(ends.question, bytes, length) != (ssize_t)length) result = -EIO;
  else if (lseek(ends.question, 0, SEEK_SET) != 0 || syscall(SYS_pipe2, ends.answers, O_CLOEXEC) != 0 ||
           syscall(SYS_pipe2, ends.started, O_CLOEXEC) != 0)
    result = -errno;
  if (!result) result = ccap_fork_to_become(argv, envp, &ends, may_gain, child);
  close(ends.question);
  if (ends.answers[1] >= 0) close(ends.answers[1]);
  if (ends.started[1] >= 0) close(ends.started[1]);
  if (result >= 0 && ccap_read(ends.started[0], &error, sizeof error) == sizeof error) {
    ccap_end_program(result, *child);
    result = -error;
  }
  if (ends.started[0] >= 0) close(ends.started[0]);
  if (result < 0 && ends.answers[0] >= 0) close(ends.answers[0]);
  *answers = ends.answers[0];
  return result;
}

#endif
