#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What the next part of a document is.
enum ctoml_kind {
  CTOML_ERROR,
  CTOML_TABLE,
  CTOML_ARRAY,
  /// The end of the latest table or array that has not ended.
  CTOML_END,
  /// The key of the value that follows.
  CTOML_KEY,
  CTOML_STRING,
  CTOML_INTEGER,
  CTOML_BOOLEAN,
  /// A number with a fraction, a date or a time.
  CTOML_OTHER,
};

/// A part of a document.
struct ctoml_part {
  enum ctoml_kind kind;
  /// Where it begins, from 1; 0 if that is not known.
  uint32_t line, column;
  /// The text of a key, a string or an error: UTF-8 without a NUL at its end.
  const char *text;
  size_t length;
  /// The value of an integer or a boolean.
  int64_t number;
};

/// Reads a TOML 1.0 document with toml++, and calls `receive` for each of its parts in their order.
///
/// After a part of kind CTOML_ERROR there is no other.
void ctoml_read(const char *bytes, size_t length, void *context,
                void (*receive)(void *context, const struct ctoml_part *part));

#ifdef __cplusplus
}
#endif
