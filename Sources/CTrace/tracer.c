// Sees refusals without BPF: a filter (seccomp) stops each call that can be refused, and a process in a session of its
// own looks at its result by ptrace(2). See seccomp(2), ptrace(2).
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <linux/audit.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/CTrace.h"
#include "tracer.h"

// What may be in the ring until it is read: a power of two.
#define RING (1 << 23)
#define ENOUGH (1 << 20)

// The most threads that another tracer could take over.
#define THREADS (1 << 16)

// Refusals on their way from the tracer to the reader, and who is traced; both have it in memory.
struct ring {
  _Atomic uint64_t written, read, lost;
  _Atomic int failure; // why the command could not be traced
  _Atomic uint32_t count;
  pid_t threads[THREADS]; // negative: of a job that is stopped
  char bytes[RING];
};

struct pk_tracer {
  struct ring *ring;
  int wake, socket;
  pid_t process; // the one that traces
  int replaced;   // how often
  int is_guarded; // this process traces it, to be told when it is killed
};

// What the reader asks for: to follow a process before its program, or one that runs already.
struct demand {
  int32_t process, is_running;
};

// --- The ring -------------------------------------------------------------------------------------

static void attend(struct pk_tracer *tracer);

// A record is its length, as a multiple of 8, and its bytes; none goes over the end.
static void put(const struct pk_tracer *tracer, const void *bytes, size_t size) {
  struct ring *ring = tracer->ring;
  uint64_t written = atomic_load(&ring->written), read = atomic_load(&ring->read);
  size_t whole = 8 + (size + 7) / 8 * 8, rest = RING - written % RING;
  size_t skipped = rest < whole ? rest : 0;
  if (written + skipped + whole - read > RING) {
    atomic_fetch_add(&ring->lost, 1);
    return;
  }
  uint64_t length = 0;
  if (skipped) memcpy(&ring->bytes[written % RING], &length, sizeof length);
  written += skipped;
  length = size;
  memcpy(&ring->bytes[written % RING], &length, sizeof length);
  memcpy(&ring->bytes[written % RING + 8], bytes, size);
  atomic_store(&ring->written, written + whole);
  if (written + whole - read > ENOUGH) eventfd_write(tracer->wake, 1);
}

int pk_tracer_read(struct pk_tracer *tracer, void *context, void (*take)(void *, const struct pk_refusal *, const char *)) {
  struct ring *ring = tracer->ring;
  attend(tracer);
  uint64_t read = atomic_load(&ring->read), written = atomic_load(&ring->written), length, woken;
  eventfd_read(tracer->wake, &woken);
  while (read < written) {
    memcpy(&length, &ring->bytes[read % RING], sizeof length);
    // The rest until the end is not used.
    if (!length) {
      read += RING - read % RING;
      continue;
    }
    const char *record = &ring->bytes[read % RING + 8];
    take(context, (const void *)record, record + sizeof(struct pk_refusal));
    read += 8 + (length + 7) / 8 * 8;
  }
  atomic_store(&ring->read, read);
  return 0;
}

uint64_t pk_tracer_lost(const struct pk_tracer *tracer) { return atomic_load(&tracer->ring->lost); }

int pk_tracer_replaced(const struct pk_tracer *tracer) { return tracer->replaced; }

int pk_tracer_descriptor(const struct pk_tracer *tracer) { return tracer->wake; }

// --- The traced threads ---------------------------------------------------------------------------

struct thread {
  struct thread *next;
  pid_t id;
  uint32_t index; // in the ring
  int is_in_call;
  struct pk_stop stop;
};

static struct thread *threads[1 << 12];

static struct thread **place(pid_t id) {
  struct thread **found = &threads[id & ((1 << 12) - 1)];
  while (*found && (*found)->id != id) found = &(*found)->next;
  return found;
}

static struct thread *thread(struct ring *ring, pid_t id) {
  struct thread **found = place(id);
  if (*found || !(*found = calloc(1, sizeof **found))) return *found;
  uint32_t count = atomic_load(&ring->count);
  (*found)->id = id, (*found)->index = count;
  if (count < THREADS) ring->threads[count] = id, atomic_store(&ring->count, count + 1);
  return *found;
}

