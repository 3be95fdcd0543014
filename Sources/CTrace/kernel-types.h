#ifndef PERMISSIONKIT_KERNEL_TYPES_H
#define PERMISSIONKIT_KERNEL_TYPES_H

#include <stddef.h>

struct bpf_object;

// Opens an object of BPF programs, to be loaded with those structures of the running kernel that it uses, in a file in
// memory: among all of the kernel's types, libbpf needs 30 ms to find them. The file, *types, is to be closed after the
// loading if it is not -1. *id is that of a function of the kernel, or negative. Returns null on failure, with *error.
struct bpf_object *pk_open_object(const void *bytes, size_t size, const char *function, int *id, int *types, int *error);

#endif
