/*
 * Tests of what libpermissionkit.so does over time: plan, consent, request, revoke, wait, watch, cancel.
 *
 *   lifecycle [THREADS [SEQUENCES]]    in a folder that may be written
 *
 * Each thread plays random sequences of all calls, some of them in a child of fork(2). Prints one line,
 * "lifecycle: N checks, 0 failed", and on standard error each check that failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <permissionkit.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"

static void pause_for(int milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

static mode_t mode(const char *path) {
  struct stat status;
  CHECK(stat(path, &status) == 0);
  return status.st_mode & 0777;
}

/* A folder that nobody may enter, and the options that ask for it. As root somebody else asks. */
static pk_options shut(const char *name, char path[5000]) {
  pk_options options = PK_OPTIONS_INIT;
  options.path = directory(name, 0000, path);
  options.need = PK_READ | PK_EXECUTE;
  if (geteuid() == 0) options.user = "nobody";
  return options;
}

/* What is asked of a consent, and what it answers. */
struct person {
  int asked;
  int answer;
  char plan[4096];
  pk_cancellation *cancels;
};

static int agree(const char *plan, void *data) {
  struct person *person = data;
  person->asked++;
  snprintf(person->plan, sizeof person->plan, "%s", plan);
  pk_cancel(person->cancels);
  return person->answer;
}

static void plans(void) {
  char path[5000];
  pk_options options = shut("planned", path);
  pk_result *result = pk_plan("photos", &options);
  well_formed(result);
  CHECK(pk_result_status(result) == PK_DENIED && pk_result_is_requestable(result));
  HAS(pk_result_plan(result), path);
  HAS(pk_result_json(result), "\"applied\":false");
  HAS(pk_result_json(result), "\"plans\":[{");
  SAME(pk_result_request(result), "");
  CHECK(mode(path) == 0);
  pk_result_free(result);
  directory("open", 0755, path);
  options.path = path;
  result = pk_plan("photos", &options);
  SAME(pk_result_plan(result), "");
  pk_result_free(result);
  options.user = NULL;
  options.pid = getpid();
  is_error(pk_plan("photos", &options), "invalid-argument", "pk_plan does not work with pid");
  is_error(pk_plan("nothing", NULL), "invalid-argument", "no accessor");
}

static void requests(void) {
  char path[5000];
  pk_options options = shut("asked", path);
  struct person person = {0};
  options.consent = agree;
  options.consent_data = &person;
  pk_result *plan = pk_plan("photos", &options);
  CHECK(person.asked == 0);
  pk_result *result = pk_request("photos", &options);
  well_formed(result);
  SAME(pk_result_request(result), "declined");
  CHECK(person.asked == 1 && pk_result_status(result) == PK_DENIED && mode(path) == 0);
  /* What is shown is what was planned. */
  SAME(person.plan, pk_result_plan(plan));
  SAME(person.plan, pk_result_plan(result));
  pk_result_free(plan);
  pk_result_free(result);

  /* Who cancels while somebody is asked changes nothing, whatever the answer is. */
  person = (struct person){.answer = 1, .cancels = pk_cancellation_new()};
  options.cancellation = person.cancels;
  is_error(pk_request("photos", &options), "withdrawn", "withdrawn");
  CHECK(person.asked == 1 && mode(path) == 0);
  is_error(pk_request("photos", &options), "withdrawn", "withdrawn");
  CHECK(person.asked == 1 && mode(path) == 0);
  pk_cancellation_free(person.cancels);

  person = (struct person){.answer = 1, .cancels = NULL};
  options.cancellation = NULL;
  result = pk_request("photos", &options);
  SAME(pk_result_request(result), "granted");
  CHECK(person.asked == 1 && pk_result_status(result) == PK_AUTHORIZED);
  pk_result_free(result);

  result = pk_revoke("photos", &options);
  well_formed(result);
  SAME(pk_result_request(result), "revoked");
  CHECK(pk_result_status(result) == PK_DENIED && mode(path) == 0);
  pk_result_free(result);
  result = pk_revoke("photos", &options);
  SAME(pk_result_request(result), "nothing-to-change");
  pk_result_free(result);

  options.flags = PK_ASK;
  is_error(pk_request("photos", &options), "invalid-argument", "cannot be combined");
  is_error(pk_revoke("nothing", NULL), "invalid-argument", "no accessor");
}

/* Opens the folder after a moment, or cancels. */
struct later {
  const char *path;
  pk_cancellation *cancels;
};

static void *act_later(void *data) {
  struct later *later = data;
  pause_for(200);
  if (later->path != NULL) CHECK(chmod(later->path, 0755) == 0);
  pk_cancel(later->cancels);
  return NULL;
}

