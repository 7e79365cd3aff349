// Over 400 lines: the whole JSON grammar, and what is forgiven at each place of it.
#include "trace_reader/json_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/utf8.h"

namespace amsp {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 16;
constexpr std::size_t kLargestWindow = std::size_t{1} << 28;  // of one event
constexpr std::size_t kMaxDepth = 512;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// Characters of a string that stand for themselves.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

bool is_plain(char c) {
  return kPlain[static_cast<unsigned char>(c)];
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '-' || c == '.' || c == '_';
}

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

/// A number by JSON's grammar.
bool is_number(std::string_view text) {
  std::size_t i = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i > from;
  };
  if (!digits()) return false;
  if (i < text.size() && text[i] == '.' && (++i, !digits())) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (!digits()) return false;
  }
  return i == text.size();
}

bool is_infinite_or_nan(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  for (const char* word : {"inf", "nan", "Infinity", "NaN", "Inf", "infinity", "-nan(ind)"})
    if (text == word) return true;
  return false;
}

}  // namespace

JsonCursor::JsonCursor(ByteSource& source, Notes& notes) : source_(source), notes_(notes) {
  window_.resize(kWindow);
  at_ = end_ = window_.data();
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  while (window_size() < kByteOrderMark.size() && refill()) {
  }
  if (std::string_view(at_, window_size()).starts_with(kByteOrderMark))
    at_ += kByteOrderMark.size();
}

bool JsonCursor::refill() {
  if (ended_) return false;
  const char* keep = pin_ == kNoPin ? at_ : window_.data() + (pin_ - base_);
  const auto gone = static_cast<std::size_t>(keep - window_.data());
  lines_ += static_cast<std::uint64_t>(std::count<const char*>(window_.data(), keep, '\n'));
  for (const char* c = keep; c != window_.data(); --c)
    if (c[-1] == '\n') {
      line_start_ = base_ + static_cast<std::uint64_t>(c - window_.data());
      break;
    }
  const auto kept = static_cast<std::size_t>(end_ - keep);
  const auto ahead = static_cast<std::size_t>(at_ - keep);
  if (kept > 0) std::memmove(window_.data(), keep, kept);
  base_ += gone;
  if (kept == window_.size()) {
    if (window_.size() >= kLargestWindow)
      throw SyntaxFault(base_, fmt::format("one event has more than {} MiB", kLargestWindow >> 20));
    window_.resize(2 * window_.size());
  }
  at_ = window_.data() + ahead;
  const std::size_t count = source_.read(window_.data() + kept, window_.size() - kept);
  end_ = window_.data() + kept + count;
  ended_ = count == 0;
  return count > 0;
}

char JsonCursor::peek() {
  while (true) {
    while (at_ != end_) {
      if (!is_blank(*at_)) return *at_;
      ++at_;
    }
    if (!refill()) return '\0';
  }
}

void JsonCursor::fail(const std::string& what) const {
  const bool at_end = at_ == end_;
  std::string found = "the end of the text";
  if (!at_end) {
    const auto byte = static_cast<unsigned char>(*at_);
    found =
        byte > 0x20 && byte < 0x7F ? fmt::format("'{}'", *at_) : fmt::format("byte 0x{:02X}", byte);
  }
  throw SyntaxFault(offset(), fmt::format("{}, found {}", what, found), at_end);
}

void JsonCursor::expect(char c, const char* where) {
  if (peek() != c) fail(fmt::format("expected {}", where));
  ++at_;
}

bool JsonCursor::accept(char c) {
  if (peek() != c || at_ == end_) return false;
  ++at_;
  return true;
}

bool JsonCursor::repaired_comma(char close) {
  if (peek() != close) return false;
  note("trailing comma", fmt::format("before '{}'", close));
  ++at_;
  return true;
}

void JsonCursor::note(const char* kind, const std::string& detail) {
  notes_.add(kind, fmt::format("{} (byte {}): {}", place(offset()), offset(), detail));
}

