// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Keeps the refusals of a traced tree of processes: the result of each system call and each completion of
// io_uring, with everything that decides it, as it is at that moment. Nothing is stopped or changed.
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long long uint64_t;
#define bool _Bool
#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/version.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "include/refusal.h"

char LICENSE[] SEC("license") = "GPL";

// What is used of the kernel's types; the loader finds the places in the running kernel by its BTF.
#define CORE __attribute__((preserve_access_index))
struct qstr { const unsigned char *name; } CORE;
struct super_block { uint32_t s_dev; } CORE;
struct inode { unsigned long i_ino; struct super_block *i_sb; } CORE;
struct dentry { struct dentry *d_parent; struct qstr d_name; struct inode *d_inode; } CORE;
struct vfsmount { struct dentry *mnt_root; } CORE;
struct mount { struct mount *mnt_parent; struct dentry *mnt_mountpoint; struct vfsmount mnt; } CORE;
struct path { struct vfsmount *mnt; struct dentry *dentry; } CORE;
struct fs_struct { struct path root, pwd; } CORE;
struct file { struct path f_path; } CORE;
struct fdtable { unsigned int max_fds; struct file **fd; } CORE;
struct files_struct { struct fdtable *fdt; } CORE;
struct ns_common { unsigned int inum; } CORE;
struct mnt_namespace { struct ns_common ns; } CORE;
struct user_namespace { struct ns_common ns; } CORE;
struct nsproxy { struct mnt_namespace *mnt_ns; } CORE;
struct id { uint32_t val; };
struct group_info { int ngroups; struct id gid[]; } CORE;
struct cred {
  struct id uid, gid, suid, sgid, euid, egid, fsuid, fsgid;
  struct { uint64_t val; } cap_permitted, cap_effective;
  struct user_namespace *user_ns;
  struct group_info *group_info;
} CORE;
struct thread_info { uint32_t status; } CORE;
struct counter { int counter; };
struct signal_struct { struct counter live; } CORE;
struct pid_namespace;
struct upid { int nr; struct pid_namespace *ns; } CORE;
struct pid { unsigned int level; struct upid numbers[]; } CORE;
struct task_struct {
  struct thread_info thread_info;
  int pid, tgid;
  struct task_struct *group_leader;
  struct pid *thread_pid;
  struct fs_struct *fs;
  struct files_struct *files;
  struct nsproxy *nsproxy;
  struct cred *cred;
  struct signal_struct *signal;
} CORE;
struct filename { const char *name; const char *uptr; } CORE;
struct io_cmd_data;
struct io_kiocb { uint8_t opcode; struct { long first; } cmd; } CORE;
// struct pt_regs of x86-64, which is part of the kernel's ABI (ptrace(2)).
struct registers { uint64_t r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax; };
#define TS_COMPAT 2

#define PATH_MAX 4096
#define NAME_MAX 256
#define AT_FDCWD -100
#define AF_UNIX 1

struct output {
  struct pk_refusal refusal;
  // The strings; none begins after the first 16,384 bytes.
  char bytes[4 * PATH_MAX + PATH_MAX];
};
// The last paths that a thread handed to the kernel, as the kernel copied them: another thread may have
// changed them by the time that the call returns.
struct handed {
  struct { uint64_t pointer; uint32_t length; char name[PATH_MAX]; } paths[2];
  uint32_t next;
};

struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 1 << 23); } refusals SEC(".maps");
// The traced processes.
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 1 << 16); __type(key, uint32_t); __type(value, uint8_t); } processes SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 512); __type(key, uint32_t); __type(value, struct pk_call); } calls SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_ARRAY); __uint(max_entries, 512); __type(key, uint32_t); __type(value, struct pk_call); } calls_i386 SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); __uint(max_entries, 1); __type(key, uint32_t); __type(value, struct output); } outputs SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); __uint(max_entries, 1); __type(key, uint32_t); __type(value, char[2 * NAME_MAX]); } names SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_TASK_STORAGE); __uint(map_flags, BPF_F_NO_PREALLOC); __type(key, int); __type(value, struct handed); } handed_over SEC(".maps");
// A request of io_uring that has not ended.
struct request {
  int directory, second_directory, has_second;
  char path[PATH_MAX], second_path[PATH_MAX];
};
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 4096); __uint(map_flags, BPF_F_NO_PREALLOC); __type(key, uint64_t); __type(value, struct request); } requests SEC(".maps");
struct { __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); __uint(max_entries, 1); __type(key, uint32_t); __type(value, struct request); } requested SEC(".maps");

