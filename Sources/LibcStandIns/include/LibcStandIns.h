// What the programs would otherwise take from a libc that is newer than it must be, or load at each start.
