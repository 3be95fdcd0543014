// What takes the place of parts of the Swift runtime in libpermissionkit.so has no interface.
