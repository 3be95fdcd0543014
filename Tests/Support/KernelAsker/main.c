// kernel-asker: asks the running kernel as any subject, one case per line.
//
// stdin : one case per line, TAB separated:
//   cwd path ruid,euid,fsuid rgid,egid,fsgid groups capE capP nsfd landlock each q...
//     groups   "-" or g1,g2,...          (ids are the caller's = initial-namespace ids)
//     capE/capP  hex masks (effective / permitted)
//     nsfd     -1 or an inherited fd of a user namespace to enter
//     landlock "-" or HANDLEDhex[;path=ALLOWEDhex]...   (paths relative to cwd)
//     each     "-": all queries in one child; else a path (absolute, or relative to
//              cwd): one child per query, and that path is unlinked (as root) after
//              each, which must not be refused with EACCES
//     q        o<flags>      openat(dir, path, flags|O_NONBLOCK|O_NOCTTY|O_CLOEXEC, 0600)
//              f<mode>,<at>  faccessat2(dir, path, mode, at)
//              a<mode>       faccessat(dir, path, mode)    = access(2): real uid/gid
//              x             execveat(dir, path, .., AT_EXECVE_CHECK)
//              =CALL[ TO]    an operation, see operate(); where it was allowed, root undoes
//                            it below `each`, which is then the tree of the case without
//                            flags of mounts and without id mapping
//              (dir: an O_PATH fd of cwd, so that cwd itself may be unsearchable)
//     path "%" stands for the empty string.
// stdout: per line, one errno per query (0 = allowed); 999 = harness failure.
//
// The child is made by clone(CLONE_VM|CLONE_VFORK): it has its own credentials and working
// directory, and shares the memory for the answers. A case takes about 20 to 40 us.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/landlock.h>

#ifndef AT_EXECVE_CHECK
#define AT_EXECVE_CHECK 0x10000
#endif
#define MAXQ 64
static char *F[16 + MAXQ];
static int NF;
static int R[MAXQ];
static int fail_step;
static char stack[256 * 1024] __attribute__((aligned(16)));
struct job { int q0, q1; };

