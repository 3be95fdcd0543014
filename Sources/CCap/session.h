// A command of another user, in a session of its own. Included by shim.h.
#ifndef CCAP_SESSION_H
#define CCAP_SESSION_H

#include <termios.h>

struct ccap_terminal {
  struct termios usual;
};

// A terminal opened anew, so that O_NONBLOCK is this process's alone: the controlling terminal, or the first
// of the standard descriptors that is one; -ENOTTY if there is none.
static inline int ccap_open_terminal(void) {
  int flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, terminal = open("/dev/tty", flags);
  if (terminal >= 0) return terminal;
  for (int fd = 0; fd < 3; fd++) {
    char link[] = "/proc/self/fd/0";
    link[sizeof link - 2] = (char)('0' + fd);
    if (isatty(fd) && (terminal = open(link, flags)) >= 0) return terminal;
  }
  return -ENOTTY;
}

static inline int ccap_get_terminal(int terminal, struct ccap_terminal *state) {
  return tcgetattr(terminal, &state->usual) != 0 ? -errno : 0;
}

// Remembers how a terminal is set; one that is raw was set so before, and what it was then is kept.
static inline void ccap_remember_terminal(int terminal, struct ccap_terminal *state) {
  struct ccap_terminal now;
  if (ccap_get_terminal(terminal, &now) == 0 && now.usual.c_lflag & (ICANON | ISIG | ECHO)) *state = now;
}

// Sets the terminal as it was, or raw. Waits for nothing.
static inline int ccap_set_terminal(int terminal, const struct ccap_terminal *state, int raw) {
  struct termios wanted = state->usual;
  if (raw) cfmakeraw(&wanted);
  return tcsetattr(terminal, TCSANOW, &wanted) != 0 ? -errno : 0;
}

// Whether this process may read the terminal; one that controls no session is anybody's.
static inline int ccap_is_foreground(int terminal) {
  pid_t group = tcgetpgrp(terminal);
  return group < 0 ? errno == ENOTTY : group == getpgrp();
}

static inline int ccap_copy_size(int from, int to) {
  struct winsize size;
  return ioctl(from, TIOCGWINSZ, &size) != 0 || ioctl(to, TIOCSWINSZ, &size) != 0 ? -errno : 0;
}

