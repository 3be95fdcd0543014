#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/CTrace.h"
#include "kernel-types.h"

static const unsigned char object[] = {
#include "refusals.inc"
};

// The names are in the table: each pointer would be written anew when permcheck starts.
static const struct { char name[32]; short numbers[3]; struct pk_call call; } calls[] = {
#include "calls.inc"
};
enum { CALLS = sizeof calls / sizeof *calls };

// The operations of io_uring, by opcode; see io_uring_enter(2).
static const char operations[][20] = {
  "nop", "readv", "writev", "fsync", "read", "write", "poll", "poll_remove", "sync_file_range", "sendmsg", "recvmsg",
  "timeout", "timeout_remove", "accept", "cancel", "link_timeout", "connect", "fallocate", "openat", "close",
  "files_update", "statx", "read", "write", "fadvise", "madvise", "send", "recv", "openat2", "epoll_ctl", "splice",
  "provide_buffers", "remove_buffers", "tee", "shutdown", "renameat", "unlinkat", "mkdirat", "symlinkat", "linkat",
  "msg_ring", "fsetxattr", "setxattr", "fgetxattr", "getxattr", "socket", "uring_cmd", "send_zc", "sendmsg_zc",
};

#if defined(__x86_64__)
enum { NATIVE = 0 };
#elif defined(__aarch64__)
enum { NATIVE = 2 };
#else
#error "no numbers of system calls for this machine"
#endif

struct pk_trace {
  struct bpf_object *object;
  struct ring_buffer *ring;
  int processes, state, has_copies;
  void *context;
  void (*take)(void *, const struct pk_refusal *, const char *);
};

static int table(uint32_t kind) { return kind == PK_I386 ? 1 : NATIVE; }

static int find(uint32_t kind, int32_t number) {
  for (int i = 0; i < CALLS; i++) if (calls[i].numbers[table(kind)] == number && number >= 0) return i;
  return -1;
}

const char *pk_call_name(uint32_t kind, int32_t number) {
  if (kind == PK_URING) return number >= 0 && number < (int)(sizeof operations / sizeof *operations) ? operations[number] : 0;
  int index = find(kind, number);
  return index < 0 ? 0 : calls[index].name;
}

const struct pk_call *pk_call_shape(uint32_t kind, int32_t number) {
  int index = kind == PK_URING ? -1 : find(kind, number);
  return index < 0 ? 0 : &calls[index].call;
}

int32_t pk_call_number(uint32_t kind, int index) { return index < CALLS ? calls[index].numbers[table(kind)] : -2; }

static int take(void *context, void *data, size_t size) {
  struct pk_trace *trace = context;
  if (size >= sizeof(struct pk_refusal)) trace->take(trace->context, data, (const char *)data + sizeof(struct pk_refusal));
  return 0;
}

// Whether the kernel takes programs at the end of a function: some do not.
static int takes_functions(int function) {
  struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
  LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FEXIT, .attach_btf_id = function);
  int program = function > 0 ? bpf_prog_load(BPF_PROG_TYPE_TRACING, "probe", "GPL", nothing, 2, &options) : -1;
  if (program >= 0) close(program);
  return program >= 0;
}

// The function at whose end a program is, by its id in the kernel's BTF; libbpf would read all of that again to find it.
static _Atomic int getname_id;
static int end_of_getname(struct bpf_program *program, struct bpf_prog_load_opts *options, long cookie) {
  options->attach_btf_id = getname_id;
  return 0;
}

// The objects point to what is registered, so it stays.
static void register_handler(void) {
  LIBBPF_OPTS(libbpf_prog_handler_opts, handler, .prog_prepare_load_fn = end_of_getname);
  libbpf_register_prog_handler("getname_ended", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT, &handler);
}

// Loads the programs, with the kernel's copies of paths if it allows that. Returns 0 or an errno.
static int load(struct pk_trace *trace) {
  int function = -1, types, error;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_handler);
  trace->object = pk_open_object(object, sizeof object, "getname_flags", &function, &types, &error);
  if (trace->object) {
    getname_id = function;
    struct bpf_program *program = bpf_object__find_program_by_name(trace->object, "path_copied");
    trace->has_copies = takes_functions(function);
    if (!trace->has_copies && program) bpf_program__set_autoload(program, false);
    error = -bpf_object__load(trace->object);
  }
  if (types >= 0) close(types);
  return error;
}

