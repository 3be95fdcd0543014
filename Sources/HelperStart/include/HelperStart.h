#ifndef HELPER_START_H
#define HELPER_START_H

// The value of SUDO_UID or PKEXEC_UID when the program started; NULL unless there was exactly one of
// them, exactly once. The environment is empty since then.
const char *helper_start_invoker(void);

#endif
