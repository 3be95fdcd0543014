/*
 * Tests of libpermissionkit.so: library [THREADS [ROUNDS]], in a folder that may be written.
 *
 * Prints one line, "library: N checks", and on standard error each check that failed. As root it also
 * tests what only root can set up; Scripts/check-library runs it as root and as an ordinary user.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <permissionkit.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "checks.h"

static void numbers(void) {
  CHECK(PK_ERROR == 0 && PK_AUTHORIZED == 1 && PK_LIMITED == 2 && PK_DENIED == 3);
  CHECK(PK_RESTRICTED == 4 && PK_UNAVAILABLE == 5 && PK_NOT_DETERMINED == 6);
  const char *names[] = {"error",       "authorized",  "limited", "denied", "restricted",
                         "unavailable", "notDetermined", "error"};
  for (int number = 0; number < 8; number++) SAME(pk_status_name((pk_status)number), names[number]);
  SAME(pk_status_name((pk_status)-1), "error");
  CHECK(sizeof(pk_options) == 2 * (sizeof(size_t) + 3 * sizeof(char *)) + 16 + 16);
}

static void nothing(void) {
  CHECK(pk_result_status(NULL) == PK_ERROR);
  CHECK(!pk_result_is_granted(NULL) && !pk_result_is_requestable(NULL));
  CHECK(pk_result_requestability(NULL) == PK_NOT_REQUESTABLE);
  SAME(pk_result_not_requestable(NULL), "");
  SAME(pk_result_reason(NULL), "");
  SAME(pk_result_message(NULL), "");
  SAME(pk_result_line(NULL), "");
  SAME(pk_result_explanation(NULL), "");
  SAME(pk_result_request(NULL), "");
  SAME(pk_result_plan(NULL), "");
  SAME(pk_result_error(NULL), "");
  SAME(pk_result_json(NULL), "");
  pk_result_free(NULL);
  is_error(pk_check(NULL, NULL), "invalid-argument", "no accessor");
  is_error(pk_request(NULL, NULL), "invalid-argument", "no accessor");
  is_error(pk_explain_path(NULL, NULL), "invalid-argument", "empty");
}

static void mistakes(void) {
  is_error(pk_check("camra", NULL), "invalid-argument", "there is no accessor \"camra\"");
  is_error(pk_check("", NULL), "invalid-argument", "known: camera, microphone, mic, photos");
  is_error(pk_check("\xff\n\x1b[31m", NULL), "invalid-argument", "\\n\\u{1b}[31m");
  is_error(pk_explain_path("", NULL), "invalid-argument", "empty");

  pk_options options = PK_OPTIONS_INIT;
  options.user = "nobody-of-that-name";
  is_error(pk_check("camera", &options), "unknown-user", "there is no user nobody-of-that-name");
  options.user = "root\xff";
  is_error(pk_check("camera", &options), "unknown-user", "there is no user");
  options.user = "root";
  options.pid = 1;
  is_error(pk_check("camera", &options), "invalid-argument", "cannot be combined");
  options.user = NULL;
  options.pid = -1;
  is_error(pk_check("camera", &options), "invalid-argument", "no process -1");
  options.pid = 0x7ffffffe;
  is_error(pk_check("camera", &options), "unknown-process", "there is no process");

  options = (pk_options)PK_OPTIONS_INIT;
  options.flags = 4;
  is_error(pk_check("camera", &options), "invalid-argument", "flags 4");
  options.flags = 0;
  options.need = 8;
  is_error(pk_check("camera", &options), "invalid-argument", "need 8");
  options.need = 0xffffffff;
  is_error(pk_check("camera", &options), "invalid-argument", "need 4294967295");
  options.need = 0;
  options.path = "relative";
  is_error(pk_check("camera", &options), "invalid-argument", "must start with /");
  options.path = "/tmp";
  is_error(pk_explain_path("/", &options), "invalid-argument", "options.path");

  /* A size of before the first version, and members of a later one. */
  options = (pk_options)PK_OPTIONS_INIT;
  options.size = offsetof(pk_options, consent) - 1;
  is_error(pk_check("camera", &options), "invalid-argument", "size");
  struct {
    pk_options known;
    uint64_t later;
  } longer = {PK_OPTIONS_INIT, 0};
  longer.known.size = sizeof longer;
  pk_result *result = pk_explain_path("/", &longer.known);
  CHECK(pk_result_status(result) == PK_AUTHORIZED);
  pk_result_free(result);
  longer.later = 1;
  is_error(pk_explain_path("/", &longer.known), "invalid-argument", "does not know");
}

/* Whether the path can be opened now, as the kernel says. */
static int opens(const char *path, int flags) {
  int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return 0;
  close(fd);
  return 1;
}

