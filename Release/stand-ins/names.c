// Takes the place of the table of the names of Unicode scalars, half a megabyte that nobody asks for: the linker
// calls this for `_swift_stdlib_getScalarName` (stdlib/public/stubs/Unicode/UnicodeScalarProps.cpp), see --wrap of ld(1).
// 0 is the answer for a scalar without a name.
#include <stdint.h>

intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *name, intptr_t capacity) {
  (void)scalar, (void)name, (void)capacity;
  return 0;
}
