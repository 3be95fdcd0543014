// Calls that the kernel refuses an ordinary user, made in ways that are easily overlooked: refused WAY [COUNT].
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char secret[] = "/etc/shadow";
static int amount = 1000000;

// By the calls of i386, which a program of 64 bits may make too.
static int i386(void) {
#ifdef __x86_64__
  char *low = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED) return 1;
  strcpy(low, secret);
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(5), "b"(low), "c"(0), "d"(0) : "memory", "r8", "r9", "r10", "r11");
  return result != -EACCES;
#else
  return 1;
#endif
}

// By the call of i386 that is several calls of sockets in one.
static int socketcall(void) {
#ifdef __x86_64__
  struct { unsigned arguments[6]; unsigned short family; char path[108]; } *low =
    mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED) return 1;
  low->arguments[0] = socket(AF_UNIX, SOCK_STREAM, 0);
  low->arguments[1] = (unsigned)(unsigned long)&low->family;
  low->arguments[2] = 110;
  low->family = AF_UNIX;
  strcpy(low->path, "/root/socket");
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(102), "b"(3), "c"(low->arguments) : "memory", "r8", "r9", "r10", "r11");
  return result != -EACCES;
#else
  return 1;
#endif
}

// By io_uring: no system call has the path.
static int uring(void) {
  struct io_uring_params params = {0};
  int ring = syscall(SYS_io_uring_setup, 4, &params);
  if (ring < 0) return 77;
  size_t size = params.sq_off.array + params.sq_entries * 4, completions = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
  char *sq = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  char *cq = mmap(0, completions, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
  struct io_uring_sqe *entries = mmap(0, params.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
  if (sq == MAP_FAILED || cq == MAP_FAILED || (void *)entries == MAP_FAILED) return 1;
  memset(entries, 0, sizeof *entries);
  entries->opcode = IORING_OP_OPENAT;
  entries->fd = AT_FDCWD;
  entries->addr = (unsigned long)secret;
  ((unsigned *)(sq + params.sq_off.array))[0] = 0;
  atomic_store((_Atomic unsigned *)(sq + params.sq_off.tail), 1);
  if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) < 0) return 1;
  struct io_uring_cqe *completion = (void *)(cq + params.cq_off.cqes);
  return completion->res != -EACCES;
}

// In a child that has the memory of its parent.
static int shared(void) {
  pid_t child = vfork();
  if (child == 0) {
    open(secret, 0);
    execl("/bin/cat", "cat", "/etc/gshadow", (char *)0);
    _exit(127);
  }
  waitpid(child, 0, 0);
  return 0;
}

static void *replaces(void *unused) {
  execl("/bin/cat", "cat", secret, (char *)0);
  return unused;
}
static void *waits(void *unused) {
  pause();
  return unused;
}
// Another thread than the first replaces the program.
static int thread(void) {
  pthread_t one, other;
  if (pthread_create(&one, 0, waits, 0) || pthread_create(&other, 0, replaces, 0)) return 1;
  pause();
  return 1;
}

static char path[16] = "/etc/shadow";
static void *changes(void *unused) {
  for (;;) {
    memcpy(path, "/etc/gshadow", 13);
    memcpy(path, "/etc/shadow\0", 13);
  }
  return unused;
}
// Another thread changes the path while the kernel reads it.
static int change(void) {
  pthread_t one;
  if (pthread_create(&one, 0, changes, 0)) return 1;
  for (int i = 0; i < 20000; i++) {
    int file = open(path, 0);
    if (file >= 0) return 1;
  }
  return 0;
}

// Many processes, each refused once.
static int storm(void) {
  for (int i = 0; i < amount; i++) {
    pid_t child = fork();
    if (child == 0) {
      open(secret, 0);
      _exit(0);
    }
    if (child < 0) return 1;
    if (i % 50 == 49) while (waitpid(-1, 0, 0) > 0) {}
  }
  while (waitpid(-1, 0, 0) > 0) {}
  return 0;
}

static void *opens(void *unused) {
  open(secret, 0);
  return unused;
}
static int threads(void) {
  static pthread_t all[2000];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  for (int i = 0; i < 2000; i++) if (pthread_create(&all[i], &small, opens, 0)) return 1;
  for (int i = 0; i < 2000; i++) pthread_join(all[i], 0);
  return 0;
}

// Distinct refusals, more than any buffer has.
static int flood(void) {
  char name[64];
  for (int i = 0; i < amount; i++) {
    snprintf(name, sizeof name, "/root/%d", i);
    open(name, 0);
  }
  return 0;
}

int main(int count, char **words) {
  static const struct { const char *name; int (*run)(void); } ways[] = {
    {"i386", i386}, {"uring", uring}, {"vfork", shared}, {"thread", thread}, {"change", change},
    {"socketcall", socketcall}, {"storm", storm}, {"threads", threads}, {"flood", flood},
  };
  if (count == 3) amount = atoi(words[2]);
  for (unsigned i = 0; (count == 2 || count == 3) && i < sizeof ways / sizeof *ways; i++)
    if (!strcmp(words[1], ways[i].name)) return ways[i].run();
  fputs("usage: refused WAY [COUNT]\n", stderr);
  return 64;
}