static void forget(struct ring *ring, pid_t id) {
  struct thread **found = place(id), *thread = *found;
  if (!thread) return;
  uint32_t last = atomic_load(&ring->count) - 1;
  if (thread->index <= last && last < THREADS) {
    // The last one takes its place.
    struct thread *moved = *place(abs(ring->threads[last]));
    ring->threads[thread->index] = ring->threads[last];
    if (moved) moved->index = thread->index;
    atomic_store(&ring->count, last);
  }
  *found = thread->next;
  free(thread);
}

// --- Stops ----------------------------------------------------------------------------------------

static const long OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

// Notes whether a thread is stopped with its job, for the one that could take over.
static void mark(struct ring *ring, const struct thread *thread, int is_stopped) {
  if (thread->index < THREADS) ring->threads[thread->index] = is_stopped ? -thread->id : thread->id;
}

static int is_stopping(int signal) { return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

// Reads the call at whose end a thread is. Returns whether it could be read.
static int read_call(pid_t id, struct pk_stop *call) {
#if defined(__x86_64__)
  struct user_regs_struct all;
  if (ptrace(PTRACE_GETREGS, id, 0, &all)) return 0;
  // They are what they were when the call began.
  uint64_t native[] = {all.rdi, all.rsi, all.rdx, all.r10, all.r8, all.r9}, i386[] = {all.rbx, all.rcx, all.rdx, all.rsi, all.rdi, all.rbp};
  call->number = all.orig_rax;
  for (int i = 0; i < 6; i++) call->arguments[i] = call->is_i386 ? (uint32_t)i386[i] : native[i];
#endif
  return 1;
}

// A call begins, or ends.
static void look(const struct pk_tracer *tracer, struct thread *thread, int is_filtered) {
  static struct pk_noted noted;
  struct __ptrace_syscall_info info;
#if defined(__x86_64__)
  if (is_filtered) {
    thread->is_in_call = 1;
    return;
  }
#endif
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->id, (void *)sizeof info, &info) <= 0) return;
  struct pk_stop *call = &thread->stop;
  call->is_i386 = info.arch == AUDIT_ARCH_I386;
  if (info.op != PTRACE_SYSCALL_INFO_EXIT) {
    thread->is_in_call = 1;
    call->number = info.entry.nr;
    for (int i = 0; i < 6; i++) call->arguments[i] = info.entry.args[i];
    return;
  }
  int has_failed = thread->is_in_call && info.exit.is_error && pk_counts(-info.exit.rval);
  thread->is_in_call = 0;
  // Nearly all calls succeed.
  size_t size = has_failed && read_call(thread->id, call) ? pk_note(call, thread->id, -info.exit.rval, &noted) : 0;
  if (size) put(tracer, &noted, size);
}

// Goes on after a stop of a thread.
static void answer(const struct pk_tracer *tracer, pid_t id, int status, int usual) {
  struct thread *stopped = thread(tracer->ring, id);
  int signal = WSTOPSIG(status), event = status >> 16, injected = 0;
  unsigned long former;
  int is_group_stop = event == PTRACE_EVENT_STOP && is_stopping(signal);
  if (stopped) mark(tracer->ring, stopped, is_group_stop);
  if (!stopped) {
    // No memory: it goes on, and its calls are not seen.
  } else if (signal == (SIGTRAP | 0x80) || event == PTRACE_EVENT_SECCOMP) {
    look(tracer, stopped, event == PTRACE_EVENT_SECCOMP);
  } else if (is_group_stop) {
    // It stays stopped, as its job is, until a signal continues it.
    ptrace(PTRACE_LISTEN, id, 0, 0);
    return;
  } else if (event == PTRACE_EVENT_EXEC) {
    // Of several threads, the one that called goes on with the number of the process.
    if (!ptrace(PTRACE_GETEVENTMSG, id, 0, &former) && (pid_t)former != id) {
      struct thread *caller = *place(former);
      if (caller) stopped->stop = caller->stop, stopped->is_in_call = caller->is_in_call;
      forget(tracer->ring, former);
    }
  } else if (!event) {
    injected = signal;
  }
  int next = stopped && stopped->is_in_call ? PTRACE_SYSCALL : usual;
  ptrace(next, id, 0, injected);
}

