#include "core/utf8.h"

#include <algorithm>

namespace amsp {
namespace {

using Byte = unsigned char;

bool is_continuation(char c) {
  return (Byte(c) & 0xC0U) == 0x80U;
}

/// Bytes of the sequence that starts `text` (not empty), or 0 if it is invalid. The bounds of the
/// second byte are those of table 3-7 of the Unicode standard.
std::size_t sequence_length(std::string_view text) {
  const Byte lead = Byte(text[0]);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;

  const Byte second = Byte(text[1]);
  const Byte low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const Byte high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (second < low || second > high) return 0;
  const std::string_view rest = text.substr(2, length - 2);
  return std::all_of(rest.begin(), rest.end(), is_continuation) ? length : 0;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  return text.size() - std::size_t(std::count_if(text.begin(), text.end(), is_continuation));
}

std::size_t utf8_error(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string shorten(std::string_view text, std::size_t limit) {
  if (utf8_length(text) <= limit) return std::string(text);
  std::size_t end = 0;
  for (std::size_t kept = 0; kept < limit - 3; ++kept) {
    ++end;
    while (is_continuation(text[end])) ++end;
  }
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace amsp
