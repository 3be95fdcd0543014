// Kills a command at each of its system calls, and checks that the next command recovers.
//
//   crash-tracer -s SETUP -c COMMAND -n NEXT… -l LIST -r REVOKE -j JOURNAL -f TEXT -w PATH… [-b] [-e N]
//
// Works in a mount namespace of its own with an empty /var/lib. Runs SETUP by sh. Records mode and
// ACLs of every PATH and the folder of JOURNAL: the state before. Runs COMMAND to its end and
// records the same again: the state after.
//
// Then, for every n: restores the state before; runs COMMAND under ptrace(2) and kills it with
// SIGKILL at the start of its n-th system call, so that the call is not made. If the call changes
// something, does the same a second time and kills at the end of the call. (A call that changes
// nothing needs no second kill: the next call starts in the same state.) After each kill:
// 1. runs one of the NEXT commands, which take turns;
// 2. checks that all PATHs together are in the state before or in the state after;
// 3. checks that LIST prints the same as in that state, up to the fourth tab of each line;
// 4. runs REVOKE and checks that every PATH is as after REVOKE in that state.
//
// With -b every PATH must be in the state before. If a kill leaves the same inodes and the same
// number of lines in JOURNAL as the kill before it, only every eighth such kill is followed by the four
// steps, because the next command sees nothing else. Before the first openat(2) of a path that
// contains TEXT, only every seventh call is tried. With -e only every N-th of all these. Calls of all threads of the command are counted,
// calls of its child processes are not.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { WATCHED = 8, ACL = 1024, TEXT = 1 << 16 };
static const char *const attributes[2] = {"system.posix_acl_access", "system.posix_acl_default"};

struct inode {
  unsigned mode;
  ssize_t length[2];
  char acl[2][ACL];
};
struct state {
  struct inode inodes[WATCHED];
  char listing[TEXT];
};

static const char *setup, *command, *next[4], *list, *revocation, *journal, *begin, *watched[WATCHED];
static int nexts, watches, only_before, every = 1;

static void die(const char *what) {
  fprintf(stderr, "crash-tracer: %s: %s\n", what, strerror(errno));
  exit(2);
}

// MARK: state

static void look(struct state *s) {
  memset(s->inodes, 0, sizeof s->inodes);
  for (int i = 0; i < watches; i++) {
    struct stat st;
    if (lstat(watched[i], &st) != 0) die(watched[i]);
    s->inodes[i].mode = st.st_mode;
    for (int a = 0; a < 2; a++)
      s->inodes[i].length[a] = lgetxattr(watched[i], attributes[a], s->inodes[i].acl[a], ACL);
  }
}

static void restore(const struct state *s) {
  for (int i = 0; i < watches; i++) {
    for (int a = 0; a < 2; a++) {
      const struct inode *inode = &s->inodes[i];
      if (inode->length[a] < 0) lremovexattr(watched[i], attributes[a]);
      else if (lsetxattr(watched[i], attributes[a], inode->acl[a], inode->length[a], 0) != 0)
        die("setxattr");
    }
    if (chmod(watched[i], s->inodes[i].mode & 07777) != 0) die("chmod");
  }
}

static int same(const struct state *a, const struct state *b) {
  return memcmp(a->inodes, b->inodes, sizeof a->inodes) == 0;
}

// Runs sh with the folder of the journal and a copy of it as $1 and $2.
static void folder(const char *script, int side) {
  char copy[32], *path = strdup(journal);
  *strrchr(path, '/') = 0;
  snprintf(copy, sizeof copy, "/var/lib/before.%d", side);
  pid_t pid = fork();
  if (pid == 0) {
    execl("/bin/sh", "sh", "-ec", script, "sh", path, copy, (char *)NULL);
    _exit(127);
  }
  int status;
  if (waitpid(pid, &status, 0) != pid || status != 0) die(path);
  free(path);
}

