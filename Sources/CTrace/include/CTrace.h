// Refusals of running programs, seen by BPF programs in the kernel. See bpf(2) and libbpf.
#ifndef PERMISSIONKIT_CTRACE_H
#define PERMISSIONKIT_CTRACE_H

#include "landlock.h"
#include "refusal.h"

struct pk_trace;

// Loads and attaches the BPF programs. Wants CAP_BPF and CAP_PERFMON, and a kernel with BTF.
// Returns null on failure: then *error is the errno, and *step what failed.
struct pk_trace *pk_trace_open(int *error, const char **step);
// Begins to follow a process, with all its threads and what it will start. Its number is that in this process's pid
// namespace. Returns 0 or an errno.
int pk_trace_follow(struct pk_trace *trace, uint32_t process);
// Ends to follow a process, but not what it has started. Returns 0 or an errno.
int pk_trace_leave(struct pk_trace *trace, uint32_t process);
// Wakes who waits for it when a megabyte of refusals waits to be read.
int pk_trace_descriptor(const struct pk_trace *trace);
// Hands over the refusals so far. Returns 0 or an errno.
int pk_trace_read(struct pk_trace *trace, void *context, void (*take)(void *context, const struct pk_refusal *refusal, const char *strings));
// How many refusals did not fit into the buffer, and processes into the table.
uint64_t pk_trace_lost(const struct pk_trace *trace);
// Whether the paths are the kernel's own copies; otherwise they are read when the call ends, and another thread
// may have changed them meanwhile.
int pk_trace_has_copies(const struct pk_trace *trace);
void pk_trace_close(struct pk_trace *trace);

// The name of a system call or of an opcode of io_uring; null if it is newer than this table.
const char *pk_call_name(uint32_t kind, int32_t number);
// Which arguments of the call are paths; null as above.
const struct pk_call *pk_call_shape(uint32_t kind, int32_t number);
// The number of a system call by its place in the table: -1 if this machine has none, -2 after the last one.
int32_t pk_call_number(uint32_t kind, int index);

// The same without BPF: a filter (seccomp) and a process that traces by ptrace.
struct pk_tracer;

// Starts the process that traces, in a session of its own. `kills`: if it or this process is killed, the traced
// processes are, too. Returns null on failure, with *error.
struct pk_tracer *pk_tracer_open(int kills, int *error);
// Before pk_tracer_join, and not with `kills`: if the process that traces is killed, pk_tracer_read starts another one.
// Returns 0 or an errno: then nothing is done about it.
int pk_tracer_guard(struct pk_tracer *tracer);
// For a child of this process, before execve(2): it and what it starts are traced from here on. `context` is the
// tracer. Returns 0 or an errno.
int pk_tracer_join(void *context);
// Why the last child could not join: an errno, or 0.
int pk_tracer_failure(const struct pk_tracer *tracer);
// Begins to trace a process that runs already. Returns 0 or an errno.
int pk_tracer_follow(struct pk_tracer *tracer, uint32_t process);
// After the last one of these. Returns 0 or an errno.
int pk_tracer_begin(struct pk_tracer *tracer);
// As those of pk_trace.
int pk_tracer_descriptor(const struct pk_tracer *tracer);
int pk_tracer_read(struct pk_tracer *tracer, void *context, void (*take)(void *context, const struct pk_refusal *refusal, const char *strings));
uint64_t pk_tracer_lost(const struct pk_tracer *tracer);
// How often the process that traces was killed, and replaced.
int pk_tracer_replaced(const struct pk_tracer *tracer);
// Those that were followed by pk_tracer_follow go on alone; what a command has left is traced to its end.
void pk_tracer_close(struct pk_tracer *tracer);

struct pk_landlock;

// Loads the BPF programs that read whether a process has a Landlock domain. Wants the same, and a kernel that names its
// variables (CONFIG_KALLSYMS_ALL). Returns null on failure, with *error.
struct pk_landlock *pk_landlock_open(int *error);
// Returns PK_RESTRICTED, PK_UNRESTRICTED or PK_UNKNOWN for the process, or the thread, of an open directory of proc(5).
int pk_landlock_has_domain(const struct pk_landlock *landlock, int directory);
void pk_landlock_close(struct pk_landlock *landlock);

#endif