extern int LINUX_KERNEL_VERSION __kconfig;

struct pk_state state;

static __always_inline bool is_traced(uint32_t process) { return bpf_map_lookup_elem(&processes, &process) != 0; }

// --- Numbers of processes -------------------------------------------------------------------------

static __always_inline struct upid *number_at(struct pid *pid, uint32_t level) {
  return (void *)((char *)pid + bpf_core_field_offset(struct pid, numbers) + level * bpf_core_type_size(struct upid));
}

// The number of a task as the reader sees it; 0 if it does not.
static __always_inline uint32_t number_of(struct task_struct *task) {
  struct pid *pid = BPF_CORE_READ(task, thread_pid);
  uint32_t level = state.level;
  // One that has been waited for has no number any more.
  if (!pid || level > 32 || level > BPF_CORE_READ(pid, level)) return 0;
  struct upid *here = number_at(pid, level);
  return (uint64_t)BPF_CORE_READ(here, ns) == state.namespace ? BPF_CORE_READ(here, nr) : 0;
}

// The number of the current process as the reader sees it.
static __always_inline uint32_t current_process(void) {
  if (!state.level) return bpf_get_current_pid_tgid() >> 32;
  return number_of(BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), group_leader));
}

// Is run by the reader, whose pid namespace counts.
SEC("raw_tp")
int reader(void *context) {
  struct pid *pid = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), thread_pid);
  uint32_t level = BPF_CORE_READ(pid, level);
  if (level > 32) return 1;
  struct upid *here = number_at(pid, level);
  state.namespace = (uint64_t)BPF_CORE_READ(here, ns);
  state.level = level;
  return 0;
}

// --- Strings --------------------------------------------------------------------------------------

struct walk { struct dentry *dentry; struct mount *mount; uint32_t used; };

// One step towards the root directory: appends a name, or goes to where the file system is mounted.
static long step(uint32_t number, struct walk *walk) {
  uint32_t zero = 0;
  char *name = bpf_map_lookup_elem(&names, &zero);
  struct output *out = bpf_map_lookup_elem(&outputs, &zero);
  if (!name || !out) return 1;
  struct dentry *dentry = walk->dentry;
  struct mount *mount = walk->mount;
  struct dentry *parent = BPF_CORE_READ(dentry, d_parent);
  if (dentry == BPF_CORE_READ(mount, mnt.mnt_root) || dentry == parent) {
    struct mount *above = BPF_CORE_READ(mount, mnt_parent);
    if (above == mount) return 1;
    walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
    walk->mount = above;
    return 0;
  }
  long length = bpf_probe_read_kernel_str(name, NAME_MAX, BPF_CORE_READ(dentry, d_name.name));
  if (length <= 0) return 1;
  uint32_t used = walk->used;
  if (used >= 4 * PATH_MAX) return 1;
  bpf_probe_read_kernel(&out->bytes[used], length & (NAME_MAX - 1) ?: NAME_MAX, name);
  walk->used = used + length;
  walk->dentry = parent;
  return 0;
}

static __always_inline struct output *output(void) {
  uint32_t zero = 0;
  return bpf_map_lookup_elem(&outputs, &zero);
}

// The following functions are global, so that the verifier looks at each of them once.

