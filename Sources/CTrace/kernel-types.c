#define _GNU_SOURCE
#include "kernel-types.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// A copy of some of the kernel's types.
struct copy {
  const struct btf *kernel;
  struct btf *copied;
  int *ids; // of the copied types, by their ids in the kernel; 0: not copied
  int pointer;
};

// Copies a type, with the types that are in it; what pointers point to is not. Returns its id, or a negative errno.
static int copy(struct copy *copied, uint32_t id) {
  const struct btf_type *type;
  for (; (type = btf__type_by_id(copied->kernel, id)) && (btf_is_mod(type) || btf_is_typedef(type)); id = type->type) {}
  if (!id || !type) return 0;
  if (copied->ids[id]) return copied->ids[id];
  const char *name = btf__name_by_offset(copied->kernel, type->name_off);
  int result = 0;
  if (btf_is_ptr(type)) {
    if (!copied->pointer) copied->pointer = btf__add_ptr(copied->copied, 0);
    return copied->pointer;
  } else if (btf_is_int(type)) {
    result = btf__add_int(copied->copied, name, type->size, btf_int_encoding(type));
  } else if (btf_is_any_enum(type)) {
    result = btf__add_enum(copied->copied, *name ? name : NULL, type->size);
  } else if (btf_is_float(type)) {
    result = btf__add_float(copied->copied, name, type->size);
  } else if (btf_is_array(type)) {
    const struct btf_array *array = btf_array(type);
    int element = copy(copied, array->type), index = copy(copied, array->index_type);
    result = element < 0 ? element : index < 0 ? index : btf__add_array(copied->copied, index, element, array->nelems);
  } else if (btf_is_composite(type)) {
    const struct btf_member *member = btf_members(type);
    for (int i = 0; i < btf_vlen(type); i++) {
      int error = copy(copied, member[i].type);
      if (error < 0) return error;
    }
    const char *own = *name ? name : NULL;
    result = btf_is_union(type) ? btf__add_union(copied->copied, own, type->size) : btf__add_struct(copied->copied, own, type->size);
    for (int i = 0; result > 0 && i < btf_vlen(type); i++) {
      const char *field = btf__name_by_offset(copied->kernel, member[i].name_off);
      int error = btf__add_field(copied->copied, *field ? field : NULL, copy(copied, member[i].type),
                                 btf_member_bit_offset(type, i), btf_member_bitfield_size(type, i));
      if (error < 0) return error;
    }
  }
  if (result > 0) copied->ids[id] = result;
  return result;
}

// The names of the program's structures: most of the kernel's begin with other letters.
struct names {
  const char *names[256];
  uint8_t next[256], first[256]; // places + 1 by the first letter; 0: no more
  int count;
};

static void collect(const struct btf *program, struct names *wanted) {
  for (uint32_t id = 1; id < btf__type_cnt(program) && wanted->count < 255; id++) {
    const struct btf_type *type = btf__type_by_id(program, id);
    const char *name = btf__name_by_offset(program, type->name_off);
    if (!btf_is_struct(type) || !*name) continue;
    uint8_t letter = *name;
    wanted->names[wanted->count] = name;
    wanted->next[wanted->count] = wanted->first[letter];
    wanted->first[letter] = ++wanted->count;
  }
}

static int is_wanted(const struct names *wanted, const char *name) {
  for (int place = wanted->first[(uint8_t)*name]; place; place = wanted->next[place - 1])
    if (!strcmp(wanted->names[place - 1], name)) return 1;
  return 0;
}

// Returns the file with the types that a program uses, or -1 with *error.
static int kernel_types(const struct btf *program, const char *function, int *id, int *error) {
  struct copy copied = {.kernel = btf__load_vmlinux_btf()};
  int file = -1, result = copied.kernel ? 0 : -errno;
  uint32_t count = copied.kernel ? btf__type_cnt(copied.kernel) : 0;
  if (!result) copied.copied = btf__new_empty(), copied.ids = calloc(count, sizeof *copied.ids);
  if (!result && (!copied.copied || !copied.ids)) result = -ENOMEM;
  struct names wanted = {0};
  collect(program, &wanted);
  for (uint32_t id = 1; result >= 0 && id < count; id++) {
    const struct btf_type *type = btf__type_by_id(copied.kernel, id);
    if (!btf_is_struct(type)) continue;
    if (is_wanted(&wanted, btf__name_by_offset(copied.kernel, type->name_off))) result = copy(&copied, id);
  }
  if (function) *id = result < 0 ? result : btf__find_by_name_kind(copied.kernel, function, BTF_KIND_FUNC);
  if (result >= 0) {
    uint32_t size;
    const char *bytes = btf__raw_data(copied.copied, &size);
    file = memfd_create("types of the kernel", MFD_CLOEXEC);
    if (!bytes || file < 0 || write(file, bytes, size) != (ssize_t)size) {
      result = -errno;
      if (file >= 0) close(file);
      file = -1;
    }
  }
  btf__free(copied.copied);
  btf__free((struct btf *)copied.kernel);
  free(copied.ids);
  *error = result < 0 ? -result : 0;
  return file;
}

static int silent(enum libbpf_print_level level, const char *format, va_list arguments) { return 0; }

struct bpf_object *pk_open_object(const void *bytes, size_t size, const char *function, int *id, int *types, int *error) {
  char path[32];
  LIBBPF_OPTS(bpf_object_open_opts, options);
  libbpf_set_print(silent);
  *types = -1;
  struct bpf_object *object = bpf_object__open_mem(bytes, size, &options);
  *error = object ? 0 : errno;
  if (!object) return 0;
  *types = kernel_types(bpf_object__btf(object), function, id, error);
  bpf_object__close(object);
  if (*types >= 0) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", *types);
    if (access(path, R_OK) == 0) options.btf_custom_path = path;
  }
  object = bpf_object__open_mem(bytes, size, &options);
  *error = object ? 0 : errno;
  return object;
}
