/*
 * permissionkit.h: can this program use the camera, the microphone and the photos, and if not, why?
 *
 *   #include <permissionkit.h>
 *
 *   pk_result *camera = pk_check("camera", NULL);
 *   if (!pk_result_is_granted(camera))
 *     fprintf(stderr, "snapshot: no camera: %s\n", pk_result_message(camera));
 *   pk_result_free(camera);
 *
 * Compile with: cc snapshot.c $(pkg-config --cflags --libs permissionkit)
 *
 * A denial is a result, and so is an error: no function fails in another way. No function prints,
 * exits, or installs a signal handler; pk_request() with PK_ASK alone writes to the terminal. Each
 * function may be called by several threads at once, and several threads may read one result.
 * The child of fork(2) of a program with one thread may call every function, that of a program with several
 * threads none until execve(2); a pk_watch and a pk_cancellation work in the process that made them.
 *
 * Between calls the library remembers only which mounts and which user data base did not answer, so
 * that the next call does not wait for them again. A look at a mount that may not answer, such as
 * NFS, is made by a child process without a signal at its end. The library stays loaded after
 * dlclose(3).
 *
 * A name without a comment on it keeps its meaning in every version; new functions, new flags and new
 * members at the end of pk_options may come.
 */
#ifndef PERMISSIONKIT_H
#define PERMISSIONKIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PK_MUST_USE __attribute__((warn_unused_result))
#else
#define PK_MUST_USE
#endif

/*
 * The status of an accessor or path. The numbers never change. Zero is not access, so memory that was
 * cleared grants nothing.
 */
typedef enum pk_status {
  PK_ERROR = 0,         /* no answer: pk_result_error() tells the kind of error */
  PK_AUTHORIZED = 1,    /* every device is usable */
  PK_LIMITED = 2,       /* some devices are usable, or a folder can be read but not written */
  PK_DENIED = 3,        /* refused, and a change of permissions could help */
  PK_RESTRICTED = 4,    /* refused by something else: a container, a security module, a mount */
  PK_UNAVAILABLE = 5,   /* there is no such device, folder or path */
  PK_NOT_DETERMINED = 6 /* cannot be determined, for example on a network file system */
} pk_status;

/* Who can make the change that gives missing access. The numbers never change. */
typedef enum pk_requestability {
  PK_NOT_REQUESTABLE = 0,    /* nobody, or there is access: pk_result_not_requestable() says why */
  PK_REQUESTABLE = 1,        /* this process: pk_request() */
  PK_REQUESTABLE_BY_ROOT = 2 /* only root: pk_result_explanation() has the commands */
} pk_requestability;

/* The way to a sound device, for pk_options.through. The numbers never change. */
typedef enum pk_through {
  PK_THROUGH_USUAL = 0,  /* the nodes of ALSA */
  PK_THROUGH_SERVER = 1, /* the sound servers: PipeWire, PulseAudio, JACK */
  PK_THROUGH_ANY = 2     /* the nodes or a server, whichever gives more */
} pk_through;

/* Permissions, for pk_options.need. */
#define PK_READ 4u
#define PK_WRITE 2u
#define PK_EXECUTE 1u /* of a folder: search */

/* Every device or folder is needed, so PK_LIMITED is not access. For pk_options.flags. */
#define PK_ALL 1u
/*
 * pk_request() shows the change and asks the person at the terminal: on standard error, answered on
 * standard input. If one of them is no terminal, nobody is asked and nothing is changed.
 */
#define PK_ASK 2u

/*
 * Asked by pk_request() before a change: returns 1 to agree, and 0 to change nothing.
 *
 * `plan` is what would change, in lines, valid during the call. It is called by the thread that called
 * pk_request(), at most once, and may call every function but pk_request() and pk_revoke().
 */
typedef int pk_consent(const char *plan, void *data);

/*
 * Lets another thread end calls that wait: pk_wait(), pk_request() and its question. Each call that has
 * it in its options ends with the error "withdrawn", now and later. A change that has begun goes on.
 */
typedef struct pk_cancellation pk_cancellation;

/* Returns a cancellation; the caller frees it after the calls that have it. Never NULL. */
PK_MUST_USE pk_cancellation *pk_cancellation_new(void);

/* Ends the calls, from any thread of the process that made it; NULL is allowed. */
void pk_cancel(pk_cancellation *cancellation);

/* Frees a cancellation; NULL is allowed. */
void pk_cancellation_free(pk_cancellation *cancellation);