// Appends the names of a directory: of a descriptor, or of the working directory (AT_FDCWD). Returns how many
// bytes there are then.
__noinline int append_directory(int descriptor, uint32_t used, uint32_t slot) {
  struct output *out = output();
  if (!out || slot > 3 || used > 4 * PATH_MAX) return 0;
  struct task_struct *task = (void *)bpf_get_current_task();
  out->refusal.lengths[slot] = PK_UNREADABLE;
  struct path path;
  if (descriptor == AT_FDCWD) {
    struct fs_struct *fs = BPF_CORE_READ(task, fs);
    bpf_core_read(&path, sizeof path, &fs->pwd);
  } else {
    struct fdtable *table = BPF_CORE_READ(task, files, fdt);
    if (descriptor < 0 || (uint32_t)descriptor >= BPF_CORE_READ(table, max_fds)) return used;
    struct file *file = 0;
    bpf_probe_read_kernel(&file, sizeof file, BPF_CORE_READ(table, fd) + descriptor);
    if (!file) return used;
    bpf_core_read(&path, sizeof path, &file->f_path);
  }
  struct walk walk = {
    .dentry = path.dentry, .used = used,
    .mount = (void *)((char *)path.mnt - bpf_core_field_offset(struct mount, mnt)),
  };
  if (slot == 2) {
    struct dentry *dentry = walk.dentry;
    struct inode *inode = BPF_CORE_READ(dentry, d_inode);
    out->refusal.directory_inode = BPF_CORE_READ(inode, i_ino);
    out->refusal.directory_device = BPF_CORE_READ(inode, i_sb, s_dev);
  }
  bpf_loop(512, step, &walk, 0);
  uint32_t end = walk.used;
  if (end > 4 * PATH_MAX + NAME_MAX || end < used) end = used;
  out->refusal.lengths[slot] = end - used;
  return end;
}

// Appends a path: the kernel's copy if there is one.
__noinline int append_path(uint64_t pointer, uint32_t used, uint32_t slot) {
  struct output *out = output();
  if (!out || slot > 3 || used > 4 * PATH_MAX) return 0;
  struct handed *handed = bpf_task_storage_get(&handed_over, bpf_get_current_task_btf(), 0, 0);
  long length = -1;
  char *copy = 0;
  if (handed) {
    // The later one first: both may be at one place.
    if (handed->next & 1) copy = handed->paths[0].pointer == pointer ? handed->paths[0].name : handed->paths[1].pointer == pointer ? handed->paths[1].name : 0;
    else copy = handed->paths[1].pointer == pointer ? handed->paths[1].name : handed->paths[0].pointer == pointer ? handed->paths[0].name : 0;
  }
  if (copy) length = bpf_probe_read_kernel_str(&out->bytes[used], PATH_MAX, copy);
  if (length <= 0) length = bpf_probe_read_user_str(&out->bytes[used], PATH_MAX, (void *)pointer);
  out->refusal.lengths[slot] = PK_UNREADABLE;
  if (length <= 0) return used;
  out->refusal.lengths[slot] = length - 1;
  return used + (length - 1);
}

// --- One refusal ----------------------------------------------------------------------------------

// Notes who was refused.
__noinline int describe(uint32_t error) {
  struct output *out = output();
  if (!out) return 0;
  struct pk_refusal *refusal = &out->refusal;
  struct task_struct *task = (void *)bpf_get_current_task();
  uint64_t ids = bpf_get_current_pid_tgid();
  refusal->time = bpf_ktime_get_ns();
  refusal->process = current_process();
  refusal->thread = state.level ? number_of(task) : (uint32_t)ids;
  refusal->error = error;
  bpf_get_current_comm(refusal->name, sizeof refusal->name);
  struct cred *cred = BPF_CORE_READ(task, cred);
  refusal->user[0] = BPF_CORE_READ(cred, uid.val);
  refusal->user[1] = BPF_CORE_READ(cred, euid.val);
  refusal->user[2] = BPF_CORE_READ(cred, suid.val);
  refusal->user[3] = BPF_CORE_READ(cred, fsuid.val);
  refusal->group[0] = BPF_CORE_READ(cred, gid.val);
  refusal->group[1] = BPF_CORE_READ(cred, egid.val);
  refusal->group[2] = BPF_CORE_READ(cred, sgid.val);
  refusal->group[3] = BPF_CORE_READ(cred, fsgid.val);
  bpf_probe_read_kernel(&refusal->effective, 8, (char *)cred + bpf_core_field_offset(struct cred, cap_effective));
  bpf_probe_read_kernel(&refusal->permitted, 8, (char *)cred + bpf_core_field_offset(struct cred, cap_permitted));
  refusal->user_namespace = BPF_CORE_READ(cred, user_ns, ns.inum);
  refusal->mount_namespace = BPF_CORE_READ(task, nsproxy, mnt_ns, ns.inum);
  struct group_info *info = BPF_CORE_READ(cred, group_info);
  uint32_t count = BPF_CORE_READ(info, ngroups);
  refusal->groups = count;
  if (count > PK_GROUPS) count = PK_GROUPS;
  bpf_probe_read_kernel(refusal->group_ids, count * 4, (char *)info + bpf_core_field_offset(struct group_info, gid));
  struct inode *root = BPF_CORE_READ(task, fs, root.dentry, d_inode);
  refusal->root_inode = BPF_CORE_READ(root, i_ino);
  refusal->root_device = BPF_CORE_READ(root, i_sb, s_dev);
  return 0;
}

