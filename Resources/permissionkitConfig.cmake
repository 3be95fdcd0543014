# find_package(permissionkit) gives the target permissionkit::permissionkit.
if(NOT TARGET permissionkit::permissionkit)
  add_library(permissionkit::permissionkit SHARED IMPORTED)
  set_target_properties(permissionkit::permissionkit PROPERTIES
    IMPORTED_LOCATION "@LIBDIR@/libpermissionkit.so.1"
    IMPORTED_SONAME libpermissionkit.so.1
    INTERFACE_INCLUDE_DIRECTORIES "@PREFIX@/include")
endif()