/*
 * What to check, and for whom. Begin with PK_OPTIONS_INIT, then set members:
 *
 *   pk_options options = PK_OPTIONS_INIT;
 *   options.user = "www-data";
 *
 * Texts are read during the call and not kept. A path is bytes up to the NUL; UTF-8 is not required.
 */
typedef struct pk_options {
  size_t size;         /* sizeof(pk_options); set by PK_OPTIONS_INIT */
  const char *path;    /* the only node or folder to check, from /; NULL: all that there are */
  const char *user;    /* a user, by name or number, as after a new login; NULL: see pid */
  const char *purpose; /* with PK_ASK: why the program asks, shown with the question; or NULL */
  int32_t pid;         /* a running process; 0: the calling thread */
  uint32_t need;       /* PK_READ | PK_WRITE | PK_EXECUTE; 0: what is usual for the accessor or path */
  uint32_t flags;      /* PK_ALL | PK_ASK */
  uint32_t seconds;    /* how long what pk_request() grants is meant to last; 0: until revoked */
  /* Members that came later. */
  pk_consent *consent; /* pk_request(): asked before a change; NULL: see PK_ASK */
  void *consent_data;  /* for `consent` */
  pk_cancellation *cancellation; /* ends a call that waits; or NULL */
  const char *to;     /* pk_explain_path(): not to open the path, but to "delete" it, or another that
                         permcheck explain --to knows; or NULL */
  const char *target; /* the new path of "rename" and "link"; USER:GROUP of "chown"; otherwise NULL */
  uint32_t through;   /* a pk_through, for sound */
  uint32_t reserved;  /* 0 */
} pk_options;

#define PK_OPTIONS_INIT {sizeof(pk_options), NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0}

/* A result: never changes, and owns its texts until pk_result_free(). */
typedef struct pk_result pk_result;

/*
 * Checks an accessor: "camera", "microphone" ("mic"), "photos", or any other that permcheck finds by
 * name: "serial" and what else is compiled in, what files declare in /usr/share/permcheck/accessors.d,
 * /usr/local/share/permcheck/accessors.d, /etc/permcheck/accessors.d and
 * ~/.config/permcheck/accessors.d, and programs permcheck-accessor-NAME in PATH.
 *
 * Only a name that is not built in makes the call read these files and search PATH. Root, and who has
 * capabilities, runs only programs that root alone can change. In a set-user-ID program, or one with
 * file capabilities, no environment variable counts (HOME, PATH, XDG_CONFIG_HOME, XDG_STATE_HOME and all
 * others), for any function here, and only files count that root alone can change.
 *
 * `options` may be NULL: the calling thread, all devices, the usual permissions.
 * Returns a result, never NULL; the caller frees it.
 */
PK_MUST_USE pk_result *pk_check(const char *accessor, const pk_options *options);

/*
 * Checks an accessor, and requests access if it is missing and a change of permissions can help.
 *
 * Makes the smallest change by which nobody else gets access, as `permcheck request --yes` does: an
 * ACL entry, or mode bits where there are no ACLs. It is written to a journal first, then checked;
 * `permcheck revoke` takes it back, and `seconds` lets it expire (permcheck's timer, or the next
 * request, then ends it). The call itself is the consent; with PK_ASK a person must agree.
 *
 * A change that needs root is made only if this process is root. Otherwise nothing is changed and
 * nobody is asked: pk_result_request() is "needs-root", and pk_result_explanation() has the commands
 * for an administrator. The status is that of a new check afterwards. Not for another process (`pid`).
 * With `cancellation` nothing is changed after pk_cancel(), unless the change had begun.
 */
PK_MUST_USE pk_result *pk_request(const char *accessor, const pk_options *options);

/*
 * Checks an accessor, and finds what pk_request() would change, as `permcheck request --dry-run` does;
 * changes nothing. pk_result_plan() has the change in words, and is empty if there is none.
 */
PK_MUST_USE pk_result *pk_plan(const char *accessor, const pk_options *options);

/*
 * Takes back what requests of this accessor gave the user, for `options->path` alone if it is set, as
 * `permcheck revoke` does: what pk_request() and permcheck gave with the journal of this user. Then
 * checks. pk_result_request() is "revoked", or "nothing-to-change" if nothing had been given.
 */
PK_MUST_USE pk_result *pk_revoke(const char *accessor, const pk_options *options);

/* No end, for pk_wait(). */
#define PK_FOREVER UINT32_MAX

/*
 * Checks an accessor until there is access, at most for so many milliseconds; the kernel reports the
 * changes that matter, so nothing is polled where it does.
 *
 * Returns the result of the last check, or the error "withdrawn" after pk_cancel().
 */
