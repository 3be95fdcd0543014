// Some documents that are no TOML break an assertion of toml++ 3.3, such as "[=". They must not end the
// program, so a broken assertion jumps back to where the parser was called; what the parser had allocated is
// lost. Not by an exception: Release/build compiles C++ with -fno-exceptions.
#include <csetjmp>

#undef NDEBUG
namespace {
thread_local jmp_buf unexpected;
}  // namespace
#define TOML_ASSERT(expression) ((expression) ? static_cast<void>(0) : longjmp(unexpected, 1))

// Floats are read by from_chars: streams would bring 400 KB of locales.
#include <charconv>
#ifdef __cpp_lib_to_chars
#define TOML_FLOAT_CHARCONV 1
#endif
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_HEADER_ONLY 1
#include "CTOML.h"

#if !__has_include(<toml++/toml.h>)
#error "There is no toml++: install libtomlplusplus-dev, or run Scripts/setup."
#endif

#include <algorithm>
#include <string_view>
#include <toml++/toml.h>

namespace {

struct Reader {
  void *context;
  void (*receive)(void *, const ctoml_part *);

  void send(ctoml_kind kind, const toml::source_region &source, std::string_view text = {},
            int64_t number = 0) const {
    ctoml_part part = {kind, source.begin.line, source.begin.column, text.data(), text.size(), number};
    receive(context, &part);
  }

  void read(const toml::table &table) const {
    send(CTOML_TABLE, table.source());
    for (const auto &[key, value] : table) {
      send(CTOML_KEY, key.source(), key.str());
      read(value);
    }
    send(CTOML_END, table.source());
  }

  void read(const toml::node &node) const {
    if (const auto *table = node.as_table()) {
      read(*table);
    } else if (const auto *array = node.as_array()) {
      send(CTOML_ARRAY, array->source());
      for (const auto &element : *array) read(element);
      send(CTOML_END, array->source());
    } else if (const auto *text = node.as_string()) {
      send(CTOML_STRING, node.source(), text->get());
    } else if (const auto *number = node.as_integer()) {
      send(CTOML_INTEGER, node.source(), {}, number->get());
    } else if (const auto *boolean = node.as_boolean()) {
      send(CTOML_BOOLEAN, node.source(), {}, boolean->get());
    } else {
      send(CTOML_OTHER, node.source());
    }
  }
};

bool is_unexpected(std::string_view text) {
  if (setjmp(unexpected)) return true;
  (void)toml::parse(text);
  return false;
}

/// Returns where the character is that breaks an assertion: the last one of the shortest such beginning.
toml::source_region unexpected_place(std::string_view text) {
  size_t good = 0, bad = text.size();
  while (bad - good > 1) {
    const size_t middle = good + (bad - good) / 2;
    (is_unexpected(text.substr(0, middle)) ? bad : good) = middle;
  }
  toml::source_region place{};
  place.begin = {1, 1};
  for (const char byte : text.substr(0, bad - 1)) {
    if (byte == '\n') {
      place.begin.line += 1;
      place.begin.column = 1;
    } else if ((byte & 0xc0) != 0x80) {
      place.begin.column += 1;
    }
  }
  return place;
}

/// Returns the index after the string that begins at `start`; the size of the text if it does not end.
size_t end_of_string(std::string_view text, size_t start) {
  const bool is_long = text.substr(start, 3) == "\"\"\"" || text.substr(start, 3) == "'''";
  const std::string_view quotes = text.substr(start, is_long ? 3 : 1);
  for (size_t i = start + quotes.size(); i < text.size(); i++) {
    if (text[i] == '\\' && quotes[0] == '"') {
      i += 1;
    } else if (text.substr(i, quotes.size()) == quotes) {
      i += quotes.size();
      // Two more quotes belong to a long string.
      for (int more = 0; is_long && more < 2 && i < text.size() && text[i] == quotes[0]; more++) i += 1;
      return i;
    }
  }
  return text.size();
}

/// Returns the line of a key with more parts than any needs; 0 if there is none.
///
/// Each part of a key is a table, and toml++ reads values in values 256 deep; more tables would not fit on
/// the stack of a thread.
uint32_t deep_line(std::string_view text) {
  uint32_t line = 1;
  int dots = 0;
  for (size_t i = 0; i < text.size();) {
    const char byte = text[i];
    if (byte == '"' || byte == '\'') {
      const size_t end = end_of_string(text, i);
      for (; i < end; i++) line += text[i] == '\n';
      continue;
    }
    if (byte == '#') {
      // To the end of the line.
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (byte == '.' && ++dots > 32) return line;
    if (std::string_view("\n=,[]{}").find(byte) != std::string_view::npos) dots = 0;
    line += byte == '\n';
    i += 1;
  }
  return 0;
}

}  // namespace

void ctoml_read(const char *bytes, size_t length, void *context,
                void (*receive)(void *context, const struct ctoml_part *part)) {
  const Reader reader{context, receive};
  const std::string_view text(bytes, length);
  if (const uint32_t line = deep_line(text)) {
    toml::source_region place{};
    place.begin = {line, 1};
    return reader.send(CTOML_ERROR, place, "a key has at most 32 dots");
  }
  if (setjmp(unexpected)) {
    reader.send(CTOML_ERROR, unexpected_place(text), "this character cannot stand here");
    return;
  }
  const toml::parse_result result = toml::parse(text);
  if (result) {
    reader.read(result.table());
  } else {
    reader.send(CTOML_ERROR, result.error().source(), result.error().description());
  }
}
