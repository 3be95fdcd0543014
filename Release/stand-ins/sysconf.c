// libdispatch asks for the number of processors twice at each start, for which libc reads a file of /sys.
// The processors that this process may use are one system call, and all that it can use of the others.
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

long __sysconf(int name);

long sysconf(int name) {
  cpu_set_t processors;
  if (name == _SC_NPROCESSORS_CONF && sched_getaffinity(0, sizeof processors, &processors) == 0)
    return CPU_COUNT(&processors);
  return __sysconf(name);
}