static __always_inline bool is_refusal(long result) { return result == -EPERM || result == -EACCES || result == -EROFS; }
// Refusals only where the path leads to a device or a socket.
static __always_inline bool is_device_failure(long result) {
  return result == -ENXIO || result == -ENODEV || result == -EBUSY || result == -ENOENT;
}

static __always_inline bool begins_in_dev(const char *path) {
  return path[0] == '/' && path[1] == 'd' && path[2] == 'e' && path[3] == 'v' && (path[4] == '/' || path[4] == 0);
}

// Whether a directory, written backwards, is /dev or below it.
static __always_inline bool is_below_dev(struct output *out, uint32_t begin, uint32_t end) {
  if (end < begin + 4 || end > 4 * PATH_MAX) return 0;
  char last[5] = {0};
  if (end == begin + 4) bpf_probe_read_kernel(last + 1, 4, &out->bytes[end - 4]);
  else bpf_probe_read_kernel(last, 5, &out->bytes[end - 5]);
  return last[0] == 0 && last[1] == 'd' && last[2] == 'e' && last[3] == 'v' && last[4] == 0;
}

// How much waits before the reader is woken: each waking takes time from the program.
#define ENOUGH (1 << 20)

static __always_inline void send(struct output *out, uint32_t used) {
  // The compiler knows what the functions above return; the verifier does not.
  barrier_var(used);
  if (used > 4 * PATH_MAX + NAME_MAX) used = 0;
  uint64_t wakes = bpf_ringbuf_query(&refusals, BPF_RB_AVAIL_DATA) < ENOUGH ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP;
  if (bpf_ringbuf_output(&refusals, out, sizeof(struct pk_refusal) + used, wakes)) __sync_fetch_and_add(&state.lost, 1);
}

// An argument by its number, counted from 1.
static __always_inline uint64_t argument(struct pk_refusal *refusal, uint8_t number) {
  return refusal->arguments[(number - 1) & 7];
}

// Appends the path or the abstract name of a unix(7) socket. Returns its length; -1 for another address.
__noinline int append_address(uint64_t pointer, uint64_t length) {
  struct output *out = output();
  uint16_t family = 0;
  if (!out || bpf_probe_read_user(&family, 2, (void *)pointer) || family != AF_UNIX) return -1;
  // sun_path need not end in a zero byte; an abstract name begins with one.
  length = length < 2 ? 0 : length - 2;
  if (length > 108) length = 108;
  if (length && bpf_probe_read_user(out->bytes, length, (void *)(pointer + 2))) length = 0;
  out->refusal.lengths[0] = length;
  return length;
}

// Whether the path, or else the directory in these bytes, is /dev or below it.
__noinline int is_in_dev(uint32_t begin, uint32_t end) {
  struct output *out = output();
  if (!out) return 0;
  if (begins_in_dev(out->bytes)) return 1;
  return is_below_dev(out, begin, end);
}

