#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <linux/magic.h>
#include <unistd.h>

#include "include/CTrace.h"
#include "kernel-types.h"

static const unsigned char object[] = {
#include "landlock.inc"
};

struct pk_landlock {
  struct bpf_object *object;
  int program;
};

// Runs a program with one number. Returns its result, or a negative errno.
static int run(int program, uint64_t *argument) {
  LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = argument, .ctx_size_in = argument ? sizeof *argument : 0);
  if (bpf_prog_test_run_opts(program, &options)) return -errno;
  return options.retval > PK_UNKNOWN ? PK_UNKNOWN : (int)options.retval;
}

struct pk_landlock *pk_landlock_open(int *error) {
  struct pk_landlock *landlock = calloc(1, sizeof *landlock);
  int types;
  *error = ENOMEM;
  if (!landlock) return 0;
  landlock->object = pk_open_object(object, sizeof object, 0, 0, &types, error);
  if (landlock->object) *error = -bpf_object__load(landlock->object);
  if (types >= 0) close(types);
  if (!*error) {
    int place = bpf_program__fd(bpf_object__find_program_by_name(landlock->object, "find_place"));
    landlock->program = bpf_program__fd(bpf_object__find_program_by_name(landlock->object, "has_domain"));
    int result = run(place, 0);
    // The kernel does not name its variables, or not to this process.
    *error = result < 0 ? -result : result == PK_UNKNOWN ? ENOENT : 0;
  }
  if (!*error) return landlock;
  pk_landlock_close(landlock);
  return 0;
}

int pk_landlock_has_domain(const struct pk_landlock *landlock, int directory) {
  struct statfs fields;
  if (fstatfs(directory, &fields) || fields.f_type != PROC_SUPER_MAGIC) return PK_UNKNOWN;
  uint64_t argument = directory;
  int result = run(landlock->program, &argument);
  return result < 0 ? PK_UNKNOWN : result;
}

void pk_landlock_close(struct pk_landlock *landlock) {
  if (landlock->object) bpf_object__close(landlock->object);
  free(landlock);
}
