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
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/capability.h>
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
    if (F[9][0] != '-')
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