#define I386_SOCKETCALL 102
// socketcall(2) is several calls in one: puts the call and its arguments in its place. Returns its number.
static __always_inline uint32_t one_of_socketcall(struct pk_refusal *refusal) {
  uint32_t given[6] = {0}, number, count = 3;
  switch (refusal->arguments[0]) {
  case 2: number = 361; break; // bind
  case 3: number = 362; break; // connect
  case 11: number = 369, count = 6; break; // sendto
  default: return I386_SOCKETCALL;
  }
  if (bpf_probe_read_user(given, count == 6 ? 24 : 12, (void *)refusal->arguments[1])) return I386_SOCKETCALL;
  for (int i = 0; i < 6; i++) refusal->arguments[i] = given[i];
  return number;
}

SEC("raw_tp/sys_exit")
int call_ended(struct bpf_raw_tracepoint_args *context) {
  long result = context->args[1];
  if (result >= 0 || result < -ECONNREFUSED) return 0;
  if (!is_refusal(result) && !is_device_failure(result) && result != -ECONNREFUSED) return 0;
  if (!is_traced(current_process())) return 0;
  struct output *out = output();
  if (!out) return 0;
  struct pk_refusal *refusal = &out->refusal;
  struct registers registers;
  bpf_probe_read_kernel(&registers, sizeof registers, (void *)context->args[0]);
  struct task_struct *task = (void *)bpf_get_current_task();
  // A task of 64 bits may call int $0x80, too.
  bool is_i386 = (BPF_CORE_READ(task, thread_info.status) & TS_COMPAT) != 0;
  uint32_t number = registers.orig_ax;
  refusal->kind = is_i386 ? PK_I386 : PK_NATIVE;
  refusal->number = number;
  if (is_i386) {
    refusal->arguments[0] = (uint32_t)registers.bx;
    refusal->arguments[1] = (uint32_t)registers.cx;
    refusal->arguments[2] = (uint32_t)registers.dx;
    refusal->arguments[3] = (uint32_t)registers.si;
    refusal->arguments[4] = (uint32_t)registers.di;
    refusal->arguments[5] = (uint32_t)registers.bp;
  } else {
    refusal->arguments[0] = registers.di;
    refusal->arguments[1] = registers.si;
    refusal->arguments[2] = registers.dx;
    refusal->arguments[3] = registers.r10;
    refusal->arguments[4] = registers.r8;
    refusal->arguments[5] = registers.r9;
  }
  if (is_i386 && number == I386_SOCKETCALL) number = refusal->number = one_of_socketcall(refusal);
  struct pk_call *known = is_i386 ? bpf_map_lookup_elem(&calls_i386, &number) : bpf_map_lookup_elem(&calls, &number);
  struct pk_call call = {0};
  if (known) call = *known;
  if (!is_refusal(result) && !call.path && !(call.is & PK_OBJECT)) return 0;
  for (int slot = 0; slot < 4; slot++) refusal->lengths[slot] = 0;
  refusal->directory_inode = 0;
  refusal->directory_device = 0;
  int used = 0;
  bool is_relative = 1;
  if (call.is & PK_ADDRESS) {
    used = append_address(argument(refusal, call.path), argument(refusal, call.path + 1));
    is_relative = used > 0 && out->bytes[0] != '/' && out->bytes[0] != 0;
    if (used < 0) used = 0;
    if (!used && !is_refusal(result)) return 0;
    if (is_device_failure(result) && !is_relative && !begins_in_dev(out->bytes)) return 0;
  } else if (result == -ECONNREFUSED) {
    return 0;
  } else if (call.path) {
    used = append_path(argument(refusal, call.path), 0, 0);
    is_relative = refusal->lengths[0] != PK_UNREADABLE && (refusal->lengths[0] == 0 || out->bytes[0] != '/');
    // Most lookups that fail are of names that are nowhere.
    if (is_device_failure(result) && !is_relative && !begins_in_dev(out->bytes)) return 0;
  }
  if (call.second_path) used = append_path(argument(refusal, call.second_path), used, 1);
  if (is_relative && (call.path || call.is & PK_OBJECT)) {
    int begin = used;
    used = append_directory(call.directory ? (int)argument(refusal, call.directory) : AT_FDCWD, used, 2);
    if (is_device_failure(result) && !is_in_dev(begin, used)) return 0;
  }
  if (call.second_path) {
    used = append_directory(call.second_directory ? (int)argument(refusal, call.second_directory) : AT_FDCWD, used, 3);
  }
  describe(-result);
  send(out, used);
  return 0;
}

