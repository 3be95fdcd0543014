// What decides about a call of a thread that is stopped at its end, as /proc and its memory have it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "include/CTrace.h"
#include "tracer.h"

enum { PATH = 4096 };

static int is_refusal(int64_t error) { return error == EPERM || error == EACCES || error == EROFS; }
// Refusals only where the path leads to a device or a socket.
static int is_device_failure(int64_t error) { return error == ENXIO || error == ENODEV || error == EBUSY || error == ENOENT; }

int pk_counts(int64_t error) { return is_refusal(error) || is_device_failure(error) || error == ECONNREFUSED; }

// --- The memory of the thread ---------------------------------------------------------------------

static int copy(pid_t thread, uint64_t place, void *bytes, size_t size) {
  struct iovec here = {bytes, size}, there = {(void *)place, size};
  return process_vm_readv(thread, &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : -1;
}

// Copies a string of at most PATH bytes, with its end. Returns its length, or -1 if it cannot be read.
static int copy_string(pid_t thread, uint64_t place, char *bytes) {
  size_t count = 0;
  while (count < PATH) {
    // The next page may be none of the program's.
    size_t part = PATH - (place + count) % PATH;
    if (part > PATH - count) part = PATH - count;
    if (copy(thread, place + count, bytes + count, part)) {
      // A program that may not be read by others is read by its tracer.
      for (size_t word = 0; word < part; word += sizeof(long)) {
        errno = 0;
        long value = ptrace(PTRACE_PEEKDATA, thread, place + count + word, 0);
        if (errno) return -1;
        memcpy(bytes + count + word, &value, part - word < sizeof value ? part - word : sizeof value);
        if (memchr(&value, 0, sizeof value)) break;
      }
    }
    char *end = memchr(bytes + count, 0, part);
    if (end) return end - bytes;
    count += part;
  }
  return -1;
}

// --- Strings --------------------------------------------------------------------------------------

static unsigned device(dev_t number) { return major(number) << 20 | minor(number); }

// Appends a directory, of a descriptor or the working directory, as the BPF program does. Returns how many bytes there
// are then.
static size_t append_directory(struct pk_noted *noted, pid_t thread, int descriptor, size_t used, int slot) {
  char link[64], path[PATH + 16];
  if (descriptor == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", thread);
  else snprintf(link, sizeof link, "/proc/%d/fd/%d", thread, descriptor);
  noted->refusal.lengths[slot] = PK_UNREADABLE;
  ssize_t length = readlink(link, path, sizeof path - 1);
  struct stat fields;
  int is_known = !stat(link, &fields);
  if (length < 0) return used;
  path[length] = 0;
  if (slot == 2 && is_known) noted->refusal.directory_inode = fields.st_ino, noted->refusal.directory_device = device(fields.st_dev);
  static const char deleted[] = " (deleted)";
  size_t rest = sizeof deleted - 1;
  if (is_known && fields.st_nlink == 0 && (size_t)length > rest && !strcmp(path + length - rest, deleted)) path[length -= rest] = 0;
  size_t begin = used;
  // What has no path is a name in brackets, such as pipe:[1].
  for (char *slash; path[0] == '/' && (slash = strrchr(path, '/')); *slash = 0) {
    size_t name = strlen(slash + 1);
    if (!name) break;
    if (used + name + 1 > sizeof noted->bytes) return begin;
    memcpy(noted->bytes + used, slash + 1, name + 1);
    used += name + 1;
    if (slash == path) break;
  }
  noted->refusal.lengths[slot] = used - begin;
  return used;
}

static size_t append_path(struct pk_noted *noted, pid_t thread, uint64_t place, size_t used, int slot) {
  int length = copy_string(thread, place, noted->bytes + used);
  noted->refusal.lengths[slot] = length < 0 ? PK_UNREADABLE : length;
  return length < 0 ? used : used + length;
}

// Appends the path or the abstract name of a unix(7) socket. Returns its length; -1 for another address.
static int append_address(struct pk_noted *noted, pid_t thread, uint64_t place, uint64_t length) {
  uint16_t family = 0;
  if (copy(thread, place, &family, sizeof family) || family != AF_UNIX) return -1;
  length = length < 2 ? 0 : length - 2;
  if (length > 108) length = 108;
  if (length && copy(thread, place + 2, noted->bytes, length)) length = 0;
  noted->refusal.lengths[0] = length;
  return length;
}

static int begins_in_dev(const char *path) { return !strncmp(path, "/dev", 4) && (path[4] == '/' || !path[4]); }

// Whether a directory, written backwards, is /dev or below it.
static int is_below_dev(const struct pk_noted *noted, size_t begin, size_t end) {
  return end >= begin + 4 && !memcmp(noted->bytes + end - 4, "dev", 4) && (end == begin + 4 || !noted->bytes[end - 5]);
}

// --- The thread -----------------------------------------------------------------------------------

// The number after a word and a colon, in text of /proc.
static const char *field(const char *text, const char *word) {
  const char *found = strstr(text, word);
  return found ? found + strlen(word) : "";
}

static unsigned namespace(pid_t thread, const char *name) {
  char path[64], link[64] = "";
  snprintf(path, sizeof path, "/proc/%d/ns/%s", thread, name);
  if (readlink(path, link, sizeof link - 1) < 0) return 0;
  const char *number = strchr(link, '[');
  return number ? strtoul(number + 1, 0, 10) : 0;
}

static void numbers(const char *text, uint32_t *found, unsigned count) {
  char *end;
  for (unsigned i = 0; i < count; i++, text = end) found[i] = strtoul(text, &end, 10);
}

// Reads a file of a thread in /proc. Returns its length; 0 if it cannot be read.
static size_t contents(pid_t thread, const char *name, char *bytes, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", thread, name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t count = file < 0 ? 0 : read(file, bytes, size);
  if (file >= 0) close(file);
  return count < 0 ? 0 : count;
}

// Notes who was refused.
static void describe(struct pk_refusal *refusal, pid_t thread) {
  char path[64];
  static char text[1 << 16];
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  refusal->time = now.tv_sec * 1000000000ULL + now.tv_nsec;
  refusal->thread = refusal->process = thread;
  ssize_t count = contents(thread, "status", text, sizeof text - 1);
  text[count] = 0;
  const char *name = field(text, "Name:\t");
  size_t length = strcspn(name, "\n");
  // There it is with backslashes if it has odd letters.
  if (memchr(name, '\\', length)) length = contents(thread, "comm", refusal->name, sizeof refusal->name);
  else memcpy(refusal->name, name, length < sizeof refusal->name ? length : sizeof refusal->name - 1);
  for (size_t i = 0; i < sizeof refusal->name; i++) if (i >= length || refusal->name[i] == '\n') refusal->name[i] = 0;
  refusal->process = strtoul(field(text, "\nTgid:"), 0, 10);
  numbers(field(text, "\nUid:"), refusal->user, 4);
  numbers(field(text, "\nGid:"), refusal->group, 4);
  refusal->effective = strtoull(field(text, "\nCapEff:"), 0, 16);
  refusal->permitted = strtoull(field(text, "\nCapPrm:"), 0, 16);
  const char *group = field(text, "\nGroups:");
  refusal->groups = 0;
  for (char *end; *(group += strspn(group, " \t")) && *group != '\n'; group = end) {
    uint32_t id = strtoul(group, &end, 10);
    if (end == group) break;
    if (refusal->groups < PK_GROUPS) refusal->group_ids[refusal->groups] = id;
    refusal->groups++;
  }
  refusal->mount_namespace = namespace(thread, "mnt");
  refusal->user_namespace = namespace(thread, "user");
  struct stat fields;
  snprintf(path, sizeof path, "/proc/%d/root", thread);
  if (!stat(path, &fields)) refusal->root_inode = fields.st_ino, refusal->root_device = device(fields.st_dev);
}

// --- One call -------------------------------------------------------------------------------------

#define I386_SOCKETCALL 102
// socketcall(2) is several calls in one: puts the call and its arguments in its place.
static void one_of_socketcall(struct pk_refusal *refusal, pid_t thread) {
  uint32_t given[6] = {0}, count = 3;
  int number;
  switch (refusal->arguments[0]) {
  case 2: number = 361; break; // bind
  case 3: number = 362; break; // connect
  case 11: number = 369, count = 6; break; // sendto
  default: return;
  }
  if (copy(thread, refusal->arguments[1], given, 4 * count)) return;
  for (int i = 0; i < 6; i++) refusal->arguments[i] = given[i];
  refusal->number = number;
}

size_t pk_note(const struct pk_stop *stop, pid_t thread, int64_t error, struct pk_noted *noted) {
  if (!pk_counts(error)) return 0;
  struct pk_refusal *refusal = &noted->refusal;
  memset(refusal, 0, sizeof *refusal);
  refusal->kind = stop->is_i386 ? PK_I386 : PK_NATIVE;
  refusal->number = stop->number;
  refusal->error = error;
  for (int i = 0; i < 6; i++) refusal->arguments[i] = stop->arguments[i];
  if (stop->is_i386 && refusal->number == I386_SOCKETCALL) one_of_socketcall(refusal, thread);
  const struct pk_call *known = pk_call_shape(refusal->kind, refusal->number);
  struct pk_call call = known ? *known : (struct pk_call){0};
  uint64_t *arguments = refusal->arguments;
  if (!is_refusal(error) && !call.path && !(call.is & PK_OBJECT)) return 0;
  size_t used = 0;
  int is_relative = 1;
  if (call.is & PK_ADDRESS) {
    int length = append_address(noted, thread, arguments[call.path - 1], arguments[call.path]);
    used = length < 0 ? 0 : length;
    is_relative = length > 0 && noted->bytes[0] != '/' && noted->bytes[0] != 0;
    if (!used && !is_refusal(error)) return 0;
    noted->bytes[used] = 0;
    if (is_device_failure(error) && !is_relative && !begins_in_dev(noted->bytes)) return 0;
  } else if (error == ECONNREFUSED) {
    return 0;
  } else if (call.path) {
    used = append_path(noted, thread, arguments[call.path - 1], 0, 0);
    is_relative = refusal->lengths[0] != PK_UNREADABLE && (!used || noted->bytes[0] != '/');
    if (is_device_failure(error) && !is_relative && (!used || !begins_in_dev(noted->bytes))) return 0;
  }
  int in_dev = used > 0 && begins_in_dev(noted->bytes);
  if (call.second_path) used = append_path(noted, thread, arguments[call.second_path - 1], used, 1);
  if (is_relative && (call.path || call.is & PK_OBJECT)) {
    size_t begin = used;
    used = append_directory(noted, thread, call.directory ? (int)arguments[call.directory - 1] : AT_FDCWD, used, 2);
    if (is_device_failure(error) && !in_dev && !is_below_dev(noted, begin, used)) return 0;
  }
  if (call.second_path)
    used = append_directory(noted, thread, call.second_directory ? (int)arguments[call.second_directory - 1] : AT_FDCWD, used, 3);
  describe(refusal, thread);
  return offsetof(struct pk_noted, bytes) + used;
}
