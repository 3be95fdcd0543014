// One picture from a camera of Video4Linux.
#pragma once

struct video_picture {
  unsigned width, height;
  unsigned char *rgb;  // width * height * 3 bytes, to be freed
};

// The step that failed: a system call, or what the camera lacks.
const char *video_step(void);

// Takes one picture; 0, or -1 with errno set.
int video_capture(const char *node, struct video_picture *picture);

// Writes a PPM file (P6); 0, or -1 with errno set.
int video_write(const char *file, const struct video_picture *picture);