// Waits until a child of a killed command has closed the journal, so that nobody waits for its lock.
static void unlock(void) {
  int fd = open(journal, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  alarm(60);
  if (flock(fd, LOCK_EX) != 0) die("flock");
  alarm(0);
  close(fd);
}

// The lines of the journal, of which a torn one counts; process ids do not always have the same length.
static long lines(void) {
  FILE *file = fopen(journal, "r");
  if (!file) return -1;
  long count = 0;
  for (int c, last = '\n'; (c = getc(file)) != EOF; last = c) count += last == '\n';
  fclose(file);
  return count;
}

// What users are shown stands beside the folder of root's journal.
static void save(int side) { folder("for end in '' -users; do [ ! -e $1$end ] || cp -a $1$end $2$end; done", side); }

// Once among a hundred runs beside all other tests rm(1) found a folder of the tmpfs not empty; then it is
// called again.
static void store(int side) {
  folder("for end in '' -users; do rm -rf $1$end || rm -rf $1$end; [ ! -e $2$end ] || cp -a $2$end $1$end; done", side);
}

// MARK: commands

// Replaces this process by a command; spaces separate the arguments.
static void become(const char *text, int output) {
  char *words[64], *copy = strdup(text);
  int count = 0, null = open("/dev/null", O_RDWR);
  for (char *word = strtok(copy, " "); word && count < 63; word = strtok(NULL, " "))
    words[count++] = word;
  words[count] = NULL;
  dup2(null, 0);
  dup2(output < 0 ? null : output, 1);
  if (!getenv("CRASH_TRACER_VERBOSE")) dup2(null, 2);
  execv(words[0], words);
  _exit(127);
}

// Runs a command to its end; records its output up to the fourth tab of each line.
static int complete(const char *text, char *listing) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) die("pipe2");
  pid_t pid = fork();
  if (pid == 0) become(text, ends[1]);
  close(ends[1]);
  size_t length = 0;
  int tabs = 0, status;
  char part[4096];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;)
    for (ssize_t i = 0; listing && i < n && length < TEXT - 1; i++) {
      if (part[i] == '\n') tabs = 0;
      if (part[i] == '\t') tabs++;
      if (tabs < 4) listing[length++] = part[i];
    }
  if (listing) listing[length] = 0;
  close(ends[0]);
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) die("waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Whether the call is an openat(2) of a path that contains TEXT.
static int opens(pid_t thread, const struct __ptrace_syscall_info *info) {
  char path[512] = "";
  if (info->entry.nr != SYS_openat) return 0;
  struct iovec here = {path, sizeof path - 1}, there = {(void *)info->entry.args[1], 64};
  process_vm_readv(thread, &here, 1, &there, 1, 0);
  return strstr(path, begin) != NULL;
}

static int may_change(const struct __ptrace_syscall_info *info) {
  switch (info->entry.nr) {
    case SYS_openat: return (info->entry.args[2] & O_CREAT) != 0;
    case SYS_write: case SYS_fsync: case SYS_flock: case SYS_setxattr: case SYS_removexattr:
    case SYS_fchmodat: case SYS_mkdirat: case SYS_unlinkat: case SYS_clone: case SYS_clone3:
#ifdef SYS_chmod
    case SYS_chmod: case SYS_mkdir: case SYS_unlink: case SYS_rename: case SYS_vfork:
#endif
      return 1;
    default: return 0;
  }
}

// Whether a thread is one of the process's own.
static int is_own(pid_t pid, pid_t thread) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d", pid, thread);
  return thread == pid || access(path, F_OK) == 0;
}

// Runs the command and kills it at its n-th call, or never if n is 0. Returns the number of calls
// that began; also tells whether the command was killed, the first call that opens a path with
// TEXT, and whether the n-th call can change something.
static long trace(long n, int at_end, int *killed, long *first, int *changes) {
  pid_t pid = fork();
  if (pid == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    // The same calls each time: addresses and hash tables would decide about a brk(2) or a read(2).
    personality(ADDR_NO_RANDOMIZE);
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1);
    become(command, -1);
  }
  int status;
  if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) die("waitpid");
  long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
  if (ptrace(PTRACE_SETOPTIONS, pid, 0, options) != 0) die("PTRACE_SETOPTIONS");
  long calls = 0;
  int counts = 0;
  pid_t last = 0;
  *killed = 0;
  ptrace(PTRACE_SYSCALL, pid, 0, 0);
  while (1) {
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) die("waitpid");
    if (!WIFSTOPPED(status)) {
      if (thread == pid) return calls;
      continue;
    }
    // A child whose end gives no SIGCHLD is traced like a thread; it goes on untraced.
    if (!is_own(pid, thread)) {
      ptrace(PTRACE_DETACH, thread, 0, 0);
      continue;
    }
    unsigned long child;
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_CLONE << 8) &&
        ptrace(PTRACE_GETEVENTMSG, thread, 0, &child) == 0 && !is_own(pid, (pid_t)child)) {
      // Now, not at some later stop: the command may be killed before, and the child holds its lock.
      int stop;
      if (waitpid((pid_t)child, &stop, __WALL) == (pid_t)child) ptrace(PTRACE_DETACH, child, 0, 0);
    }
    int signal = WSTOPSIG(status);
    if (signal == SIGTRAP && status >> 16 == PTRACE_EVENT_EXEC) counts = 1;
    if (signal == (SIGTRAP | 0x80)) {
      struct __ptrace_syscall_info info;
      if (counts && ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) > 0) {
        int kills = 0;
        // The end of the execve(2) itself is no call of the command.
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
          calls++;
          if (first && *first == 0 && opens(thread, &info)) *first = calls;
          if (calls == n) {
            last = thread;
            if (changes) *changes = may_change(&info);
          }
          kills = calls == n && !at_end;
        } else {
          kills = at_end && last == thread;
        }
        if (kills) {
          *killed = 1;
          kill(pid, SIGKILL);
          continue;
        }
      }
      signal = 0;
    } else if (status >> 16 || signal == SIGSTOP || signal == SIGTRAP) {
      signal = 0;
    }
    ptrace(PTRACE_SYSCALL, thread, 0, signal);
  }
}