PK_MUST_USE pk_result *pk_wait(
  const char *accessor, const pk_options *options, uint32_t milliseconds);

/* A thread that checks an accessor again whenever something changed that can change the answer. */
typedef struct pk_watch pk_watch;

/*
 * Begins to watch an accessor. Never NULL; the first result is the present one, or the error.
 * The caller frees the watch with pk_watch_free().
 */
PK_MUST_USE pk_watch *pk_watch_new(const char *accessor, const pk_options *options);

/*
 * A descriptor for poll(2): readable while pk_watch_next() has a result, and at most once when another
 * thread has just taken it. Do not read, write or close it.
 * -1 if the process has no descriptor left.
 */
int pk_watch_descriptor(const pk_watch *watch);

/*
 * The newest result that was not returned yet; NULL if there is none. Does not wait. The caller frees
 * it. Of results that nobody took only the last is kept. After an error no other result comes.
 */
PK_MUST_USE pk_result *pk_watch_next(pk_watch *watch);

/* Ends a watch; NULL is allowed. No other thread may use it at that time. */
void pk_watch_free(pk_watch *watch);

/*
 * Calls `tell` with the name and the summary of each accessor that pk_check() finds by name, in the order
 * of `permcheck list`. The texts are valid during the call.
 */
void pk_accessors(void (*tell)(const char *name, const char *summary, void *data), void *data);

/*
 * Explains the access to a path of any kind: each component, the rule of the kernel that decides, and
 * the smallest change that helps.
 *
 * A relative path begins at the working directory. Without `need`: read, of a folder also search, of a
 * device read and write. `options->path` must be NULL. Returns a result, never NULL.
 */
PK_MUST_USE pk_result *pk_explain_path(const char *path, const pk_options *options);

/* Frees a result and its texts; NULL is allowed. */
void pk_result_free(pk_result *result);

/*
 * The parts of a result. Of NULL the status is PK_ERROR, and each text is empty. A text is UTF-8, never
 * NULL, and valid until the result is freed. Texts for people hold no control characters except
 * newlines where lines are promised.
 */

pk_status pk_result_status(const pk_result *result);

/* 1 for PK_AUTHORIZED, and for PK_LIMITED without PK_ALL; otherwise 0. */
int pk_result_is_granted(const pk_result *result);

/* 1 if a request of this process could turn the refusal into access; otherwise 0. */
int pk_result_is_requestable(const pk_result *result);

/* Who can make the change that gives access. */
pk_requestability pk_result_requestability(const pk_result *result);

/* Why no request helps, in one line without a newline; empty if one does, or if there is access. */
const char *pk_result_not_requestable(const pk_result *result);

/* The code of the main reason, such as "not-in-group" (permcheck schema lists them); empty if there is none. */
const char *pk_result_reason(const pk_result *result);

/* Why the status is what it is, or what went wrong, in one line without a newline. */
const char *pk_result_message(const pk_result *result);

/* The result in one line, as permcheck prints it, without a newline: "✘ camera  denied  …". */
const char *pk_result_line(const pk_result *result);

/* Every device with its reasons and the commands that help; lines, each with a newline. */
const char *pk_result_explanation(const pk_result *result);

/*
 * What a request did: "granted", "declined", "needs-root" or "nothing-to-change"; empty if there was
 * access before, if no request could help, or if nothing was requested. Of pk_revoke() "revoked" or
 * "nothing-to-change".
 */
const char *pk_result_request(const pk_result *result);

/*
 * What a request changes, or would change: each change and who else gains, in lines, each with a
 * newline; empty if nothing. Of pk_plan() and pk_request().
 */
const char *pk_result_plan(const pk_result *result);

/*
 * The kind of the error, if the status is PK_ERROR: "invalid-argument", "unknown-user",
 * "unknown-process", "not-answering", "change-failed", "not-allowed", "withdrawn" or "system"; otherwise
 * empty.
 */
const char *pk_result_error(const pk_result *result);

/*
 * The result as JSON, one line with a newline: what `permcheck check --json`, `request --json` or
 * `explain --json` print, which `permcheck schema` describes. Of an error the document of the error.
 */
const char *pk_result_json(const pk_result *result);

/* The name of a status as in JSON: "notDetermined"; "error" for PK_ERROR and for any other number. */
const char *pk_status_name(pk_status status);

/* The version of the library that is loaded: "0.9.0". */
const char *pk_version(void);

#ifdef __cplusplus
}
#endif

#endif