static void waits(void) {
  char path[5000];
  pk_options options = shut("awaited", path);
  pk_result *result = pk_wait("photos", &options, 50);
  well_formed(result);
  CHECK(pk_result_status(result) == PK_DENIED);
  pk_result_free(result);

  pthread_t thread;
  struct later later = {path, NULL};
  CHECK(pthread_create(&thread, NULL, act_later, &later) == 0);
  result = pk_wait("photos", &options, PK_FOREVER);
  well_formed(result);
  CHECK(pk_result_status(result) == PK_AUTHORIZED);
  pk_result_free(result);
  CHECK(pthread_join(thread, NULL) == 0);

  CHECK(chmod(path, 0) == 0);
  later = (struct later){NULL, pk_cancellation_new()};
  options.cancellation = later.cancels;
  CHECK(pthread_create(&thread, NULL, act_later, &later) == 0);
  is_error(pk_wait("photos", &options, PK_FOREVER), "withdrawn", "withdrawn");
  is_error(pk_wait("photos", &options, PK_FOREVER), "withdrawn", "withdrawn");
  CHECK(pthread_join(thread, NULL) == 0);
  pk_cancellation_free(later.cancels);
}

static int is_ready(pk_watch *watch, int milliseconds) {
  struct pollfd request = {pk_watch_descriptor(watch), POLLIN, 0};
  CHECK(request.fd >= 0);
  return poll(&request, 1, milliseconds) == 1;
}

static void watches(void) {
  char path[5000];
  pk_options options = shut("watched", path);
  pk_watch *watch = pk_watch_new("photos", &options);
  for (int round = 0; round < 3; round++) {
    CHECK(is_ready(watch, 20000));
    pk_result *result = pk_watch_next(watch);
    well_formed(result);
    CHECK(pk_result_status(result) == (round % 2 ? PK_AUTHORIZED : PK_DENIED));
    pk_result_free(result);
    CHECK(pk_watch_next(watch) == NULL && !is_ready(watch, 0));
    CHECK(chmod(path, round % 2 ? 0 : 0755) == 0);
  }
  pk_watch_free(watch);
  watch = pk_watch_new("nothing", NULL);
  CHECK(is_ready(watch, 0));
  is_error(pk_watch_next(watch), "invalid-argument", "no accessor");
  CHECK(pk_watch_next(watch) == NULL);
  pk_watch_free(watch);
  pk_watch_free(NULL);
  pk_cancel(NULL);
  pk_cancellation_free(NULL);
  CHECK(pk_watch_next(NULL) == NULL && pk_watch_descriptor(NULL) == -1);
}

static void count_names(const char *name, const char *summary, void *data) {
  CHECK(summary[0] != '\0');
  for (const char **wanted = (const char *[]){"camera", "microphone", "photos", "serial", NULL};
       *wanted != NULL; wanted++)
    *(int *)data += strcmp(name, *wanted) == 0;
}

static void words(void) {
  int found = 0;
  pk_accessors(count_names, &found);
  CHECK(found == 4);
  pk_accessors(NULL, NULL);

  pk_options options = PK_OPTIONS_INIT;
  for (uint32_t way = PK_THROUGH_USUAL; way <= PK_THROUGH_ANY; way++) {
    options.through = way;
    pk_result *result = pk_check("microphone", &options);
    well_formed(result);
    CHECK(pk_result_status(result) != PK_ERROR);
    pk_result_free(result);
  }
  options.through = 3;
  is_error(pk_check("microphone", &options), "invalid-argument", "through 3");
  options.through = 0;
  options.reserved = 1;
  is_error(pk_check("camera", &options), "invalid-argument", "through 0");

  char path[5000], other[5100];
  options = (pk_options)PK_OPTIONS_INIT;
  options.to = "delete";
  file("deleted", 0600, path);
  pk_result *result = pk_explain_path(path, &options);
  well_formed(result);
  CHECK(pk_result_status(result) == PK_AUTHORIZED);
  pk_result_free(result);
  result = pk_explain_path("/etc/passwd", &options);
  CHECK(pk_result_is_granted(result) == (geteuid() == 0));
  pk_result_free(result);
  options.to = "rename";
  is_error(pk_explain_path(path, &options), "invalid-argument", "needs the new path");
  snprintf(other, sizeof other, "%s.new", path);
  options.target = other;
  result = pk_explain_path(path, &options);
  CHECK(pk_result_status(result) == PK_AUTHORIZED);
  pk_result_free(result);
  options.to = "eat";
  is_error(pk_explain_path(path, &options), "invalid-argument", "no operation \"eat\"");
  options.to = NULL;
  is_error(pk_explain_path(path, &options), "invalid-argument", "target has no meaning");
  options.to = "delete";
  options.target = NULL;
  is_error(pk_check("camera", &options), "invalid-argument", "only pk_explain_path");
}

