#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/CTrace.h"
#include "tracer.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// Calls of which only some stop: those with an argument in a range, or with some of its bits.
static const struct condition {
  const char *name;
  unsigned char argument; // counted from 1
  enum { BITS, NOT_BITS, BELOW, NOT_TERMINAL, NOT_DUPLICATION } kind;
  uint32_t value;
} conditions[] = {
  // By the descriptor alone, of which everybody may ask.
  {"newfstatat", 4, NOT_BITS, 0x1000}, {"statx", 3, NOT_BITS, 0x1000},
  // What /proc, /sys and cgroups take is short; the output of programs mostly is not.
  {"write", 3, BELOW, 257},
  // F_SETFL and what follows, but F_DUPFD_CLOEXEC.
  {"fcntl", 2, NOT_DUPLICATION, 3}, {"fcntl64", 2, NOT_DUPLICATION, 3},
  {"ioctl", 2, NOT_TERMINAL, 0},
  // Of a file on a file system without programs.
  {"mmap", 3, BITS, PROT_EXEC}, {"mmap2", 3, BITS, PROT_EXEC}, {"mprotect", 3, BITS, PROT_EXEC},
  // New namespaces, and a thread that hides from its tracer.
  {"clone", 1, BITS, CLONE_UNTRACED | CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP},
};

struct program {
  struct sock_filter all[BPF_MAXINSNS];
  unsigned count;
};

static void add(struct program *program, uint16_t code, uint8_t yes, uint8_t no, uint32_t value) {
  if (program->count < BPF_MAXINSNS) program->all[program->count++] = (struct sock_filter){code, yes, no, value};
}

static void load(struct program *program, size_t place) { add(program, BPF_LD | BPF_W | BPF_ABS, 0, 0, place); }
static void end(struct program *program, uint32_t action) { add(program, BPF_RET | BPF_K, 0, 0, action); }
static void jump(struct program *program, uint16_t test, uint32_t value, uint8_t yes, uint8_t no) {
  add(program, BPF_JMP | test | BPF_K, yes, no, value);
}

// The decision about one call with a condition; the number of the call is loaded.
static void decide(struct program *program, uint32_t number, const struct condition *condition) {
  jump(program, BPF_JEQ, number, 0, condition->kind >= NOT_TERMINAL ? 5 : 4);
  load(program, offsetof(struct seccomp_data, args) + 8 * (condition->argument - 1));
  switch (condition->kind) {
  case BITS: jump(program, BPF_JSET, condition->value, 0, 1); break;
  case NOT_BITS: jump(program, BPF_JSET, condition->value, 1, 0); break;
  case BELOW: jump(program, BPF_JGE, condition->value, 1, 0); break;
  case NOT_TERMINAL:
    // Those of terminals, see ioctl_tty(2).
    add(program, BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xff00);
    jump(program, BPF_JEQ, 0x5400, 1, 0);
    break;
  case NOT_DUPLICATION:
    jump(program, BPF_JEQ, F_DUPFD_CLOEXEC, 2, 0);
    jump(program, BPF_JGT, condition->value, 0, 1);
    break;
  }
  end(program, SECCOMP_RET_TRACE);
  end(program, SECCOMP_RET_ALLOW);
}

static const struct condition *condition(const char *name) {
  for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) if (!strcmp(conditions[i].name, name)) return &conditions[i];
  return 0;
}

// The decisions about all calls of one table, if the machine is this one.
static void table(struct program *program, uint32_t architecture, uint32_t kind) {
  load(program, offsetof(struct seccomp_data, arch));
  unsigned begin = program->count + 1;
  jump(program, BPF_JEQ, architecture, 1, 0);
  add(program, BPF_JMP | BPF_JA, 0, 0, 0);
  load(program, offsetof(struct seccomp_data, nr));
  int32_t number;
  for (int pass = 0; pass < 2; pass++)
    for (int index = 0; (number = pk_call_number(kind, index)) > -2; index++) {
      const char *name = number >= 0 ? pk_call_name(kind, number) : 0;
      const struct pk_call *call = name ? pk_call_shape(kind, number) : 0;
      if (!call || call->is & PK_PASSED) continue;
      const struct condition *found = condition(name);
      if (pass == 0 && found) {
        decide(program, number, found);
      } else if (pass == 1 && !found) {
        jump(program, BPF_JEQ, number, 0, 1);
        end(program, SECCOMP_RET_TRACE);
      }
    }
  end(program, SECCOMP_RET_ALLOW);
  if (program->count < BPF_MAXINSNS) program->all[begin].k = program->count - begin - 1;
}

int pk_filter(void) {
  static struct program program;
  program.count = 0;
  table(&program, ARCHITECTURE, PK_NATIVE);
#if defined(__x86_64__)
  table(&program, AUDIT_ARCH_I386, PK_I386);
#endif
  end(&program, SECCOMP_RET_ALLOW);
  if (program.count >= BPF_MAXINSNS) return E2BIG;
  struct sock_fprog filter = {program.count, program.all};
  if (!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter)) return 0;
  // Whoever may not do this may do it without gaining rights by set-user-ID programs.
  if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return errno;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) ? errno : 0;
}