static void paths(void) {
  char path[5000], inner[5000];
  struct {
    mode_t mode;
    uint32_t need;
    int flags;
  } cases[] = {{0400, PK_READ, O_RDONLY}, {0400, PK_WRITE, O_WRONLY}, {0200, PK_READ, O_RDONLY},
               {0200, PK_WRITE, O_WRONLY}, {0000, PK_READ | PK_WRITE, O_RDWR}, {0600, PK_READ | PK_WRITE, O_RDWR},
               {0060, PK_READ, O_RDONLY}};
  for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
    file("file", cases[index].mode, path);
    pk_options options = PK_OPTIONS_INIT;
    options.need = cases[index].need;
    pk_result *result = pk_explain_path(path, &options);
    well_formed(result);
    /* The kernel is the judge. */
    CHECK(pk_result_is_granted(result) == opens(path, cases[index].flags));
    CHECK(pk_result_status(result) == (opens(path, cases[index].flags) ? PK_AUTHORIZED : PK_DENIED));
    if (!pk_result_is_granted(result)) {
      SAME(pk_result_reason(result), "owner-bits");
      CHECK(pk_result_is_requestable(result));
      HAS(pk_result_explanation(result), path);
    }
    HAS(pk_result_json(result), "\"walk\":[");
    HAS(pk_result_json(result), "\"facts\":{");
    pk_result_free(result);
  }

  /* Bytes that are not text, a relative path, and what is not there. */
  file("\xff\xfe", 0600, path);
  pk_result *result = pk_explain_path(path, NULL);
  CHECK(pk_result_status(result) == PK_AUTHORIZED);
  HAS(pk_result_json(result), "\\\\xff\\\\xfe");
  pk_result_free(result);
  result = pk_explain_path("file", NULL);
  CHECK(pk_result_status(result) != PK_ERROR && pk_result_status(result) != PK_UNAVAILABLE);
  pk_result_free(result);
  snprintf(path, sizeof path, "%s/none", folder);
  result = pk_explain_path(path, NULL);
  well_formed(result);
  CHECK(pk_result_status(result) == PK_UNAVAILABLE);
  SAME(pk_result_reason(result), "no-device");
  pk_result_free(result);

  /* A closed folder on the way. */
  directory("closed", 0700, path);
  file("closed/inner", 0600, inner);
  chmod(path, 0600);
  result = pk_explain_path(inner, NULL);
  CHECK(pk_result_is_granted(result) == opens(inner, O_RDONLY));
  if (!pk_result_is_granted(result)) SAME(pk_result_reason(result), "parent-search");
  pk_result_free(result);
  chmod(path, 0700);
}

static void accessors(void) {
  const char *names[] = {"camera", "microphone", "mic", "photos"};
  for (int index = 0; index < 4; index++) {
    pk_result *result = pk_check(names[index], NULL);
    well_formed(result);
    CHECK(pk_result_status(result) != PK_ERROR);
    SAME(pk_result_request(result), "");
    pk_result_free(result);
  }
  char path[5000];
  pk_options options = PK_OPTIONS_INIT;
  options.path = directory("pictures", 0500, path);
  pk_result *result = pk_check("photos", &options);
  well_formed(result);
  CHECK(pk_result_status(result) == (geteuid() == 0 ? PK_AUTHORIZED : PK_LIMITED));
  CHECK(pk_result_is_granted(result));
  pk_result_free(result);
  options.flags = PK_ALL;
  result = pk_check("photos", &options);
  CHECK(pk_result_is_granted(result) == (geteuid() == 0));
  pk_result_free(result);
  options.flags = 0;
  options.need = PK_READ | PK_EXECUTE;
  result = pk_check("photos", &options);
  CHECK(pk_result_status(result) == PK_AUTHORIZED);
  pk_result_free(result);
}

/* Writes a text into a file below the folder of the test. */
static void text(const char *name, mode_t mode, const char *content) {
  char path[5000];
  FILE *stream = fopen(file(name, mode | 0200, path), "w");
  CHECK(stream != NULL && fputs(content, stream) >= 0 && fclose(stream) == 0 && chmod(path, mode) == 0);
}

