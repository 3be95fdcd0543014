// Instead of the names of all characters, 400 KB: nothing here asks for one. Release/build
// lets the Swift runtime call this.
#include <stdint.h>

/// Returns the length of the name of a character: 0, none is known.
intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity) {
  (void)scalar, (void)buffer, (void)capacity;
  return 0;
}
