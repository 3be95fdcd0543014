// What is known of the Landlock domain of a process.
#ifndef PERMISSIONKIT_LANDLOCK_H
#define PERMISSIONKIT_LANDLOCK_H

enum { PK_UNRESTRICTED = 0, PK_RESTRICTED = 1, PK_UNKNOWN = 2 };

#endif