static int fill(struct pk_trace *trace, const char *map, int table) {
  int file = bpf_object__find_map_fd_by_name(trace->object, map);
  for (int i = 0; i < CALLS; i++) {
    uint32_t number = calls[i].numbers[table];
    if (calls[i].numbers[table] < 0 || number >= 512 || !(calls[i].call.path || calls[i].call.is & ~PK_PASSED)) continue;
    if (bpf_map_update_elem(file, &number, &calls[i].call, BPF_ANY)) return errno;
  }
  return 0;
}

// Tells the programs whose numbers of processes count. Returns 0 or an errno.
static int share(struct pk_trace *trace) {
  struct bpf_map *data = bpf_object__find_map_by_name(trace->object, ".bss");
  struct bpf_program *program = bpf_object__find_program_by_name(trace->object, "reader");
  if (!data || !program) return ENOENT;
  trace->state = bpf_map__fd(data);
  uint64_t unused[2] = {0};
  LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = unused, .ctx_size_in = sizeof unused);
  if (bpf_prog_test_run_opts(bpf_program__fd(program), &options)) return errno;
  return options.retval ? EINVAL : 0;
}

static int attach(struct pk_trace *trace) {
  struct bpf_program *program;
  bpf_object__for_each_program(program, trace->object) {
    if (!bpf_program__autoload(program)) continue;
    if (!strcmp(bpf_program__name(program), "reader")) continue;
    struct bpf_link *link = !strcmp(bpf_program__name(program), "path_copied") ? bpf_program__attach_trace(program) : bpf_program__attach(program);
    // A tracepoint has another name in another version of the kernel.
    if (!link && !(errno == ENOENT && !strncmp(bpf_program__name(program), "request_", 8))) return errno;
  }
  return 0;
}

struct pk_trace *pk_trace_open(int *error, const char **step) {
  struct pk_trace *trace = calloc(1, sizeof *trace);
  if (!trace) {
    *error = ENOMEM, *step = "malloc";
    return 0;
  }
#ifdef __x86_64__
  *step = "load the BPF programs";
  *error = load(trace);
#else
  // The BPF programs read the registers of x86-64.
  *step = "read the registers of this machine";
  *error = EOPNOTSUPP;
#endif
  if (!*error) *step = "fill the table of calls", *error = fill(trace, "calls", NATIVE);
  if (!*error) *error = fill(trace, "calls_i386", 1);
  if (!*error) {
    *step = "make the buffer";
    trace->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(trace->object, "refusals"), take, trace, 0);
    *error = trace->ring ? 0 : errno;
  }
  if (!*error) trace->processes = bpf_object__find_map_fd_by_name(trace->object, "processes");
  if (!*error) *step = "run a BPF program", *error = share(trace);
  if (!*error) *step = "attach the BPF programs", *error = attach(trace);
  if (*error) {
    pk_trace_close(trace);
    return 0;
  }
  return trace;
}

int pk_trace_follow(struct pk_trace *trace, uint32_t process) {
  unsigned char one = 1;
  return bpf_map_update_elem(trace->processes, &process, &one, BPF_ANY) ? errno : 0;
}

int pk_trace_leave(struct pk_trace *trace, uint32_t process) {
  return bpf_map_delete_elem(trace->processes, &process) && errno != ENOENT ? errno : 0;
}

int pk_trace_descriptor(const struct pk_trace *trace) { return ring_buffer__epoll_fd(trace->ring); }

int pk_trace_read(struct pk_trace *trace, void *context, void (*take)(void *, const struct pk_refusal *, const char *)) {
  trace->context = context, trace->take = take;
  int count = ring_buffer__consume(trace->ring);
  return count < 0 ? -count : 0;
}

uint64_t pk_trace_lost(const struct pk_trace *trace) {
  uint32_t zero = 0;
  struct pk_state state;
  return bpf_map_lookup_elem(trace->state, &zero, &state) ? 0 : state.lost;
}

int pk_trace_has_copies(const struct pk_trace *trace) { return trace->has_copies; }

void pk_trace_close(struct pk_trace *trace) {
  if (trace->ring) ring_buffer__free(trace->ring);
  if (trace->object) bpf_object__close(trace->object);
  free(trace);
}