// MARK: the loop

static long failures;

static void fail(long n, int at_end, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (failures++ < 10) {
    fprintf(stderr, "killed at the %s of call %ld: ", at_end ? "end" : "begin", n);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
  }
  va_end(arguments);
}

int main(int argc, char **argv) {
  for (int option; (option = getopt(argc, argv, "s:c:n:l:r:j:f:w:be:")) >= 0;) switch (option) {
      case 's': setup = optarg; break;
      case 'c': command = optarg; break;
      case 'n': next[nexts++ % 4] = optarg; break;
      case 'l': list = optarg; break;
      case 'r': revocation = optarg; break;
      case 'j': journal = optarg; break;
      case 'f': begin = optarg; break;
      case 'w': watched[watches++ % WATCHED] = optarg; break;
      case 'b': only_before = 1; break;
      case 'e': every = atoi(optarg); break;
      default: return 2;
    }
  if (!setup || !command || !nexts || every < 1 || !list || !revocation || !journal || !begin || !watches) return 2;
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("tmpfs", "/var/lib", "tmpfs", 0, "mode=755") != 0)
    die("a mount namespace");
  pid_t pid = fork();
  if (pid == 0) {
    execl("/bin/sh", "sh", "-ec", setup, (char *)NULL);
    _exit(127);
  }
  int status;
  if (waitpid(pid, &status, 0) != pid || status != 0) die("the setup failed");

  static struct state sides[2], ends[2], now, left;
  for (int side = 0; side < 2; side++) {
    if (side == 1) {
      restore(&sides[0]);
      store(0);
      if (complete(command, NULL) != 0) die("the command failed");
    }
    look(&sides[side]);
    save(side);
    complete(list, sides[side].listing);
    complete(revocation, NULL);
    look(&ends[side]);
    restore(&sides[side]);
    store(side);
  }
  if (same(&sides[0], &sides[1]) != only_before) {
    fprintf(stderr, "crash-tracer: the command changes %s\n", only_before ? "things" : "nothing");
    return 2;
  }

  long first = 0, kills = 0, looks = 0, repeated = 0, came[2] = {0, 0};
  long length = -2;
  int killed;
  restore(&sides[0]);
  store(0);
  long calls = trace(0, 0, &killed, &first, NULL);
  if (first == 0) die("the command does not open what it should");
  for (long n = 1;; n = n >= first ? n + every : n + 7 * every < first ? n + 7 * every : first) {
    int ended = 0;
    int changes = 0;
    for (int at_end = 0; at_end < (changes && n >= first ? 2 : 1); at_end++) {
      restore(&sides[0]);
      store(0);
      trace(n, at_end, &killed, NULL, at_end ? NULL : &changes);
      if (!killed && !at_end) ended = 1;
      if (!killed) continue;
      kills++;
      unlock();
      look(&now);
      long count = lines();
      int alike = same(&now, &left) && count == length;
      left = now;
      length = count;
      if (alike && ++repeated % 8 != 0) continue;
      looks++;
      status = complete(next[looks % nexts], NULL);
      if (status > 1) fail(n, at_end, "the next command ended with %d", status);
      look(&now);
      int side = same(&now, &sides[0]) ? 0 : 1;
      if (!same(&now, &sides[side])) {
        fail(n, at_end, "neither as before nor as after");
        continue;
      }
      if (only_before && side != 0) fail(n, at_end, "not as before");
      came[side]++;
      complete(list, now.listing);
      if (strcmp(now.listing, sides[side].listing) != 0)
        fail(n, at_end, "as %s, but listed:\n%s", side ? "after" : "before", now.listing);
      complete(revocation, NULL);
      look(&now);
      if (!same(&now, &ends[side])) fail(n, at_end, "revoking the other grant left something else");
    }
    if (ended) break;
  }
  printf("%ld system calls, every one from the %ldth, %ld kills, %ld recoveries: %ld before, "
         "%ld after, %ld wrong\n",
         calls, first, kills, looks, came[0], came[1], failures);
  return failures != 0;
}
