// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Reads from the kernel's memory whether a process has a Landlock domain. Nothing is changed.
typedef unsigned char uint8_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long long uint64_t;
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "include/landlock.h"

char LICENSE[] SEC("license") = "GPL";

// What is used of the kernel's types; the loader finds the places in the running kernel by its BTF.
#define CORE __attribute__((preserve_access_index))
struct hlist_node { struct hlist_node *next; } CORE;
struct hlist_head { struct hlist_node *first; } CORE;
struct pid { struct hlist_head tasks[4]; } CORE;
struct inode { unsigned long i_ino; } CORE;
struct proc_inode { struct pid *pid; struct inode vfs_inode; } CORE;
struct file { struct inode *f_inode; } CORE;
struct fdtable { unsigned int max_fds; struct file **fd; } CORE;
struct files_struct { struct fdtable *fdt; } CORE;
struct cred { void *security; } CORE;
struct task_struct { struct hlist_node pid_links[4]; struct cred *cred; struct files_struct *files; } CORE;
struct lsm_blob_sizes { int lbs_cred; } CORE;
struct landlock_cred_security { void *domain; } CORE;
#define PIDTYPE_PID 0

// Where Landlock's part of cred->security begins, see landlock_cred() in security/landlock/cred.h.
static int place = -1;

// Finds the place by the names of the kernel's variables, see kallsyms.
SEC("syscall")
int find_place(void *context) {
  char initialized[] = "landlock_initialized", sizes[] = "landlock_blob_sizes";
  uint64_t address = 0;
  uint8_t has_begun = 0;
  if (bpf_kallsyms_lookup_name(initialized, sizeof initialized, 0, &address)) return PK_UNKNOWN;
  // Before this its size stands where its place will.
  if (bpf_probe_read_kernel(&has_begun, 1, (void *)address) || !has_begun) return PK_UNKNOWN;
  if (bpf_kallsyms_lookup_name(sizes, sizeof sizes, 0, &address)) return PK_UNKNOWN;
  int found = -1;
  if (bpf_core_read(&found, sizeof found, &((struct lsm_blob_sizes *)address)->lbs_cred)) return PK_UNKNOWN;
  place = found;
  return found < 0 ? PK_UNKNOWN : 0;
}

// Answers for the process of a directory of /proc that the reader has open. Runs under RCU.
SEC("raw_tp")
int has_domain(struct bpf_raw_tracepoint_args *context) {
  uint32_t descriptor = context->args[0];
  struct fdtable *table = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), files, fdt);
  if (place < 0 || descriptor >= BPF_CORE_READ(table, max_fds)) return PK_UNKNOWN;
  struct file *file = 0;
  bpf_probe_read_kernel(&file, sizeof file, BPF_CORE_READ(table, fd) + descriptor);
  struct inode *inode = BPF_CORE_READ(file, f_inode);
  if (!inode) return PK_UNKNOWN;
  struct proc_inode *directory = (void *)((char *)inode - bpf_core_field_offset(struct proc_inode, vfs_inode));
  struct pid *pid = BPF_CORE_READ(directory, pid);
  struct hlist_node *link = BPF_CORE_READ(pid, tasks[PIDTYPE_PID].first);
  // It has ended.
  if (!link) return PK_UNKNOWN;
  struct task_struct *task = (void *)((char *)link - bpf_core_field_offset(struct task_struct, pid_links));
  char *security = BPF_CORE_READ(task, cred, security);
  if (!security) return PK_UNKNOWN;
  void *domain = 0;
  if (bpf_core_read(&domain, sizeof domain, &((struct landlock_cred_security *)(security + place))->domain)) return PK_UNKNOWN;
  return domain ? PK_RESTRICTED : PK_UNRESTRICTED;
}