// A pseudo-terminal of `uid` with the size of `terminal`; returns its master, which does not block.
static inline int ccap_open_pty(int terminal, unsigned uid, int *slave) {
  int locked = 0, error = 0, master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (master < 0) return -errno;
  if (ioctl(master, TIOCSPTLCK, &locked) != 0 ||
      (*slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
    error = -errno;
    close(master);
    return error;
  }
  // As login(1) has it: others of group tty may write, and nobody else may anything.
  if (fchown(*slave, uid, (gid_t)-1) != 0 || fchmod(*slave, 0620) != 0) error = -errno;
  ccap_copy_size(terminal, master);
  if (!error) return master;
  close(*slave);
  close(master);
  return error;
}

// Stops this process's group by a signal, as a terminal does, until SIGCONT. Nothing happens in a group that
// no shell cares for.
static inline void ccap_suspend(int number) {
  struct sigaction usual, before;
  sigset_t set;
  memset(&usual, 0, sizeof usual);
  usual.sa_handler = SIG_DFL;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigaction(number, &usual, &before);
  kill(0, number);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  sigprocmask(SIG_BLOCK, &set, NULL);
  sigaction(number, &before, NULL);
}

// A command to start in a session of its own.
struct ccap_session {
  char *const *arguments, *const *environment;
  // Where it starts if its user may enter that, else in /, with `notice` on standard error.
  const char *directory, *notice;
  unsigned uid, gid;
  const unsigned *groups;
  size_t group_count;
  // What the leader becomes, with this process's environment, once this process was killed and the command has
  // ended: a program and its arguments; NULL for nothing.
  char *const *afterwards;
  // The pseudo-terminal; -1 for none. Whether the command may read it at once.
  int terminal, foreground;
};

// What the leader of the session tells: the command was stopped by a signal, ended with a status of wait(2), or could not
// be started.
enum { CCAP_STOPPED = 1, CCAP_ENDED = 2, CCAP_FAILED = 3 };
struct ccap_news {
  int what, value;
};
// What the leader is told: a signal for the command, or one of these, which make it go on.
enum { CCAP_FOREGROUND = 1000, CCAP_BACKGROUND = 1001, CCAP_FINISHED = 1002 };

// The directory as the user enters it: the kernel is asked with his fsuid and groups.
static inline void ccap_start_in(const struct ccap_session *session) {
  int held = 0;
  gid_t own[1];
  if (setgroups(session->group_count, session->groups) == 0) {
    setfsgid(session->gid);
    setfsuid(session->uid);
    held = chdir(session->directory) == 0;
    setfsuid(0);
    setfsgid(getegid());
    setgroups(0, own);
  }
  if (held) return;
  if (chdir("/") != 0 || write(2, session->notice, strlen(session->notice)) < 0) return;
}

// The command, in a group of its own; does not return.
static inline void ccap_be_command(const struct ccap_session *session, int control) {
  enum { JOIN_SESSION_KEYRING = 1 };
  sigset_t none;
  setpgid(0, 0);
  if (session->terminal >= 0) {
    if (session->foreground) tcsetpgrp(session->terminal, getpid());
    for (int fd = 0; fd < 3; fd++)
      if (isatty(fd)) dup2(session->terminal, fd);
  }
  // Whoever has the keyring of a session has its keys.
  int has_keyring = syscall(SYS_keyctl, JOIN_SESSION_KEYRING, NULL) >= 0 || errno == ENOSYS || errno == EPERM;
  if (has_keyring) {
    ccap_start_in(session);
    ccap_close_all_but(control, -1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(session->arguments[0], session->arguments, session->environment);
  }
  struct ccap_news news = {CCAP_FAILED, errno};
  _exit(write(control, &news, sizeof news) == sizeof news ? 127 : 126);
}

// Waits for the end of the command, or of its group by force: nobody is left who could tell it anything.
static inline void ccap_end_command(pid_t command) {
  kill(-command, SIGHUP);
  kill(-command, SIGCONT);
  for (int tenths = 0; tenths < 20; tenths++) {
    struct timespec tenth = {0, 100000000};
    if (waitpid(command, NULL, WNOHANG) != 0) return;
    if (tenths == 9) kill(-command, SIGTERM);
    nanosleep(&tenth, NULL);
  }
  kill(-command, SIGKILL);
}

// The caller was killed: what it left is put right.
static inline void ccap_end_session(const struct ccap_session *session, int control) {
  extern char **environ;
  sigset_t none;
  struct sigaction ignored;
  // The end of the terminal sent some of these, which wait.
  int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU};
  memset(&ignored, 0, sizeof ignored);
  ignored.sa_handler = SIG_IGN;
  for (unsigned index = 0; index < sizeof numbers / sizeof *numbers; index++)
    sigaction(numbers[index], &ignored, NULL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  close(control);
  if (session->afterwards) execve(session->afterwards[0], session->afterwards, environ);
  _exit(0);
}

// The leader of the session, without which the command's group would be nobody's and could not be stopped
// at the terminal; see setpgid(2), orphaned process groups. Does not return.
static inline void ccap_lead_session(const struct ccap_session *session, int control) {
  sigset_t all;
  int terminal = session->terminal, status = 0, told = 0;
  sigfillset(&all);
  // No lock of this process's files may outlive it.
  ccap_close_all_but(control, terminal);
  setsid();
  if (terminal >= 0) ioctl(terminal, TIOCSCTTY, 0);
  ccap_default_signals();
  pid_t command = fork();
  if (command == 0) ccap_be_command(session, control);
  struct ccap_news news = {CCAP_FAILED, errno};
  int signals = signalfd(-1, &all, SFD_CLOEXEC), nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (command < 0) _exit(write(control, &news, sizeof news) < 0);
  setpgid(command, command);
  if (terminal >= 0 && session->foreground) tcsetpgrp(terminal, command);
  // Who reads what the command writes waits until everybody has closed it.
  for (int fd = 0; fd < 3; fd++) dup2(nothing, fd);
  if (chdir("/") != 0) {}
  while (1) {
    struct pollfd ready[] = {{control, POLLIN, 0}, {signals, POLLIN, 0}};
    struct signalfd_siginfo arrived;
    if (poll(ready, 2, -1) < 0) continue;
    if (ready[1].revents && read(signals, &arrived, sizeof arrived) > 0 &&
        waitpid(command, &status, WNOHANG | WUNTRACED) > 0) {
      int stopped = WIFSTOPPED(status);
      struct ccap_news what = {stopped ? CCAP_STOPPED : CCAP_ENDED, stopped ? WSTOPSIG(status) : status};
      // The end of this session hangs up its terminal, which would lose what nobody has read yet. Once no
      // process has the terminal open, its master tells when all is read.
      if (!stopped) close(terminal);
      if (write(control, &what, sizeof what) == sizeof what && stopped) continue;
      while (!stopped && read(control, &told, sizeof told) > 0)
        if (told == CCAP_FINISHED) _exit(0);
      if (!stopped) ccap_end_session(session, control);
    }
    if (!ready[0].revents) continue;
    if (read(control, &told, sizeof told) != sizeof told) {
      ccap_end_command(command);
      ccap_end_session(session, control);
    }
    if (told == CCAP_FINISHED) _exit(0);
    if (told == CCAP_FOREGROUND || told == CCAP_BACKGROUND) {
      if (terminal >= 0) tcsetpgrp(terminal, told == CCAP_FOREGROUND ? command : getpgrp());
      told = SIGCONT;
    }
    kill(-command, told);
  }
}

// Starts the leader and the command; returns the leader's process id, or -errno. `*control` is the socket
// to it. All signals must be blocked.
static inline int ccap_start_session(const struct ccap_session *session, int *control) {
  int ends[2], nothing;
  // A standard descriptor that is closed would get the number of another file.
  while ((nothing = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && nothing < 3) fcntl(nothing, F_SETFD, 0);
  if (nothing < 0) return -errno;
  close(nothing);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    ccap_lead_session(session, ends[1]);
  }
  int error = errno;
  close(ends[1]);
  *control = ends[0];
  if (pid > 0) return pid;
  close(ends[0]);
  return -error;
}

#endif