/* A thread, its folder, and its numbers, which a seed repeats. */
struct player {
  int number;
  long sequences;
  unsigned seed;
};

static unsigned draw(struct player *player, unsigned below) {
  player->seed = player->seed * 1664525u + 1013904223u;
  return (player->seed >> 16 & 0x7fff) % below;
}

static void take(pk_result *result) {
  well_formed(result);
  pk_result_free(result);
}

/* Plays one sequence of four calls. */
static void play(struct player *player, const pk_options *options, const char *path) {
  struct person person = {.answer = (int)draw(player, 2)};
  pk_options own = *options;
  pk_cancellation *cancellation = draw(player, 3) == 0 ? pk_cancellation_new() : NULL;
  own.cancellation = cancellation;
  own.seconds = draw(player, 2) * 60;
  if (draw(player, 2)) {
    own.consent = agree;
    own.consent_data = &person;
    if (draw(player, 3) == 0) person.cancels = cancellation;
  }
  for (int call = 0; call < 4; call++) {
    switch (draw(player, 11)) {
    case 0: take(pk_check("photos", &own)); break;
    case 1: take(pk_plan("photos", &own)); break;
    case 2: take(pk_request("photos", &own)); break;
    case 3: take(pk_revoke("photos", &own)); break;
    case 4: take(pk_wait("photos", &own, draw(player, 3))); break;
    case 5: {
      pk_watch *watch = pk_watch_new("photos", &own);
      if (draw(player, 2)) is_ready(watch, 5);
      pk_result *result = pk_watch_next(watch);
      if (result != NULL) take(result);
      pk_watch_free(watch);
      break;
    }
    case 6: {
      int found = 0;
      pk_accessors(count_names, &found);
      CHECK(found == 4);
      break;
    }
    case 7: {
      pk_options bare = PK_OPTIONS_INIT;
      if (draw(player, 2)) bare.to = "delete";
      take(pk_explain_path(path, &bare));
      break;
    }
    case 8: CHECK(chmod(path, draw(player, 2) ? 0755 : 0) == 0); break;
    case 9: pk_cancel(cancellation); break;
    default: {
      /* What a child of a program with threads may do. An ordinary end would count what the other threads
       * held as lost. */
      pid_t child = fork();
      if (child == 0) kill(getpid(), pk_version()[0] == '0' ? SIGKILL : SIGABRT);
      int status = 0;
      CHECK(child > 0 && waitpid(child, &status, 0) == child);
      CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
      break;
    }
    }
  }
  pk_cancellation_free(cancellation);
}

static void *player(void *argument) {
  struct player *player = argument;
  char name[32], path[5000];
  snprintf(name, sizeof name, "played-%d", player->number);
  for (long round = 0; round < player->sequences; round++) {
    pk_options options = shut(name, path);
    play(player, &options, path);
  }
  return NULL;
}

static int descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < 1024; fd++) count += fcntl(fd, F_GETFD) != -1;
  return count;
}

int main(int count, char **arguments) {
  long threads = count > 1 ? atol(arguments[1]) : 8, sequences = count > 2 ? atol(arguments[2]) : 400;
  if (threads > 64 || getcwd(folder, sizeof folder - 800) == NULL) return 64;
  /* Root asks for somebody else, who must get here. */
  CHECK(chmod(folder, 0755) == 0);
  words();
  plans();
  /* In a child of a program with one thread everything works. */
  pid_t child = fork();
  if (child == 0) {
    failures = 0;
    requests();
    waits();
    _exit(failures != 0);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  requests();
  waits();
  watches();
  int before = descriptors();
  struct player players[64];
  pthread_t others[64];
  for (long index = 0; index < threads; index++) {
    players[index] = (struct player){(int)index, sequences, (unsigned)index + 1};
    CHECK(pthread_create(&others[index], NULL, player, &players[index]) == 0);
  }
  for (long index = 0; index < threads; index++) CHECK(pthread_join(others[index], NULL) == 0);
  /* The threads of watches end after them. */
  for (int round = 0; round < 400 && descriptors() > before; round++) pause_for(50);
  CHECK(descriptors() <= before);
  printf("lifecycle: %d checks, %d failed\n", checks, failures);
  return failures != 0;
}