/* Accessors that are compiled in but not built in, declared by a file, and programs. */
static void plugins(void) {
  const char *names[] = {"serial", "tty", "gpu", "docker", "home"};
  for (int index = 0; index < 5; index++) {
    pk_result *result = pk_check(names[index], NULL);
    well_formed(result);
    CHECK(pk_result_status(result) != PK_ERROR);
    pk_result_free(result);
  }
  is_error(pk_check("scans", NULL), "invalid-argument", "there is no accessor \"scans\"");
  is_error(pk_check("thing", NULL), "invalid-argument", "there is no accessor \"thing\"");

  char path[5000], declaration[5200];
  directory("config", 0755, path);
  directory("config/permcheck", 0755, path);
  directory("config/permcheck/accessors.d", 0755, path);
  directory("programs", 0755, path);
  char *search = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
  CHECK(setenv("PATH", path, 1) == 0);
  snprintf(path, sizeof path, "%s/config", folder);
  CHECK(setenv("XDG_CONFIG_HOME", path, 1) == 0);
  directory("scans", 0700, path);
  snprintf(declaration, sizeof declaration, "name = \"scans\"\nsummary = \"s\"\ndirectory = \"%s\"\n", path);
  text("config/permcheck/accessors.d/scans.toml", 0644, declaration);
  text("config/permcheck/accessors.d/wrong.toml", 0644, "name = \"wrong\"\nsummary = 3\n");
  text("programs/permcheck-accessor-thing", 0755,
       "#!/bin/sh\necho '{\"version\":1,\"status\":\"authorized\",\"message\":\"yes\"}'\n");

  /* Root reads what others could change by openat2(2), which valgrind 3.19 has not heard of. */
  if (geteuid() == 0 && syscall(SYS_openat2, -1, "", NULL, 0) < 0 && errno == ENOSYS) {
    is_error(pk_check("scans", NULL), "invalid-argument", "accessors.d: cannot be listed (ENOSYS)");
    CHECK(setenv("PATH", search, 1) == 0 && unsetenv("XDG_CONFIG_HOME") == 0);
    free(search);
    return;
  }
  pk_result *result = pk_check("scans", NULL);
  well_formed(result);
  CHECK(pk_result_status(result) == PK_AUTHORIZED);
  pk_result_free(result);
  chmod(path, 0000);
  result = pk_check("scans", NULL);
  CHECK(pk_result_is_granted(result) == opens(path, O_RDONLY | O_DIRECTORY));
  pk_result_free(result);
  is_error(pk_check("wrong", NULL), "invalid-argument", "wrong.toml:2:11: summary must be a string in quotes");

  /* Root runs no program, and changes nothing for a declaration, that others can write. */
  result = pk_check("thing", NULL);
  well_formed(result);
  if (geteuid() == 0) {
    CHECK(pk_result_status(result) == PK_NOT_DETERMINED);
    HAS(pk_result_message(result), "is not run");
    is_error(pk_request("scans", NULL), "not-allowed", "users other than root can change");
  } else {
    CHECK(pk_result_status(result) == PK_AUTHORIZED);
    pk_result *request = pk_request("scans", NULL);
    CHECK(pk_result_status(request) == PK_AUTHORIZED && opens(path, O_RDONLY | O_DIRECTORY));
    pk_result_free(request);
  }
  pk_result_free(result);
  CHECK(setenv("PATH", search, 1) == 0 && unsetenv("XDG_CONFIG_HOME") == 0);
  free(search);
}

/* Somebody's own folder, closed: the request opens it, and nothing else is asked. */
static void requests(void) {
  char path[5000];
  pk_options options = PK_OPTIONS_INIT;
  options.path = directory("shut", 0000, path);
  options.need = PK_READ | PK_EXECUTE;
  if (geteuid() != 0) {
    pk_result *result = pk_check("photos", &options);
    CHECK(pk_result_status(result) == PK_DENIED && pk_result_is_requestable(result));
    pk_result_free(result);
    /* Nobody sits at a terminal, so with PK_ASK nothing changes. */
    options.flags = PK_ASK;
    options.purpose = "the test wants to see whether somebody is there";
    result = pk_request("photos", &options);
    well_formed(result);
    CHECK(pk_result_status(result) == PK_DENIED && !opens(path, O_RDONLY | O_DIRECTORY));
    SAME(pk_result_request(result), "declined");
    HAS(pk_result_json(result), "\"applied\":false");
    pk_result_free(result);
    options.flags = 0;
    result = pk_request("photos", &options);
    well_formed(result);
    CHECK(pk_result_status(result) == PK_AUTHORIZED && opens(path, O_RDONLY | O_DIRECTORY));
    SAME(pk_result_request(result), "granted");
    HAS(pk_result_json(result), "\"applied\":true");
    HAS(pk_result_json(result), "\"plans\":[{");
    pk_result_free(result);
    /* A second request has nothing to do. */
    result = pk_request("photos", &options);
    CHECK(pk_result_status(result) == PK_AUTHORIZED);
    SAME(pk_result_request(result), "");
    pk_result_free(result);

    /* What is another's is root's to change: told, not asked. */
    options.path = "/root";
    result = pk_request("photos", &options);
    well_formed(result);
    CHECK(!pk_result_is_granted(result) && !opens("/root", O_RDONLY | O_DIRECTORY));
    SAME(pk_result_request(result), "needs-root");
    HAS(pk_result_explanation(result), access("/usr/bin/sudo", X_OK) == 0 ? "sudo setfacl" : "su -c 'setfacl");
    pk_result_free(result);
  }
  options = (pk_options)PK_OPTIONS_INIT;
  options.pid = getpid();
  is_error(pk_request("photos", &options), "invalid-argument", "pid");
}

