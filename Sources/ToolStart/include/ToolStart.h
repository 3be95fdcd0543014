#ifndef TOOL_START_H
#define TOOL_START_H

// Gives the environment back its variable, so that neither this program nor another one misses it.
void tool_start_done(void);

// The commit and the toolchain of a build by Release/build, a line each; empty for other builds.
const char *tool_build(void);

#endif