// --- The kernel's copies of paths -----------------------------------------------------------------

SEC("getname_ended")
int BPF_PROG(path_copied, const char *pointer, int flags, struct filename *name) {
  if (!is_traced(current_process())) return 0;
  if (!name || (unsigned long)name >= (unsigned long)-4095) return 0;
  struct handed *handed = bpf_task_storage_get(&handed_over, bpf_get_current_task_btf(), 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!handed) return 0;
  uint32_t next = handed->next & 1;
  handed->next = next ^ 1;
  handed->paths[next].pointer = (uint64_t)pointer;
  bpf_probe_read_kernel_str(handed->paths[next].name, PATH_MAX, BPF_CORE_READ(name, name));
  return 0;
}

// --- io_uring -------------------------------------------------------------------------------------

// What a request is about, from the structure of its operation: the kernel's copies of its paths.
struct io_open { int dfd; struct filename *filename; } CORE;
struct io_statx { int dfd; struct filename *filename; } CORE;
struct io_unlink { int dfd; struct filename *filename; } CORE;
struct io_mkdir { int dfd; struct filename *filename; } CORE;
struct io_rename { int old_dfd, new_dfd; struct filename *oldpath, *newpath; } CORE;
struct io_link { int old_dfd, new_dfd; struct filename *oldpath, *newpath; } CORE;
struct io_xattr { struct filename *filename; } CORE;

static __always_inline int request_submitted(struct io_kiocb *request) {
  if (!is_traced(current_process())) return 0;
  void *body = (char *)request + bpf_core_field_offset(struct io_kiocb, cmd);
  struct filename *first = 0, *second = 0;
  uint32_t zero = 0;
  struct request *kept = bpf_map_lookup_elem(&requested, &zero);
  if (!kept) return 0;
  kept->directory = kept->second_directory = AT_FDCWD;
  switch (BPF_CORE_READ(request, opcode)) {
  case 18: case 28: // openat, openat2
    first = BPF_CORE_READ((struct io_open *)body, filename), kept->directory = BPF_CORE_READ((struct io_open *)body, dfd);
    break;
  case 21: // statx
    first = BPF_CORE_READ((struct io_statx *)body, filename), kept->directory = BPF_CORE_READ((struct io_statx *)body, dfd);
    break;
  case 35: // renameat
    first = BPF_CORE_READ((struct io_rename *)body, oldpath), kept->directory = BPF_CORE_READ((struct io_rename *)body, old_dfd);
    second = BPF_CORE_READ((struct io_rename *)body, newpath), kept->second_directory = BPF_CORE_READ((struct io_rename *)body, new_dfd);
    break;
  case 36: // unlinkat
    first = BPF_CORE_READ((struct io_unlink *)body, filename), kept->directory = BPF_CORE_READ((struct io_unlink *)body, dfd);
    break;
  case 37: // mkdirat
    first = BPF_CORE_READ((struct io_mkdir *)body, filename), kept->directory = BPF_CORE_READ((struct io_mkdir *)body, dfd);
    break;
  case 38: // symlinkat: the first path is no path, but what is written into the link
    first = BPF_CORE_READ((struct io_link *)body, newpath), kept->directory = BPF_CORE_READ((struct io_link *)body, new_dfd);
    break;
  case 39: // linkat
    first = BPF_CORE_READ((struct io_link *)body, oldpath), kept->directory = BPF_CORE_READ((struct io_link *)body, old_dfd);
    second = BPF_CORE_READ((struct io_link *)body, newpath), kept->second_directory = BPF_CORE_READ((struct io_link *)body, new_dfd);
    break;
  case 42: case 44: // setxattr, getxattr
    first = BPF_CORE_READ((struct io_xattr *)body, filename);
    break;
  default: return 0;
  }
  kept->has_second = second != 0;
  if (bpf_probe_read_kernel_str(kept->path, PATH_MAX, BPF_CORE_READ(first, name)) <= 0) return 0;
  if (second && bpf_probe_read_kernel_str(kept->second_path, PATH_MAX, BPF_CORE_READ(second, name)) <= 0) return 0;
  uint64_t key = (uint64_t)request;
  if (bpf_map_update_elem(&requests, &key, kept, BPF_ANY)) __sync_fetch_and_add(&state.lost, 1);
  return 0;
}
SEC("raw_tp/io_uring_submit_req")
int request_6_4(struct bpf_raw_tracepoint_args *context) { return request_submitted((void *)context->args[0]); }
SEC("raw_tp/io_uring_submit_sqe")
int request_6_1(struct bpf_raw_tracepoint_args *context) { return request_submitted((void *)context->args[0]); }