std::string JsonCursor::place(std::uint64_t offset) const {
  offset = std::max(offset, base_);
  const char* until = window_.data() + (offset - base_);
  const auto line =
      lines_ + static_cast<std::uint64_t>(std::count<const char*>(window_.data(), until, '\n')) + 1;
  std::uint64_t start = line_start_;
  for (const char* c = until; c != window_.data(); --c)
    if (c[-1] == '\n') {
      start = base_ + static_cast<std::uint64_t>(c - window_.data());
      break;
    }
  return fmt::format("{}:{}", line, offset - start + 1);
}

void JsonCursor::return_to(std::uint64_t offset) {
  // A fault at the very end is behind nothing: one place further is the end as well.
  at_ = std::min<const char*>(window_.data() + (offset - base_), end_);
}

bool JsonCursor::accept_key(std::string_view text) {
  if (!accept('"')) return false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (!more() || *at_ != (i < text.size() ? text[i] : '"')) return false;
    ++at_;
  }
  return true;
}

bool JsonCursor::ends_array(const std::vector<std::string_view>& keys_behind) {
  ++at_;
  if (peek() == '\0') return at_end();
  if (accept('}')) return peek() == '\0' && at_end();
  if (!accept(',')) return false;
  peek();
  const std::uint64_t behind = offset();
  for (const std::string_view key : keys_behind) {
    if (accept_key(key)) return true;
    return_to(behind);
  }
  return false;
}

JsonCursor::Found JsonCursor::seek_object(std::string_view key,
                                          const std::vector<std::string_view>& keys_behind) {
  char before = '\0';
  while (more()) {
    const char c = *at_;
    if ((c == '{' && before == ',') || c == ']') {
      pin();  // what was passed is not needed any more
      const std::uint64_t start = offset();
      bool found = false;
      if (c == ']') {
        found = ends_array(keys_behind);
      } else {
        ++at_;
        found = accept_key(key);
      }
      return_to(start);
      if (found) return c == ']' ? Found::kArrayEnd : Found::kObject;
    }
    if (!is_blank(c)) before = c;
    ++at_;
    pin();
  }
  return Found::kNothing;
}

