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

// The child; returns only if it failed, with the reason in errno. Makes system calls alone: other threads
// may have held locks at the fork.
static inline void ccap_become(
    const char *program, char *const envp[], const struct ccap_ends *ends, pid_t parent, int may_gain) {
  char *const argv[] = {(char *)program, NULL};
  // The kernel ends it with the thread that forked, which may have ended before it was told so.
  if (prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL) != 0) return;
  pid_t now = getppid();
  // It is 0 in a process namespace that the child is the first of, after unshare(1) without --fork.
  if (now != parent && now != 0) _exit(127);
  if (!may_gain && prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0) return;
  // No terminal of this session is its own, so that it cannot type into it (TIOCSTI).
  if (setsid() < 0) return;
  ccap_default_signals();
  if (dup2(ends->question, 0) < 0 || dup2(ends->answers[1], 1) < 0) return;
  int nothing = open("/dev/null", O_WRONLY);
  if (nothing < 0 || dup2(nothing, 2) < 0) return;
  ccap_close_all_but(ends->started[1]);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(program, argv, envp);
}

// Forks the child; its process id, or -errno.
static inline int ccap_fork_to_become(
    const char *program, char *const envp[], const struct ccap_ends *ends, int may_gain) {
  sigset_t all, before;
  sigfillset(&all);
  pid_t parent = getpid();
  // No handler of this process may run in the child.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t pid = fork();
  if (pid == 0) {
    ccap_become(program, envp, ends, parent, may_gain);
    int error = errno;
    _exit(write(ends->started[1], &error, sizeof error) < 0 ? 126 : 127);
  }
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return pid < 0 ? -error : pid;
}

// Starts a program in a session of its own, with `length` bytes to read on its standard input, a pipe
// as standard output, nothing on standard error, no other descriptor, and the default action of each signal.
// It is killed when the calling thread ends, unless it has taken on other ids; without `may_gain`, execve(2)
// gives it no privileges. Returns its process id, or -errno; `*answers` is the other end of the pipe.
static inline int ccap_run_program(
    const char *program, char *const envp[], const void *bytes, size_t length, int may_gain, int *answers) {
  struct ccap_ends ends = {(int)syscall(SYS_memfd_create, "question", 1u /* MFD_CLOEXEC */), {-1, -1}, {-1, -1}};
  int result = 0, error = 0;
  if (ends.question < 0) return -errno;
  // Where a standard descriptor is closed, it has that number.
  if (ends.question < 3) result = -EBADF;
  else if (write(ends.question, bytes, length) != (ssize_t)length) result = -EIO;
  else if (lseek(ends.question, 0, SEEK_SET) != 0 || syscall(SYS_pipe2, ends.answers, O_CLOEXEC) != 0 ||
           syscall(SYS_pipe2, ends.started, O_CLOEXEC) != 0)
    result = -errno;
  if (!result) result = ccap_fork_to_become(program, envp, &ends, may_gain);
  close(ends.question);
  if (ends.answers[1] >= 0) close(ends.answers[1]);
  if (ends.started[1] >= 0) close(ends.started[1]);
  if (result > 0 && ccap_read(ends.started[0], &error, sizeof error) == sizeof error) {
    while (waitpid(result, NULL, 0) < 0 && errno == EINTR) {}
    result = -error;
  }
  if (ends.started[0] >= 0) close(ends.started[0]);
  if (result < 0 && ends.answers[0] >= 0) close(ends.answers[0]);
  *answers = ends.answers[0];
  return result;
}

#endif