__noinline int send_request(uint64_t key, int error) {
  struct output *out = output();
  if (!out) return 0;
  struct request *request = bpf_map_lookup_elem(&requests, &key);
  int used = 0;
  if (request) {
    long length = bpf_probe_read_kernel_str(out->bytes, PATH_MAX, request->path);
    used = length > 0 ? length - 1 : 0;
    out->refusal.lengths[0] = used;
    if (request->has_second) {
      length = bpf_probe_read_kernel_str(&out->bytes[used], PATH_MAX, request->second_path);
      out->refusal.lengths[1] = length > 0 ? length - 1 : 0;
      used += out->refusal.lengths[1];
    }
    used = append_directory(request->directory, used, 2);
    if (request->has_second) used = append_directory(request->second_directory, used, 3);
  } else {
    out->refusal.lengths[0] = PK_UNREADABLE;
  }
  describe(error);
  if (used < 0) used = 0;
  send(out, used);
  return 0;
}

static __always_inline int request_ended(struct io_kiocb *request, int result) {
  if (!request) return 0;
  uint64_t key = (uint64_t)request;
  if (is_refusal(result) && is_traced(current_process())) {
    struct output *out = output();
    if (!out) return 0;
    __builtin_memset(&out->refusal, 0, sizeof out->refusal);
    out->refusal.kind = PK_URING;
    out->refusal.number = BPF_CORE_READ(request, opcode);
    send_request(key, -result);
  }
  bpf_map_delete_elem(&requests, &key);
  return 0;
}
SEC("raw_tp/io_uring_complete")
int request_completed(struct bpf_raw_tracepoint_args *context) {
  // Since 6.14 the third argument is the completion itself; before it is user_data, and the fourth the result.
  struct { uint64_t data; int result; } completion;
  if (LINUX_KERNEL_VERSION < KERNEL_VERSION(6, 14, 0)) return request_ended((void *)context->args[1], context->args[3]);
  if (bpf_probe_read_kernel(&completion, sizeof completion, (void *)context->args[2])) return 0;
  return request_ended((void *)context->args[1], completion.result);
}

// --- The tree of processes ------------------------------------------------------------------------

SEC("raw_tp/sched_process_fork")
int forked(struct bpf_raw_tracepoint_args *context) {
  struct task_struct *parent = (void *)context->args[0], *child = (void *)context->args[1];
  uint32_t from = BPF_CORE_READ(parent, tgid), to = BPF_CORE_READ(child, tgid);
  uint8_t one = 1;
  // A thread is no process.
  if (from == to) return 0;
  if (state.level) {
    from = number_of(BPF_CORE_READ(parent, group_leader));
    to = number_of(child);
  }
  if (is_traced(from) && bpf_map_update_elem(&processes, &to, &one, BPF_ANY)) __sync_fetch_and_add(&state.lost, 1);
  return 0;
}

SEC("raw_tp/sched_process_exit")
int exited(struct bpf_raw_tracepoint_args *context) {
  struct task_struct *task = (void *)context->args[0];
  uint32_t process = current_process();
  if (BPF_CORE_READ(task, signal, live.counter) == 0) bpf_map_delete_elem(&processes, &process);
  return 0;
}