unsigned JsonCursor::hex4() {
  unsigned code = 0;
  const char* digits = at_;
  for (int i = 0; i < 4; ++i) {
    const char c = digits[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return 0x110000;
    code = 16 * code + static_cast<unsigned>(digit);
  }
  return code;
}

/// After a backslash.
void JsonCursor::escape(std::string* out, bool encode) {
  const auto ahead = [&](std::size_t count) {
    while (static_cast<std::size_t>(end_ - at_) < count)
      if (!refill()) return false;
    return true;
  };
  if (!ahead(1)) fail("a string is not closed");
  const char c = *at_;
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeaning = "\"\\/\b\f\n\r\t";
  if (const auto letter = kLetters.find(c); letter != std::string_view::npos) {
    ++at_;
    if (out == nullptr) return;
    if (encode)
      (*out += '\\') += c;
    else
      *out += kMeaning[letter];
    return;
  }
  if (c == 'u' && ahead(5)) {
    ++at_;
    unsigned code = hex4();
    if (code < 0x110000) {
      at_ += 4;
      if (code >= 0xD800 && code < 0xDC00 && ahead(6) && at_[0] == '\\' && at_[1] == 'u') {
        at_ += 2;
        const unsigned low = hex4();
        if (low >= 0xDC00 && low < 0xE000) {
          code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
          at_ += 4;
        } else {
          at_ -= 2;
        }
      }
      if (code >= 0xD800 && code < 0xE000) {
        note("half a surrogate pair", "replaced by U+FFFD");
        code = 0xFFFD;
      }
      if (out != nullptr) {
        if (encode && (code < 0x20 || code == '"' || code == '\\'))
          *out += fmt::format("\\u{:04x}", code);
        else
          append_utf8(*out, code);
      }
      return;
    }
    --at_;
  }
  note("invalid escape", fmt::format("kept as it stands: \\{}", is_plain(c) ? c : '?'));
  if (out != nullptr) *out += encode ? "\\\\" : "\\";
}

void JsonCursor::string_body(std::string* out, bool encode) {
  while (true) {
    if (!more()) fail("a string is not closed");
    const char* from = at_;
    while (at_ != end_ && is_plain(*at_)) ++at_;
    if (out != nullptr) out->append(from, at_);
    if (at_ == end_) continue;
    const char c = *at_;
    if (c == '"') {
      ++at_;
      return;
    }
    if (c == '\\') {
      ++at_;
      escape(out, encode);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      note("control character in a string",
           fmt::format("byte 0x{:02X}", static_cast<unsigned char>(c)));
      if (out != nullptr) {
        if (encode)
          *out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else
          *out += c;
      }
      ++at_;
    } else if (c == 0x7F) {
      if (out != nullptr) *out += c;
      ++at_;
    } else {
      std::string bytes;
      while (more() && static_cast<unsigned char>(*at_) >= 0x80) bytes += *at_++;
      std::size_t bad = 0;
      while ((bad = utf8_error(bytes)) != std::string::npos) {
        notes_.add("invalid UTF-8", fmt::format("{} (byte {}): 0x{:02X} replaced by U+FFFD",
                                                place(offset()), offset() - bytes.size() + bad,
                                                static_cast<unsigned char>(bytes[bad])));
        if (out != nullptr) out->append(bytes, 0, bad).append(kReplacement);
        bytes.erase(0, bad + 1);
      }
      if (out != nullptr) *out += bytes;
    }
  }
}

void JsonCursor::read_string(std::string& out) {
  out.clear();
  expect('"', "a string");
  string_body(&out, false);
}

void JsonCursor::literal(std::string& out, ValueKind& kind) {
  out.clear();
  const std::uint64_t start = offset();
  while (more() && is_word(*at_) && out.size() < 400) out += *at_++;
  if (is_number(out)) {
    kind = ValueKind::kNumber;
  } else if (out == "true" || out == "false") {
    kind = ValueKind::kBool;
  } else if (out == "null") {
    kind = ValueKind::kMissing;
  } else if (is_infinite_or_nan(out)) {
    note("inf or nan", fmt::format("'{}' is taken as missing", out));
    kind = ValueKind::kMissing;
    out = "null";
  } else {
    if (out.empty()) fail("expected a value");
    throw SyntaxFault(start, fmt::format("expected a value, found '{}'", out), !more());
  }
}

void JsonCursor::walk(std::string* out, std::size_t limit) {
  std::string open;  // the brackets that are still to come, outermost first
  std::string word;
  const auto room = [&] { return out != nullptr && out->size() < limit; };
  const auto emit = [&](std::string_view text) {
    if (room()) out->append(text);
  };
  const auto text = [&] {
    ++at_;
    emit("\"");
    string_body(room() ? out : nullptr, true);
    emit("\"");
  };
  const auto close = [&] {
    emit({&open.back(), 1});
    open.pop_back();
  };
  const auto key = [&] {
    if (peek() != '"') fail("expected a key in quotes");
    text();
    expect(':', "':'");
    emit(":");
  };
  while (true) {
    const char c = peek();
    if (c == '{' || c == '[') {
      ++at_;
      if (open.size() == kMaxDepth) fail(fmt::format("nested deeper than {} levels", kMaxDepth));
      emit({&c, 1});
      open += c == '{' ? '}' : ']';
      if (!accept(open.back())) {
        if (c == '{') key();
        continue;
      }
      close();
    } else if (c == '"') {
      text();
    } else {
      ValueKind kind = ValueKind::kMissing;
      literal(word, kind);
      emit(word);
    }
    while (!open.empty()) {
      if (!accept(open.back())) {
        expect(',', open.back() == '}' ? "',' or '}'" : "',' or ']'");
        if (!repaired_comma(open.back())) break;
      }
      close();
    }
    if (open.empty()) return;
    emit(",");
    if (open.back() == '}') key();
  }
}

void JsonCursor::skip_value() {
  walk(nullptr, 0);
}

std::string JsonCursor::copy_value() {
  std::string out;
  walk(&out, std::string::npos);
  return out;
}

void JsonCursor::read_value(ScalarValue& value, std::size_t limit) {
  value.text.clear();
  const char c = peek();
  if (c == '"') {
    ++at_;
    value.kind = ValueKind::kString;
    string_body(&value.text, false);
  } else if (c == '{' || c == '[') {
    value.kind = c == '{' ? ValueKind::kObject : ValueKind::kArray;
    walk(&value.text, limit);
  } else {
    literal(value.text, value.kind);
  }
}

}  // namespace amsp
