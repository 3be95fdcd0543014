/* Uses what permcheck is asked about, as programs do, and stays to be asked about:
 *
 *   use all CAMERA CONTROL PCM FOLDER   prints a line for each use: 0 or the errno
 *   use hold CAMERA                     takes the camera's buffers, prints a line, and waits for a signal
 *   use stay WORD                       waits for a signal; WORD is there to find the process
 *
 * The uses are: the camera's buffers are asked for (as v4l2-ctl does before it streams), a sound card's control
 * node and its PCM answer (as arecord opens them), the folder is listed and its files are looked up, and a file is created in it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <sound/asound.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int buffers(int fd, unsigned count)
{
    struct v4l2_requestbuffers request = { .count = count, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP };
    return ioctl(fd, VIDIOC_REQBUFS, &request) ? errno : 0;
}

static int camera(const char *path)
{
    struct v4l2_capability capability;
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC), error;
    if (fd < 0) return errno;
    error = ioctl(fd, VIDIOC_QUERYCAP, &capability) ? errno : buffers(fd, 1);
    if (!error) error = buffers(fd, 0);
    close(fd);
    return error;
}

static int microphone(const char *control, const char *pcm)
{
    struct snd_ctl_card_info card;
    struct snd_pcm_info info;
    int error = 0, fd = open(control, O_RDWR | O_CLOEXEC);
    if (fd < 0) return errno;
    if (ioctl(fd, SNDRV_CTL_IOCTL_CARD_INFO, &card)) error = errno;
    close(fd);
    if (error) return error;
    fd = open(pcm, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno;
    if (ioctl(fd, SNDRV_PCM_IOCTL_INFO, &info)) error = errno;
    close(fd);
    return error;
}

static int list(const char *path)
{
    struct stat st;
    DIR *folder = opendir(path);
    if (!folder) return errno;
    int error = 0;
    for (struct dirent *entry; !error && (errno = 0, entry = readdir(folder)) != 0;)
        if (fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW)) error = errno;
    if (!error) error = errno;
    closedir(folder);
    return error;
}

static int create(const char *path)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/.use-%d", path, getpid());
    int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    int error = fd < 0 ? errno : 0;
    if (fd >= 0) close(fd);
    /* What is made and may not be opened stays, if nobody takes it away. */
    return unlink(name) && !error ? errno : error;
}

int main(int argc, char **argv)
{
    if (argc == 6 && !strcmp(argv[1], "all")) {
        printf("%d\n%d\n%d\n%d\n", camera(argv[2]), microphone(argv[3], argv[4]), list(argv[5]), create(argv[5]));
        return 0;
    }
    if (argc == 3 && !strcmp(argv[1], "hold")) {
        struct v4l2_buffer buffer = { .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP };
        int fd = open(argv[2], O_RDWR);
        if (fd < 0 || buffers(fd, 2) || ioctl(fd, VIDIOC_QUERYBUF, &buffer)
            || mmap(0, buffer.length, PROT_READ, MAP_SHARED, fd, buffer.m.offset) == MAP_FAILED) {
            perror(argv[2]);
            return 1;
        }
        puts("held");
    } else if (argc != 3 || strcmp(argv[1], "stay")) {
        fputs("use: wrong arguments\n", stderr);
        return 64;
    }
    fflush(stdout);
    for (;;) pause();
}
