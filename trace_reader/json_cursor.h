#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "trace_reader/byte_source.h"
#include "trace_reader/notes.h"

namespace amsp {

/// Not JSON, and not one of the faults that are repaired. The message has no place: the cursor's
/// place() of `offset` gives it.
struct SyntaxFault : std::runtime_error {
  SyntaxFault(std::uint64_t at, const std::string& what, bool is_end = false)
      : std::runtime_error(what), offset(at), at_end(is_end) {}
  std::uint64_t offset;
  bool at_end;  // the text ends too early: not wrong, but incomplete
};

enum class ValueKind : std::uint8_t { kMissing, kNumber, kString, kBool, kArray, kObject };

/// A value as text: numbers as they stand, strings decoded, arrays and objects as compact JSON
/// (cut short where they are longer than the caller wanted to keep).
struct ScalarValue {
  ValueKind kind = ValueKind::kMissing;
  std::string text;
};

/// Walks over JSON text of any length through a window of bounded size, and repairs what writers
/// of traces are known to get wrong. Repaired, counted and listed in `notes`:
///   invalid UTF-8 in a string: U+FFFD;   an escape that JSON doesn't have: kept literally;
///   a control character in a string: kept;   inf, nan, Infinity, NaN: taken as missing;
///   a comma before ] or }: ignored.
/// Anything else is a SyntaxFault.
class JsonCursor {
 public:
  JsonCursor(ByteSource& source, Notes& notes);

  /// The next byte, blank or not, not consumed; '\0' at the end.
  char peek_byte() { return more() ? *at_ : '\0'; }
  bool at_end() { return !more(); }
  /// The next character that is no blank, not consumed; '\0' at the end.
  char peek();
  /// Consumes that character, which must be `c`.
  void expect(char c, const char* where);
  /// Consumes that character if it is `c`.
  bool accept(char c);

  /// Any value, checked and thrown away.
  void skip_value();
  /// Any value; arrays and objects are kept up to `limit` bytes.
  void read_value(ScalarValue& value, std::size_t limit);
  /// Any value as JSON text without the faults above.
  std::string copy_value();
  /// A string, decoded.
  void read_string(std::string& out);

  /// Calls on_key() for each key of an object; the callee consumes the value.
  template <class OnKey>
  void read_object(OnKey on_key) {
    expect('{', "an object");
    if (accept('}')) return;
    while (true) {
      if (peek() != '"') fail("expected a key in quotes");
      read_string(key_);
      expect(':', "':'");
      on_key(std::string_view(key_));
      if (accept('}')) return;
      expect(',', "',' or '}'");
      if (repaired_comma('}')) return;
    }
  }
  /// After a comma: whether `close` follows. That is repaired and `close` is consumed.
  bool repaired_comma(char close);

  std::uint64_t offset() const { return base_ + static_cast<std::uint64_t>(at_ - window_.data()); }
  /// From here on bytes stay in the window until unpin(): return_to() may come back.
  void pin() { pin_ = offset(); }
  void unpin() { pin_ = kNoPin; }
  /// Goes back to an offset at or after the pin.
  void return_to(std::uint64_t offset);
  enum class Found { kObject, kArrayEnd, kNothing };
  /// For going on behind a syntax error in an array of objects: goes to the next '{' after a
  /// comma whose first key is `key`; or to the ']' that ends the array: nothing follows it, or
  /// only '}', or a comma and one of `keys_behind`.
  Found seek_object(std::string_view key, const std::vector<std::string_view>& keys_behind);

  /// "LINE:COLUMN" of an offset that is still in the window, columns in bytes.
  std::string place(std::uint64_t offset) const;
  std::uint64_t bytes_read() const { return base_ + window_size(); }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  static constexpr std::uint64_t kNoPin = ~std::uint64_t{0};

  std::size_t window_size() const { return static_cast<std::size_t>(end_ - window_.data()); }
  /// Reads on; false at the end of the text.
  bool refill();
  bool more() { return at_ != end_ || refill(); }
  /// Consumes a string in quotes if it is `text`.
  bool accept_key(std::string_view text);
  bool ends_array(const std::vector<std::string_view>& keys_behind);
  void note(const char* kind, const std::string& detail);
  void string_body(std::string* out, bool encode);
  void escape(std::string* out, bool encode);
  unsigned hex4();
  void literal(std::string& out, ValueKind& kind);
  /// A whole value; keeps its JSON text in `out` up to `limit` bytes where given.
  void walk(std::string* out, std::size_t limit);

  ByteSource& source_;
  Notes& notes_;
  std::vector<char> window_;
  const char* at_;
  const char* end_;
  std::uint64_t base_ = 0;  // offset of window_[0]
  std::uint64_t pin_ = kNoPin;
  std::uint64_t lines_ = 0;       // before base_
  std::uint64_t line_start_ = 0;  // offset of the last line that begins at or before base_
  bool ended_ = false;
  std::string key_;
};

}  // namespace amsp
