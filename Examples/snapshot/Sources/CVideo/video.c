// See the V4L2 documentation, "Streaming I/O (Memory Mapping)".
#include "CVideo.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static _Thread_local const char *step = "";

const char *video_step(void) { return step; }

static int ask(int fd, unsigned long request, void *argument, const char *name) {
  int result;
  step = name;
  do result = ioctl(fd, request, argument);
  while (result < 0 && errno == EINTR);
  return result;
}

static unsigned char clipped(int value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

// ITU-R BT.601, limited range.
static void rgb_of(int y, int u, int v, unsigned char *rgb) {
  int c = 298 * (y - 16), d = u - 128, e = v - 128;
  rgb[0] = clipped((c + 409 * e + 128) >> 8);
  rgb[1] = clipped((c - 100 * d - 208 * e + 128) >> 8);
  rgb[2] = clipped((c + 516 * d + 128) >> 8);
}

static int convert(
    const unsigned char *frame, size_t size, const struct v4l2_pix_format *format,
    struct video_picture *picture) {
  unsigned width = format->width, height = format->height, line = format->bytesperline;
  unsigned bytes = format->pixelformat == V4L2_PIX_FMT_YUYV ? 2 : 3;
  if (line < width * bytes) line = width * bytes;
  step = "the size of the frame";
  if (width == 0 || height == 0 || width % 2 || size < (size_t)line * (height - 1) + width * bytes) {
    errno = EPROTO;
    return -1;
  }
  unsigned char *out = picture->rgb = malloc((size_t)width * height * 3);
  if (!out) return -1;
  picture->width = width;
  picture->height = height;
  for (unsigned y = 0; y < height; y++) {
    const unsigned char *in = frame + (size_t)line * y;
    if (bytes == 3) {
      memcpy(out, in, width * 3);
      out += width * 3;
      continue;
    }
    for (unsigned x = 0; x < width; x += 2, in += 4, out += 6) {
      rgb_of(in[0], in[1], in[3], out);
      rgb_of(in[2], in[1], in[3], out + 3);
    }
  }
  return 0;
}

static int choose(int fd, struct v4l2_format *format) {
  const uint32_t known[] = {V4L2_PIX_FMT_RGB24, V4L2_PIX_FMT_YUYV};
  for (int i = 0; i < 2; i++) {
    memset(format, 0, sizeof *format);
    format->type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    format->fmt.pix.width = 640;
    format->fmt.pix.height = 480;
    format->fmt.pix.pixelformat = known[i];
    format->fmt.pix.field = V4L2_FIELD_ANY;
    if (ask(fd, VIDIOC_S_FMT, format, "VIDIOC_S_FMT") < 0) return -1;
    if (format->fmt.pix.pixelformat == known[i]) return 0;
  }
  step = "the camera has neither RGB3 nor YUYV";
  errno = ENOTSUP;
  return -1;
}

static int stream(int fd, struct video_picture *picture) {
  struct v4l2_format format;
  struct v4l2_requestbuffers request = {
      .count = 1, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
  if (choose(fd, &format) < 0) return -1;
  if (ask(fd, VIDIOC_REQBUFS, &request, "VIDIOC_REQBUFS") < 0) return -1;
  for (unsigned i = 0; i < request.count; i++) {
    struct v4l2_buffer buffer = {.index = i, .type = request.type, .memory = request.memory};
    if (ask(fd, VIDIOC_QBUF, &buffer, "VIDIOC_QBUF") < 0) return -1;
  }
  int type = request.type;
  if (ask(fd, VIDIOC_STREAMON, &type, "VIDIOC_STREAMON") < 0) return -1;
  struct pollfd ready = {.fd = fd, .events = POLLIN};
  step = "poll";
  int count = poll(&ready, 1, 10000);
  if (count == 0) errno = ETIMEDOUT;
  if (count <= 0) return -1;
  struct v4l2_buffer buffer = {.type = request.type, .memory = request.memory};
  if (ask(fd, VIDIOC_DQBUF, &buffer, "VIDIOC_DQBUF") < 0) return -1;
  step = "mmap";
  void *frame = mmap(NULL, buffer.length, PROT_READ, MAP_SHARED, fd, buffer.m.offset);
  if (frame == MAP_FAILED) return -1;
  size_t used = buffer.bytesused < buffer.length ? buffer.bytesused : buffer.length;
  int result = convert(frame, used, &format.fmt.pix, picture);
  munmap(frame, buffer.length);
  return result;
}

int video_capture(const char *node, struct video_picture *picture) {
  step = "open";
  int fd = open(node, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return -1;
  int result = stream(fd, picture), error = errno;
  // Closing ends the stream and frees the buffers.
  close(fd);
  errno = error;
  return result;
}

int video_write(const char *file, const struct video_picture *picture) {
  FILE *out = fopen(file, "we");
  if (!out) return -1;
  size_t size = (size_t)picture->width * picture->height * 3;
  int failed = fprintf(out, "P6\n%u %u\n255\n", picture->width, picture->height) < 0 ||
               fwrite(picture->rgb, 1, size, out) != size;
  int error = errno;
  if (fclose(out) != 0 || failed) {
    if (failed) errno = error;
    return -1;
  }
  return 0;
}
