/* What the tests of libpermissionkit.so have in common: checks that count, files, and what every result holds to. */
#ifndef CHECKS_H
#define CHECKS_H

static atomic_int checks, failures;

#define CHECK(condition)                                                          \
  do {                                                                            \
    atomic_fetch_add(&checks, 1);                                                 \
    if (!(condition)) {                                                           \
      atomic_fetch_add(&failures, 1);                                             \
      fprintf(stderr, "library: %s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                             \
  } while (0)
#define SAME(found, wanted) CHECK(strcmp((found), (wanted)) == 0)
#define HAS(found, wanted)                                                     \
  do {                                                                         \
    CHECK(strstr((found), (wanted)) != NULL);                                  \
    if (strstr((found), (wanted)) == NULL) fprintf(stderr, "  it is: %s\n", (found)); \
  } while (0)

/* The working directory, which the test may write. */
static char folder[4096];

/* Creates a file below the folder of the test, and returns its path. */
__attribute__((unused)) static const char *file(const char *name, mode_t mode, char path[5000]) {
  snprintf(path, 5000, "%s/%s", folder, name);
  CHECK(unlink(path) == 0 || errno == ENOENT);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  CHECK(fd >= 0 && fchmod(fd, mode) == 0 && close(fd) == 0);
  return path;
}

__attribute__((unused)) static const char *directory(const char *name, mode_t mode, char path[5000]) {
  snprintf(path, 5000, "%s/%s", folder, name);
  CHECK((mkdir(path, 0700) == 0 || errno == EEXIST) && chmod(path, mode) == 0);
  return path;
}

/* What every result must hold to, whatever it says. */
__attribute__((unused)) static void well_formed(const pk_result *result) {
  pk_status status = pk_result_status(result);
  CHECK(status >= PK_ERROR && status <= PK_NOT_DETERMINED);
  CHECK((status == PK_ERROR) == (pk_result_error(result)[0] != '\0'));
  CHECK(status == PK_AUTHORIZED || status == PK_LIMITED || !pk_result_is_granted(result));
  CHECK(pk_result_is_requestable(result) == (pk_result_requestability(result) == PK_REQUESTABLE));
  /* A reason stands where nobody can help, and nowhere else. */
  CHECK((pk_result_not_requestable(result)[0] != '\0') ==
        (status != PK_ERROR && !pk_result_is_granted(result) &&
         pk_result_requestability(result) == PK_NOT_REQUESTABLE));
  CHECK(status == PK_AUTHORIZED || pk_result_message(result)[0] != '\0');
  CHECK(strchr(pk_result_message(result), '\n') == NULL);
  CHECK(strchr(pk_result_line(result), '\n') == NULL && pk_result_line(result)[0] != '\0');
  HAS(pk_result_line(result), pk_status_name(status));
  const char *json = pk_result_json(result);
  size_t length = strlen(json);
  CHECK(length > 2 && json[0] == '{' && json[length - 2] == '}' && json[length - 1] == '\n');
  HAS(json, "\"schemaVersion\":1");
  /* The same pointer each time: the texts belong to the result. */
  CHECK(pk_result_json(result) == json);
}

__attribute__((unused)) static void is_error(pk_result *result, const char *code, const char *message) {
  well_formed(result);
  CHECK(pk_result_status(result) == PK_ERROR);
  SAME(pk_result_error(result), code);
  HAS(pk_result_message(result), message);
  HAS(pk_result_json(result), "\"error\":{");
  pk_result_free(result);
}

#endif
