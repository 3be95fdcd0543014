/* Opens each path for reading and writing, as a program that captures does, and
 * prints what the kernel says. Exit status: 1 when one of them was refused. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int refused = 0;
    for (int i = 1; i < argc; i++) {
        int fd = open(argv[i], O_RDWR | O_NONBLOCK | O_CLOEXEC);
        printf("open %s: %s\n", argv[i], fd < 0 ? strerrorname_np(errno) : "ok");
        if (fd < 0) refused = 1;
        else close(fd);
    }
    return refused;
}
