/* Tries what was asked about, and becomes other users, where there is no Python:
 *
 *   attempt NEED PATH...                    one line for each path: 0 or the errno
 *   attempt as UID GID GROUP,... COMMAND... runs COMMAND with these ids
 *
 * A folder is listed (r), a name is looked up (x), a file is created and removed (w); a file is opened. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int folder(const char *need, const char *path)
{
    char name[4096];
    struct stat st;
    if (strchr(need, 'r')) {
        DIR *dir = opendir(path);
        if (!dir) return errno;
        errno = 0;
        while (readdir(dir)) {}
        int error = errno;
        closedir(dir);
        if (error) return error;
    }
    if (strchr(need, 'x')) {
        snprintf(name, sizeof name, "%s/.no-such-name", path);
        if (lstat(name, &st) != 0 && errno != ENOENT) return errno;
    }
    if (strchr(need, 'w')) {
        snprintf(name, sizeof name, "%s/.made-%d", path, getpid());
        int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
        if (fd < 0) return errno;
        close(fd);
        if (unlink(name) != 0) return errno;
    }
    return 0;
}

static int file(const char *need, const char *path)
{
    int reads = strchr(need, 'r') != 0, writes = strchr(need, 'w') != 0;
    int fd = open(path, reads && writes ? O_RDWR : writes ? O_WRONLY : O_RDONLY);
    if (fd < 0) return errno;
    close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 5 && !strcmp(argv[1], "as")) {
        gid_t groups[64], gid = (gid_t)atoi(argv[3]);
        size_t count = 0;
        for (char *word = strtok(argv[4], ","); word && count < 64; word = strtok(NULL, ","))
            groups[count++] = (gid_t)atoi(word);
        uid_t uid = (uid_t)atoi(argv[2]);
        if (setgroups(count, groups) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) {
            perror("attempt: as");
            return 70;
        }
        execvp(argv[5], argv + 5);
        perror(argv[5]);
        return 71;
    }
    /* Folders end with a slash. */
    for (int i = 2; i < argc; i++) {
        size_t length = strlen(argv[i]);
        int is_folder = length > 1 && argv[i][length - 1] == '/';
        if (is_folder) argv[i][length - 1] = 0;
        printf("%d\n", is_folder ? folder(argv[1], argv[i]) : file(argv[1], argv[i]));
    }
    return 0;
}
