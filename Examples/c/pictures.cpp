// The same interface in C++: a unique_ptr frees the result, and a denial is a value.
#include <permissionkit.h>

#include <iostream>
#include <memory>
#include <string>

struct Free {
  void operator()(pk_result *result) const { pk_result_free(result); }
};
using Result = std::unique_ptr<pk_result, Free>;

static Result check(const std::string &accessor, const pk_options &options = PK_OPTIONS_INIT) {
  return Result(pk_check(accessor.c_str(), &options));
}

int main() {
  pk_options options = PK_OPTIONS_INIT;
  options.need = PK_READ | PK_EXECUTE;
  const Result photos = check("photos", options);
  std::cout << pk_result_line(photos.get()) << '\n';
  return pk_result_is_granted(photos.get()) ? 0 : 1;
}