static void trace(const struct pk_tracer *tracer, int usual) {
  cpu_set_t processors;
  // About 40 microseconds; on a single processor the program would wait for them.
  int looks = !sched_getaffinity(0, sizeof processors, &processors) && CPU_COUNT(&processors) > 1 ? 150 : 0;
  for (;;) {
    int status, seen = 0;
    pid_t id = 0;
    // To be woken takes longer than the next stop of a program that makes many calls.
    while (!id && seen++ < looks) id = waitpid(-1, &status, __WALL | WNOHANG);
    if (!id) id = waitpid(-1, &status, __WALL);
    if (id < 0 && errno == EINTR) continue;
    if (id < 0) return;
    if (WIFSTOPPED(status)) answer(tracer, id, status, usual);
    else forget(tracer->ring, id);
  }
}

// --- The process that traces ----------------------------------------------------------------------

// The reader says that it ends, or has ended. Without a filter the traced processes then go on as before, and with
// PTRACE_O_EXITKILL they are killed.
static void ended(int signal) {
  struct demand demand;
  ssize_t count = recv(1, &demand, sizeof demand, 0);
  if (count == 0) _exit(0);
  // What the command has left goes on, and is traced to its end.
  if (count > 0) fcntl(1, F_SETFL, O_NONBLOCK);
}

// Follows all threads of a process that runs already.
static int attach(const struct pk_tracer *tracer, pid_t process) {
  char path[64];
  int error = ESRCH, is_new = 1;
  snprintf(path, sizeof path, "/proc/%d/task", process);
  // A thread may start others until all are stopped.
  while (is_new) {
    is_new = 0;
    DIR *tasks = opendir(path);
    if (!tasks) return errno;
    for (struct dirent *entry; (entry = readdir(tasks));) {
      pid_t id = atoi(entry->d_name);
      if (id <= 0 || *place(id)) continue;
      if (ptrace(PTRACE_SEIZE, id, 0, OPTIONS)) {
        if (errno != ESRCH) error = errno;
        continue;
      }
      ptrace(PTRACE_INTERRUPT, id, 0, 0);
      thread(tracer->ring, id);
      is_new = 1, error = 0;
    }
    closedir(tasks);
  }
  return error;
}

// Makes a child of the reader one that nothing disturbs.
static void hide(struct pk_tracer *tracer, int socket) {
  sigset_t every;
  sigfillset(&every);
  sigprocmask(SIG_SETMASK, &every, 0);
  setsid();
  prctl(PR_SET_NAME, "permcheck-trace");
  signal(SIGCHLD, SIG_DFL);
  if (chdir("/")) {}
  // Nothing of the program is kept open.
  dup2(tracer->wake, 0), dup2(socket, 1);
  tracer->wake = 0, tracer->socket = 1;
  if (syscall(SYS_close_range, 2, ~0U, 0)) for (int number = sysconf(_SC_OPEN_MAX); number > 1; number--) close(number);
}

static void serve(struct pk_tracer *tracer, int kills) {
  struct demand demand;
  int usual = PTRACE_CONT;
  for (;;) {
    ssize_t count = recv(tracer->socket, &demand, sizeof demand, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count != sizeof demand) return;
    // Nothing more is asked for.
    if (!demand.process) break;
    int error = 0;
    if (demand.is_running) error = attach(tracer, demand.process), usual = PTRACE_SYSCALL;
    else if (ptrace(PTRACE_SEIZE, demand.process, 0, OPTIONS | PTRACE_O_TRACESECCOMP | (kills ? PTRACE_O_EXITKILL : 0))) error = errno;
    if (send(tracer->socket, &error, sizeof error, MSG_NOSIGNAL) != sizeof error) return;
    // The program that it begins is to be traced at once.
    if (!demand.is_running && !error) break;
  }
  // Its end is told by a signal from here on.
  if (usual == PTRACE_SYSCALL || kills) {
    sigset_t one;
    sigemptyset(&one), sigaddset(&one, SIGIO);
    signal(SIGIO, ended);
    sigprocmask(SIG_UNBLOCK, &one, 0);
    fcntl(tracer->socket, F_SETOWN, getpid());
    fcntl(tracer->socket, F_SETFL, O_ASYNC | O_NONBLOCK);
    ended(SIGIO);
  }
  trace(tracer, usual);
}

