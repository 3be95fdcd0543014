// Sound from a capture PCM of ALSA, by the kernel's own interface.
#pragma once

// The step that failed: a system call, or what the file lacks.
const char *sound_step(void);

// Records 16-bit mono at `rate` for this many seconds into a WAV file; 0, or -1 with errno set.
int sound_record(const char *node, const char *file, unsigned rate, unsigned seconds);
