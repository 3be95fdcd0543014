// See include/uapi/sound/asound.h; alsa-lib makes the same calls.
#include "CSound.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <sound/asound.h>

static _Thread_local const char *step = "";

const char *sound_step(void) { return step; }

static int ask(int fd, unsigned long request, void *argument, const char *name) {
  int result;
  step = name;
  do result = ioctl(fd, request, argument);
  while (result < 0 && errno == EINTR);
  return result;
}

static void mask(struct snd_pcm_hw_params *params, int name, unsigned bit) {
  struct snd_mask *mask = &params->masks[name - SNDRV_PCM_HW_PARAM_FIRST_MASK];
  memset(mask, 0, sizeof *mask);
  mask->bits[bit / 32] = 1u << bit % 32;
}

static void interval(struct snd_pcm_hw_params *params, int name, unsigned value) {
  struct snd_interval *interval = &params->intervals[name - SNDRV_PCM_HW_PARAM_FIRST_INTERVAL];
  *interval = (struct snd_interval){.min = value, .max = value, .integer = 1};
}

// Interleaved 16-bit mono at this rate; the driver chooses the rest.
static int configure(int fd, unsigned rate) {
  struct snd_pcm_hw_params params;
  memset(&params, 0, sizeof params);
  memset(params.masks, 0xff, sizeof params.masks);
  for (unsigned i = 0; i < sizeof params.intervals / sizeof *params.intervals; i++)
    params.intervals[i].max = UINT_MAX;
  mask(&params, SNDRV_PCM_HW_PARAM_ACCESS, SNDRV_PCM_ACCESS_RW_INTERLEAVED);
  mask(&params, SNDRV_PCM_HW_PARAM_FORMAT, SNDRV_PCM_FORMAT_S16_LE);
  mask(&params, SNDRV_PCM_HW_PARAM_SUBFORMAT, SNDRV_PCM_SUBFORMAT_STD);
  interval(&params, SNDRV_PCM_HW_PARAM_CHANNELS, 1);
  interval(&params, SNDRV_PCM_HW_PARAM_RATE, rate);
  params.rmask = ~0u;
  params.info = ~0u;
  if (ask(fd, SNDRV_PCM_IOCTL_HW_PARAMS, &params, "16-bit mono at this rate") < 0) return -1;
  return ask(fd, SNDRV_PCM_IOCTL_PREPARE, NULL, "SNDRV_PCM_IOCTL_PREPARE");
}

static void number(unsigned char *place, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; i++) place[i] = value >> 8 * i;
}

static int write_header(FILE *out, unsigned rate, uint32_t bytes) {
  unsigned char header[44] = "RIFF....WAVEfmt ";
  number(header + 4, bytes + 36, 4);
  number(header + 16, 16, 4);
  number(header + 20, 1, 2);  // PCM
  number(header + 22, 1, 2);  // channels
  number(header + 24, rate, 4);
  number(header + 28, rate * 2, 4);
  number(header + 32, 2, 2);
  number(header + 34, 16, 2);
  memcpy(header + 36, "data", 4);
  number(header + 40, bytes, 4);
  return fwrite(header, 1, sizeof header, out) == sizeof header ? 0 : -1;
}

static int record(int fd, FILE *out, unsigned rate, unsigned seconds) {
  int16_t samples[1024];
  uint32_t left = rate * seconds;
  if (configure(fd, rate) < 0) return -1;
  if (write_header(out, rate, left * 2) < 0) return -1;
  while (left > 0) {
    struct snd_xferi part = {.buf = samples, .frames = left < 1024 ? left : 1024};
    if (ask(fd, SNDRV_PCM_IOCTL_READI_FRAMES, &part, "SNDRV_PCM_IOCTL_READI_FRAMES") < 0) {
      // What came too fast is lost; the recording goes on.
      if (errno != EPIPE || ask(fd, SNDRV_PCM_IOCTL_PREPARE, NULL, "SNDRV_PCM_IOCTL_PREPARE") < 0)
        return -1;
      continue;
    }
    step = "write";
    if (fwrite(samples, 2, part.result, out) != (size_t)part.result) return -1;
    left -= part.result;
  }
  return 0;
}

int sound_record(const char *node, const char *file, unsigned rate, unsigned seconds) {
  step = "open";
  int fd = open(node, O_RDWR | O_CLOEXEC);
  if (fd < 0) return -1;
  step = "the file";
  FILE *out = fopen(file, "we");
  int result = out ? record(fd, out, rate, seconds) : -1, error = errno;
  if (out && fclose(out) != 0 && result == 0) result = -1, error = errno;
  close(fd);
  errno = error;
  return result;
}
