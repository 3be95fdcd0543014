// Runs before every constructor of every library, so also before the Swift runtime, which would take
// settings from the environment and start its backtracer for signals.
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "HelperStart.h"

static char invoker[16];
static int found;
static char no_backtraces[] = "SWIFT_BACKTRACE=enable=no,swift-backtrace=/";

const char *helper_start_invoker(void) { return found == 1 && invoker[0] ? invoker : NULL; }

static void remember(const char *value) {
  found++;
  if (strlen(value) < sizeof invoker) strcpy(invoker, value);
  else invoker[0] = 0;
}

static void start(int argc, char **argv, char **environment) {
  (void)argc;
  (void)argv;
  static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGTERM, SIGUSR1,
                                SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGALRM};
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
  if (!environment[0]) return;
  for (char **variable = environment; *variable; variable++) {
    if (strncmp(*variable, "SUDO_UID=", 9) == 0) remember(*variable + 9);
    if (strncmp(*variable, "PKEXEC_UID=", 11) == 0) remember(*variable + 11);
  }
  environment[0] = no_backtraces;
  environment[1] = NULL;
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = start;