/* Another user, and another process, as root sees them. */
static void others(void) {
  char path[5000];
  pk_options options = PK_OPTIONS_INIT;
  /* By a name of /etc/passwd: valgrind cannot run getent(1), which a number as a name would need. */
  options.user = "nobody";
  file("mine", 0640, path);
  pk_result *result = pk_explain_path(path, &options);
  well_formed(result);
  CHECK(pk_result_status(result) == (getuid() == 65534 ? PK_AUTHORIZED : PK_DENIED));
  HAS(pk_result_json(result), "\"uid\":65534");
  pk_result_free(result);
  options.user = NULL;
  options.pid = getpid();
  result = pk_explain_path(path, &options);
  well_formed(result);
  CHECK(pk_result_status(result) == PK_AUTHORIZED || pk_result_status(result) == PK_NOT_DETERMINED);
  pk_result_free(result);
}

static void *work(void *argument) {
  long rounds = *(long *)argument;
  for (long round = 0; round < rounds; round++) {
    pk_options options = PK_OPTIONS_INIT;
    if (round % 3 == 1) options.user = "root";
    pk_result *results[] = {pk_check("camera", &options), pk_explain_path("/etc/shadow", &options),
                            pk_check("nothing", &options), pk_check("photos", &options)};
    for (size_t index = 0; index < sizeof results / sizeof *results; index++) {
      well_formed(results[index]);
      pk_result_free(results[index]);
    }
  }
  return NULL;
}

static pk_result *shared;

static void *readers(void *argument) {
  (void)argument;
  for (int round = 0; round < 200; round++) well_formed(shared);
  return NULL;
}

static void threads(long count, long rounds) {
  pthread_t others[64];
  shared = pk_explain_path("/etc/passwd", NULL);
  for (long index = 0; index < count; index++)
    CHECK(pthread_create(&others[index], NULL, index % 2 ? readers : work, &rounds) == 0);
  for (long index = 0; index < count; index++) CHECK(pthread_join(others[index], NULL) == 0);
  pk_result_free(shared);
}

/* The pages of this process that are in memory. */
static long resident(void) {
  long size = 0, pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (statm == NULL) return 0;
  if (fscanf(statm, "%ld %ld", &size, &pages) != 2) pages = 0;
  fclose(statm);
  return pages;
}

static int descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < 1024; fd++) count += fcntl(fd, F_GETFD) != -1;
  return count;
}

/* The handlers of all signals, the mask, and the number of descriptors. */
struct surroundings {
  struct sigaction actions[65];
  sigset_t mask;
  int descriptors;
};

static void look(struct surroundings *seen) {
  memset(seen, 0, sizeof *seen);
  for (int number = 1; number < 65; number++) sigaction(number, NULL, &seen->actions[number]);
  pthread_sigmask(SIG_SETMASK, NULL, &seen->mask);
  seen->descriptors = descriptors();
}

static void handler(int number) { (void)number; }
static int exits;
static void at_exit(void) { exits++; }

int main(int count, char **arguments) {
  long number = count > 1 ? atol(arguments[1]) : 8, rounds = count > 2 ? atol(arguments[2]) : 50;
  if (number > 64 || getcwd(folder, sizeof folder - 800) == NULL) return 64;
  signal(SIGUSR1, handler);
  signal(SIGCHLD, handler);
  atexit(at_exit);
  struct surroundings before, after;
  look(&before);
  numbers();
  nothing();
  mistakes();
  paths();
  accessors();
  plugins();
  requests();
  others();
  work(&(long){5});
  long pages = resident();
  work(&rounds);
  /* What a call allocates, the free gives back; a page here or there is the allocator's. */
  long grown = resident() - pages;
  if (grown >= 256) fprintf(stderr, "library: %ld rounds grew by %ld pages\n", rounds, grown);
  /* A few rounds, as under valgrind, tell nothing. */
  if (rounds >= 50) CHECK(grown < 256);
  threads(number, rounds);
  look(&after);
  for (int signal = 1; signal < 65; signal++) {
    CHECK(before.actions[signal].sa_handler == after.actions[signal].sa_handler);
    CHECK(before.actions[signal].sa_flags == after.actions[signal].sa_flags);
  }
  CHECK(memcmp(&before.mask, &after.mask, sizeof before.mask) == 0);
  CHECK(before.descriptors == after.descriptors);
  CHECK(exits == 0);
  printf("library: %d checks, %d failed\n", checks, failures);
  return failures != 0;
}
