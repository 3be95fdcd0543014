/*
 * Loads a library, checks with it, and watches what it calls: load LIBRARY.
 *
 * The functions of libc that end the process, print, or change signals are replaced by ones that count,
 * so a call that the library makes is seen. Proves first that the counting works.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <permissionkit.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends, prints, signals;

/* _exit and abort must not return; what was counted is told first. */
static void told(const char *what) {
  syscall(SYS_write, 2, what, strlen(what));
  syscall(SYS_exit_group, 1);
  for (;;) pause();
}
void exit(int status) { (void)status; ends++; told("load: exit was called\n"); __builtin_unreachable(); }
void _exit(int status) { (void)status; ends++; told("load: _exit was called\n"); __builtin_unreachable(); }
void abort(void) { ends++; told("load: abort was called\n"); __builtin_unreachable(); }
ssize_t write(int fd, const void *bytes, size_t size) {
  if (fd == 1 || fd == 2) prints++;
  return syscall(SYS_write, fd, bytes, size);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (fd == 1 || fd == 2) prints++;
  return syscall(SYS_writev, fd, parts, count);
}
int puts(const char *text) { (void)text; prints++; return 0; }
int fputs(const char *text, FILE *file) { (void)text; (void)file; prints++; return 0; }
size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file) {
  (void)bytes; (void)size; (void)file;
  prints++;
  return count;
}
int sigaction(int number, const struct sigaction *new, struct sigaction *old) {
  static int (*real)(int, const struct sigaction *, struct sigaction *);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "sigaction");
  if (new != NULL) signals++;
  return real(number, new, old);
}
__sighandler_t signal(int number, __sighandler_t handler) {
  (void)number; (void)handler;
  signals++;
  return SIG_DFL;
}
int sigaltstack(const stack_t *new, stack_t *old) {
  (void)old;
  if (new != NULL) signals++;
  return 0;
}

int main(int count, char **arguments) {
  if (count != 2) return 64;
  static struct sigaction action, before[65], after;
  sigaction(SIGUSR1, &action, NULL);
  signal(SIGUSR2, SIG_DFL);
  write(1, "", 0);
  if (signals != 2 || prints != 1) return 65;
  signals = prints = 0;
  for (int number = 1; number < 65; number++) sigaction(number, NULL, &before[number]);

  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return told(dlerror()), 66;
  pk_result *(*check)(const char *, const pk_options *);
  pk_result *(*request)(const char *, const pk_options *);
  pk_result *(*explain)(const char *, const pk_options *);
  void (*free_result)(pk_result *);
  *(void **)&check = dlsym(library, "pk_check");
  *(void **)&request = dlsym(library, "pk_request");
  *(void **)&explain = dlsym(library, "pk_explain_path");
  *(void **)&free_result = dlsym(library, "pk_result_free");
  if (!check || !request || !explain || !free_result) return 67;
  pk_options asking = PK_OPTIONS_INIT;
  asking.flags = PK_ASK;
  int mistake = 0;
  for (int round = 0; round < 20; round++) {
    free_result(check("camera", NULL));
    free_result(check("photos", NULL));
    free_result(check("nothing", NULL));
    /* No person is there: the standard descriptors are no terminal. */
    free_result(request("camera", &asking));
    free_result(explain("/etc/shadow", NULL));
    free_result(explain("/proc/1/mem", NULL));
  }
  /* It stays, for the Swift runtime cannot be unloaded; a pointer of before is still good. */
  if (dlclose(library) != 0) return 68;
  free_result(check("camera", NULL));
  for (int number = 1; number < 65; number++) {
    sigaction(number, NULL, &after);
    mistake += before[number].sa_handler != after.sa_handler || before[number].sa_flags != after.sa_flags;
  }
  char line[200];
  int length = snprintf(line, sizeof line, "load: %d ends, %d prints, %d signals, %d handlers changed\n",
                        ends, prints, signals, mistake);
  syscall(SYS_write, 1, line, length);
  return ends + prints + signals + mistake != 0;
}