static int setcaps(uint64_t eff, uint64_t perm) {
  struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct d[2];
  memset(d, 0, sizeof d);
  d[0].effective = eff; d[1].effective = eff >> 32;
  d[0].permitted = perm; d[1].permitted = perm >> 32;
  return syscall(SYS_capset, &h, d);
}
static int landlock(int dir, char *spec) {
  char buf[8192];
  strncpy(buf, spec, sizeof buf - 1); buf[sizeof buf - 1] = 0;
  char *sv, *t = strtok_r(buf, ";", &sv);
  struct { uint64_t fs; } attr = {strtoull(t, 0, 16)};
  int rs = syscall(SYS_landlock_create_ruleset, &attr, 8, 0);
  if (rs < 0) return -1;
  while ((t = strtok_r(0, ";", &sv))) {
    char *eq = strrchr(t, '=');
    *eq = 0;
    struct landlock_path_beneath_attr pb = {.allowed_access = strtoull(eq + 1, 0, 16)};
    pb.parent_fd = openat(dir, t, O_PATH | O_CLOEXEC | O_NOFOLLOW);
    if (pb.parent_fd < 0) return -1;
    if (syscall(SYS_landlock_add_rule, rs, LANDLOCK_RULE_PATH_BENEATH, &pb, 0)) return -1;
    close(pb.parent_fd);
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
  if (syscall(SYS_landlock_restrict_self, rs, 0)) return -1;
  close(rs);
  return 0;
}
// Undoing an operation: what was at the two names, as root sees them.
struct node { char name[5000]; int parent, exists; struct stat st; char acl[4096], target[4096]; ssize_t acls; };
static struct node before[2];
static void look(struct node *n) {
  n->exists = n->parent >= 0 && !fstatat(n->parent, n->name, &n->st, AT_SYMLINK_NOFOLLOW);
  if (!n->exists) return;
  char link[64];
  int fd = openat(n->parent, n->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  n->acls = S_ISLNK(n->st.st_mode) ? -1 : getxattr(link, "system.posix_acl_access", n->acl, sizeof n->acl);
  if (S_ISLNK(n->st.st_mode)) n->target[readlinkat(n->parent, n->name, n->target, sizeof n->target - 1)] = 0;
  close(fd);
}
static void remember(struct node *n, int root, const char *path) {
  char folder[5000];
  n->parent = -1;
  n->exists = 0;
  if (!path || strlen(path) > 4095) return;
  size_t end = strlen(path);
  while (end && path[end - 1] == '/') end--;
  size_t start = end;
  while (start && path[start - 1] != '/') start--;
  snprintf(n->name, sizeof n->name, "%.*s", (int)(end - start), path + start);
  snprintf(folder, sizeof folder, "%s%.*s", *path == '/' ? "" : "./", (int)start, path);
  if (!*n->name || !strcmp(n->name, ".") || !strcmp(n->name, "..")) return;
  n->parent = openat(root, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  look(n);
}
// The name of what a path leads to, links and dots included.
static int real(int root, const char *path, char *name, size_t size) {
  char link[64];
  int fd = openat(root, path, O_PATH | O_CLOEXEC);
  if (fd < 0) return -1;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, name, size - 1);
  close(fd);
  if (n < 0) return -1;
  name[n] = 0;
  return 0;
}
static int same(struct node *n, struct node *now) {
  *now = *n;
  if (n->parent < 0) return 1;
  memset(&now->st, 0, sizeof now->st);
  look(now);
  return n->exists == now->exists && (!n->exists ||
         (n->st.st_ino == now->st.st_ino && n->st.st_dev == now->st.st_dev && n->st.st_mode == now->st.st_mode &&
          n->st.st_uid == now->st.st_uid && n->st.st_gid == now->st.st_gid));
}
static int again(struct node *n) {
  mode_t m = n->st.st_mode;
  if (S_ISLNK(m)) return symlinkat(n->target, n->parent, n->name) || fchownat(n->parent, n->name, n->st.st_uid, n->st.st_gid, AT_SYMLINK_NOFOLLOW);
  if (S_ISDIR(m) ? mkdirat(n->parent, n->name, 0700) : mknodat(n->parent, n->name, (m & S_IFMT) | 0600, n->st.st_rdev)) return -1;
  return 0;
}
static int restore(struct node *n) {
  struct node now;
  if (same(n, &now)) return 0;
  int is_same = n->exists && now.exists && n->st.st_ino == now.st.st_ino && S_ISDIR(n->st.st_mode) == S_ISDIR(now.st.st_mode);
  if (now.exists && !is_same && unlinkat(n->parent, n->name, S_ISDIR(now.st.st_mode) ? AT_REMOVEDIR : 0)) return -1;
  if (!n->exists) return 0;
  if (!is_same && again(n)) return -1;
  if (S_ISLNK(n->st.st_mode)) return 0;
  char link[64];
  int fd = openat(n->parent, n->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int failed = fd < 0 || chown(link, n->st.st_uid, n->st.st_gid) || chmod(link, n->st.st_mode & 07777) ||
      (n->acls > 0 && setxattr(link, "system.posix_acl_access", n->acl, n->acls, 0));
  close(fd);
  return failed ? -1 : 0;
}
// A directory with names in it goes back as it is.
static int move_back(void) {
  struct node *a = before, *b = before + 1, now;
  if (!a->exists || b->parent < 0 || !S_ISDIR(a->st.st_mode)) return 0;
  now = *b;
  look(&now);
  if (!now.exists || now.st.st_ino != a->st.st_ino) return 0;
  return renameat(b->parent, b->name, a->parent, a->name);
}

// Names can be added to an append-only directory, and not taken away.
static int append_only(struct node *n, int on) {
  int flags = 0, fd = n->parent < 0 ? -1 : openat(n->parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return 0;
  int is = !ioctl(fd, FS_IOC_GETFLAGS, &flags) && (on || flags & FS_APPEND_FL);
  if (is) {
    flags = on ? flags | FS_APPEND_FL : flags & ~FS_APPEND_FL;
    ioctl(fd, FS_IOC_SETFLAGS, &flags);
  }
  close(fd);
  return is;
}
static int undo(void) {
  int a = append_only(before, 0), b = append_only(before + 1, 0);
  int failed = move_back() || restore(before) || restore(before + 1);
  int error = errno;
  if (a) append_only(before, 1);
  if (b) append_only(before + 1, 1);
  errno = error;
  return failed;
}

static long operate(int dir, const char *path, char *q) {
  char *to = strchr(q, ' ');
  if (to) *to++ = 0;
  if (to && *to == '%') to++;
  struct stat st;
  struct timespec times[2] = {{1, 0}, {2, 0}};
  long r = -1;
  if (!strcmp(q, "create")) { r = openat(dir, path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600); if (r >= 0) r = close(r); }
  else if (!strcmp(q, "mkdir")) r = mkdirat(dir, path, 0700);
  else if (!strcmp(q, "mkfifo")) r = mknodat(dir, path, S_IFIFO | 0600, 0);
  else if (!strcmp(q, "mknod")) r = mknodat(dir, path, S_IFCHR | 0600, 0x103);
  else if (!strcmp(q, "symlink")) r = symlinkat("nowhere", dir, path);
  else if (!strcmp(q, "link")) r = linkat(dir, path, dir, to, 0);
  else if (!strcmp(q, "unlink")) r = unlinkat(dir, path, 0);
  else if (!strcmp(q, "rmdir")) r = unlinkat(dir, path, AT_REMOVEDIR);
  else if (!strcmp(q, "rename")) r = renameat(dir, path, dir, to);
  else if (!strcmp(q, "chmod")) r = syscall(SYS_fchmodat, dir, path, 0644);
  else if (!strcmp(q, "chown")) {
    char *group = strchr(to, ':');
    r = fchownat(dir, path, *to == ':' ? (uid_t)-1 : strtoul(to, 0, 10), group[1] ? strtoul(group + 1, 0, 10) : (gid_t)-1, 0);
  }
  else if (!strcmp(q, "touch")) r = syscall(SYS_utimensat, dir, path, 0, 0);
  else if (!strcmp(q, "utimes")) r = syscall(SYS_utimensat, dir, path, times, 0);
  else if (!strcmp(q, "truncate")) {
    // There is no truncateat(2); the name of the descriptor asks for nothing.
    if (fchdir(dir)) return -1;
    r = truncate(path, 0);
  }
  else if (!strcmp(q, "chdir")) r = fchdir(dir) ? -1 : chdir(path);
  else if (!strcmp(q, "setxattr")) r = fchdir(dir) ? -1 : setxattr(path, "user.x", "1", 1, 0);
  else if (!strcmp(q, "connect")) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof a.sun_path || fchdir(dir)) { errno = ENAMETOOLONG; return -1; }
    strcpy(a.sun_path, path);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    r = connect(s, (void *)&a, sizeof a);
    int error = errno;
    close(s);
    // Nobody listens in these trees.
    if (r && error == ECONNREFUSED && !fstatat(dir, path, &st, 0) && S_ISSOCK(st.st_mode)) r = 0;
    errno = error;
  }
  else { errno = 999; return -1; }
  return r;
}
#define STEP(n, e) do { if (e) { fail_step = n; syscall(SYS_exit, 0); } } while (0)
static int child(void *arg) {
  struct job *j = arg;
  unsigned ru, eu, fu, rg, eg, fg;
  gid_t g[1024]; int ng = 0;
  for (int i = j->q0; i < j->q1; i++) R[i] = 999;
  int dir = open(F[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
  STEP(1, dir < 0);
  sscanf(F[2], "%u,%u,%u", &ru, &eu, &fu);
  sscanf(F[3], "%u,%u,%u", &rg, &eg, &fg);
  if (F[4][0] != '-') { char *p = F[4]; while (*p && ng < 1024) { g[ng++] = strtoul(p, &p, 10); if (*p == ',') p++; } }
  uint64_t ce = strtoull(F[5], 0, 16), cp = strtoull(F[6], 0, 16);
  int ns = atoi(F[7]);
  const char *path = F[1][0] == '%' ? "" : F[1];
  if (F[8][0] != '-') STEP(2, landlock(dir, F[8]));
  STEP(3, syscall(SYS_setgroups, ng, g));
  STEP(4, syscall(SYS_setresgid, rg, eg, eg));
  prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
  struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct d[2];
  syscall(SYS_capget, &h, d);
  uint64_t all = d[0].permitted | (uint64_t)d[1].permitted << 32;
  STEP(5, syscall(SYS_setresuid, ru, eu, eu));
  STEP(6, setcaps(all, all));
  syscall(SYS_setfsgid, fg);
  syscall(SYS_setfsuid, fu);
  STEP(7, (unsigned)syscall(SYS_setfsuid, -1) != fu || (unsigned)syscall(SYS_setfsgid, -1) != fg);
  STEP(8, setcaps(all, all));
  if (ns >= 0) {
    STEP(9, setns(ns, CLONE_NEWUSER));
  }
  STEP(10, setcaps(ce, cp));
  for (int i = j->q0; i < j->q1; i++) {
    char *q = F[10 + i]; long r = -1;
    errno = 0;
    switch (*q) {
    case 'o': {
      int fl = strtol(q + 1, 0, 10);
      r = syscall(SYS_openat, dir, path, fl | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, (fl & (O_CREAT | O_TMPFILE)) ? 0600 : 0);
      R[i] = r < 0 ? errno : 0;
      if (r >= 0) close(r);
      break; }
    case 'f': {
      char *e; int m = strtol(q + 1, &e, 10), at = *e == ',' ? strtol(e + 1, 0, 10) : AT_EACCESS;
      r = syscall(SYS_faccessat2, dir, path, m, at);
      R[i] = r < 0 ? errno : 0; break; }
    case 'a':
      r = syscall(SYS_faccessat, dir, path, atoi(q + 1));
      R[i] = r < 0 ? errno : 0; break;
    case 'x': {
      char *av[] = {"x", 0}, *ev[] = {0};
      r = syscall(SYS_execveat, dir, path, av, ev, AT_EXECVE_CHECK);
      R[i] = r < 0 ? errno : 0; break; }
    case '=':
      r = operate(dir, path, q + 1);
      R[i] = r < 0 ? errno : 0; break;
    }
  }
  syscall(SYS_exit, 0);
  return 0;
}
static void run(int q0, int q1) {
  struct job j = {q0, q1};
  fail_step = 0;
  pid_t p = clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &j);
  if (p < 0) { perror("clone"); exit(1); }
  int st; waitpid(p, &st, 0);
  if (fail_step || st) {
    fprintf(stderr, "harness: step %d status %x cwd %s\n", fail_step, st, F[0]);
    for (int i = q0; i < q1; i++) R[i] = 999;
  }
}
int main(void) {
  char *line = 0; size_t cap = 0; ssize_t n;
  umask(0);
  setsid();
  static char obuf[1 << 16]; setvbuf(stdout, obuf, _IOFBF, sizeof obuf);
  while ((n = getline(&line, &cap, stdin)) > 0) {
    if (line[n - 1] == '\n') line[n - 1] = 0;
    NF = 0;
    for (char *sv, *t = strtok_r(line, "\t", &sv); t && NF < 16 + MAXQ; t = strtok_r(0, "\t", &sv)) F[NF++] = t;
    int nq = NF - 10;
    if (nq < 1 || nq > MAXQ) { fprintf(stderr, "bad line\n"); return 2; }
    if (F[10][0] == '=') {
      int tree = open(F[9], O_PATH | O_DIRECTORY | O_CLOEXEC);
      for (int i = 0; i < nq; i++) {
        char *to = strchr(F[10 + i], ' ');
        char name[8192];
        int follows = !strncmp(F[10 + i], "=ch", 3);
        remember(before, tree, F[1][0] == '%' ? 0 : follows && !real(tree, F[1], name, sizeof name) ? name : F[1]);
        remember(before + 1, tree, to && to[1] != '%' && to[1] != ':' ? to + 1 : 0);
        run(i, i + 1);
        if (R[i] == 0 && undo()) {
          fprintf(stderr, "harness: %s %s below %s is not undone: %s\n", F[10 + i], F[1], F[9], strerror(errno));
          R[i] = 999;
        }
        for (int j = 0; j < 2; j++) if (before[j].parent >= 0) close(before[j].parent);
      }
      close(tree);
    } else if (F[9][0] != '-')
      for (int i = 0; i < nq; i++) {
        run(i, i + 1);
        int d = open(F[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (unlinkat(d, F[9], 0) && errno == EACCES) {
          fprintf(stderr, "harness: %s is not unlinked: %s\n", F[9], strerror(errno));
          R[i] = 999;
        }
        close(d);
      }
    else
      run(0, nq);
    for (int i = 0; i < nq; i++) printf(i ? " %d" : "%d", R[i]);
    putchar('\n');
  }
  return 0;
}