// The place of standard input, output and errors is not used where these are closed.
static int usable(int descriptor) {
  if (descriptor < 0 || descriptor > 2) return descriptor;
  int other = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  close(descriptor);
  return other;
}

struct pk_tracer *pk_tracer_open(int kills, int *error) {
  struct pk_tracer *tracer = calloc(1, sizeof *tracer);
  int ends[2] = {-1, -1};
  *error = ENOMEM;
  if (!tracer) return 0;
  tracer->ring = mmap(0, sizeof *tracer->ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (tracer->ring == MAP_FAILED) tracer->ring = 0;
  tracer->wake = usable(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  int has_socket = !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
  for (int i = 0; i < 2; i++) ends[i] = usable(ends[i]);
  *error = tracer->ring && tracer->wake >= 0 && has_socket && ends[0] >= 0 && ends[1] >= 0 ? 0 : errno;
  tracer->socket = ends[0];
  tracer->process = *error ? -1 : fork();
  if (!tracer->process) {
    hide(tracer, ends[1]);
    serve(tracer, kills);
    _exit(0);
  }
  if (!*error && tracer->process < 0) *error = errno;
  if (ends[1] >= 0) close(ends[1]);
  if (!*error) return tracer;
  pk_tracer_close(tracer);
  return 0;
}

// --- Another tracer -------------------------------------------------------------------------------

// The threads that are to be taken over.
static struct { pid_t ids[THREADS]; unsigned char are_stopped[THREADS]; uint32_t count; } heirs;

static void add(pid_t id) {
  for (uint32_t i = 0; i < heirs.count; i++) if (heirs.ids[i] == abs(id)) return;
  if (heirs.count == THREADS) return;
  heirs.are_stopped[heirs.count] = id < 0;
  heirs.ids[heirs.count++] = abs(id);
}

// Adds the threads and the children of all of these, and of those that are added.
static void add_family(void) {
  char path[64];
  for (uint32_t i = 0; i < heirs.count; i++) {
    snprintf(path, sizeof path, "/proc/%d/task", heirs.ids[i]);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) if (atoi(entry->d_name) > 0) add(atoi(entry->d_name));
    if (folder) closedir(folder);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", heirs.ids[i], heirs.ids[i]);
    FILE *file = fopen(path, "r");
    for (int id; file && fscanf(file, "%d", &id) == 1;) add(id);
    if (file) fclose(file);
  }
}

// Goes on where another tracer was killed, which waits for `ready` to be told of it.
static void inherit(struct pk_tracer *tracer, int ready) {
  struct ring *ring = tracer->ring;
  struct timespec now, end;
  for (uint32_t i = 0; i < atomic_load(&ring->count); i++) add(ring->threads[i]);
  // Who calls, forks or is signalled meanwhile, waits for the former tracer; and when that has ended, nobody may call
  // before there is another one.
  add_family();
  for (uint32_t i = 0; i < heirs.count; i++) if (!heirs.are_stopped[i]) kill(heirs.ids[i], SIGSTOP);
  add_family();
  memset(threads, 0, sizeof threads);
  atomic_store(&ring->count, 0);
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += 2;
  if (write(ready, "", 1) != 1) return;
  close(ready);
  for (int is_late = 0, is_left = 1; is_left && !is_late;) {
    is_left = 0;
    for (uint32_t i = 0; i < heirs.count; i++) {
      pid_t id = heirs.ids[i];
      if (id < 0) continue;
      int has_it = !ptrace(PTRACE_SEIZE, id, 0, OPTIONS | PTRACE_O_TRACESECCOMP);
      // The former one still has it.
      if (!has_it && errno == EPERM && !*place(id)) {
        is_left = 1;
        continue;
      }
      if (has_it) thread(ring, id);
      heirs.ids[i] = -id;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    is_late = now.tv_sec > end.tv_sec;
  }
  // Children first, so that no shell finds a job stopped.
  for (uint32_t i = heirs.count; i-- > 0;) if (!heirs.are_stopped[i]) kill(abs(heirs.ids[i]), SIGCONT);
  trace(tracer, PTRACE_CONT);
}

int pk_tracer_guard(struct pk_tracer *tracer) {
  tracer->is_guarded = !ptrace(PTRACE_SEIZE, tracer->process, 0, PTRACE_O_TRACEEXIT);
  return tracer->is_guarded ? 0 : errno;
}

// If the tracer is about to end while there is something to trace, somebody has killed it. Without one, what is traced
// would fail at its next call. So the kernel lets it end when another one waits for that.
static void attend(struct pk_tracer *tracer) {
  int status;
  if (!tracer->is_guarded || waitpid(tracer->process, &status, __WALL | WNOHANG) != tracer->process) return;
  pid_t former = tracer->process;
  int is_end = WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXIT;
  if (!WIFSTOPPED(status)) {
    tracer->is_guarded = 0;
  } else if (!is_end || !atomic_load(&tracer->ring->count)) {
    ptrace(PTRACE_CONT, former, 0, status >> 16 ? 0 : WSTOPSIG(status));
  } else {
    tracer->replaced++;
    int ends[2] = {-1, -1};
    char ready;
    tracer->process = pipe2(ends, O_CLOEXEC) ? -1 : fork();
    if (!tracer->process) {
      hide(tracer, ends[1]);
      inherit(tracer, 1);
      _exit(0);
    }
    close(ends[1]);
    // Or it has ended, too.
    while (read(ends[0], &ready, 1) < 0 && errno == EINTR) {}
    close(ends[0]);
    ptrace(PTRACE_CONT, former, 0, 0);
    while (waitpid(former, &status, __WALL) < 0 && errno == EINTR) {}
    tracer->is_guarded = 0;
    if (tracer->process > 0) pk_tracer_guard(tracer);
  }
}

// Asks the tracer to follow a process. Returns 0 or an errno.
static int ask(const struct pk_tracer *tracer, pid_t process, int is_running) {
  struct demand demand = {process, is_running};
  int error = 0;
  if (send(tracer->socket, &demand, sizeof demand, MSG_NOSIGNAL) != sizeof demand) return errno;
  if (process > 0 && recv(tracer->socket, &error, sizeof error, 0) != sizeof error) return EPIPE;
  return error;
}

int pk_tracer_follow(struct pk_tracer *tracer, uint32_t process) { return ask(tracer, process, 1); }

int pk_tracer_begin(struct pk_tracer *tracer) { return ask(tracer, 0, 0); }

int pk_tracer_join(void *context) {
  struct pk_tracer *tracer = context;
  // Where Yama lets only ancestors trace.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  int error = ask(tracer, getpid(), 0);
  prctl(PR_SET_PTRACER, 0, 0, 0, 0);
  if (!error) error = pk_filter();
  atomic_store(&tracer->ring->failure, error);
  return error;
}

int pk_tracer_failure(const struct pk_tracer *tracer) { return atomic_load(&tracer->ring->failure); }

void pk_tracer_close(struct pk_tracer *tracer) {
  int status;
  if (tracer->is_guarded && !ptrace(PTRACE_INTERRUPT, tracer->process, 0, 0) && waitpid(tracer->process, &status, __WALL) > 0)
    ptrace(PTRACE_DETACH, tracer->process, 0, 0);
  if (tracer->socket >= 0) ask(tracer, -1, 0);
  if (tracer->ring) munmap(tracer->ring, sizeof *tracer->ring);
  if (tracer->wake >= 0) close(tracer->wake);
  if (tracer->socket >= 0) close(tracer->socket);
  free(tracer);
}
