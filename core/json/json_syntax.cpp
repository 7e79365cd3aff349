#include "core/json/json_syntax.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/json/json.h"
#include "core/nearest.h"
#include "core/utf8.h"

namespace amsp {
namespace {

using Container = JsonPlace::Container;

constexpr std::size_t kFoundLimit = 40;

struct Token {
  std::size_t begin;
  std::string_view text;  // empty at the end of the whole text
  char before;            // the last character of the token before, '\0' if there is none
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_mark(char c) {
  return std::string_view("{}[]:,").find(c) != std::string_view::npos;
}

/// The end of the token that starts at `begin`: a mark, a string with its quotes, or anything else
/// as far as the next blank, mark or quote.
std::size_t token_end(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  if (is_mark(text[begin])) return end;
  if (text[begin] == '"') {
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  while (end < text.size() && !is_blank(text[end]) && !is_mark(text[end]) && text[end] != '"')
    ++end;
  return end;
}

/// The token that holds the offending byte. The tokens before it are valid.
Token offending_token(std::string_view text, std::size_t bytes_read) {
  Token token{0, {}, '\0'};
  while (true) {
    while (token.begin < text.size() && is_blank(text[token.begin])) ++token.begin;
    if (token.begin == text.size()) return {text.size(), {}, token.before};
    const std::size_t end = token_end(text, token.begin);
    token.text = text.substr(token.begin, end - token.begin);
    // a word that is cut short is noticed only at the byte behind it
    const bool cut_short =
        end + 1 == bytes_read && !is_mark(token.text[0]) && !Json::accept(token.text);
    if (end >= bytes_read || cut_short) return token;
    token = {end, {}, token.text.back()};
  }
}

std::string_view expected(const JsonPlace& place, char before) {
  if (before == '\0') return "a value";
  if (place.container == Container::kNone) return "the end of the text";
  if (place.after_key && before != ':') return "':'";
  const bool in_object = place.container == Container::kObject;
  switch (before) {
    case '{':
      return "a key in double quotes or '}'";
    case '[':
      return "a value or ']'";
    case ',':
      return in_object ? "a key in double quotes" : "a value";
    case ':':
      return "a value";
    default:
      return in_object ? "',' or '}'" : "',' or ']'";
  }
}

std::string quote(std::string_view token) {
  if (token.empty()) return "the end of the text";
  if (token[0] == '"') return shorten(token, kFoundLimit);
  // the escapes of JSON keep control characters off the terminal
  std::string escaped = Json(shorten(token, kFoundLimit)).dump();
  escaped.front() = escaped.back() = '\'';
  return escaped;
}

bool is_infinite_or_nan(std::string_view word) {
  const std::size_t sign = word.starts_with('-') || word.starts_with('+') ? 1 : 0;
  std::string letters(word.substr(sign));
  for (char& c : letters) c = char(c | 0x20);  // lower case, if a letter
  return letters == "nan" || letters == "inf" || letters == "infinity";
}

/// What is wrong inside a string that starts where one may start.
std::string explain_string(std::string_view text, const Token& token, std::size_t bytes_read) {
  const std::string start = line_and_column(text, token.begin);
  if (bytes_read > text.size()) return start + ": the string is not closed";
  const char offender = text[bytes_read - 1];
  if (offender == '\n' || offender == '\r')
    return start + ": the string is not closed on its line (a line break is written \\n)";
  const std::string place = line_and_column(text, bytes_read - 1);
  if (static_cast<unsigned char>(offender) < 0x20)
    return fmt::format("{}: a string cannot hold the control character U+{:04X}", place, offender);
  return place + ": bad escape in a string";
}

/// What is wrong with a bare word where a value may stand, or "" if nothing is to say.
std::string explain_word(std::string_view word) {
  if (is_infinite_or_nan(word)) return quote(word) + " is not a number in JSON";
  if (std::string_view("+-.0123456789").find(word[0]) != std::string_view::npos)
    return quote(word) + " is not a valid number";
  if (word[0] == '\'') return "a string needs double quotes, found " + quote(word);
  return "";
}

}  // namespace

std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}", std::count(before.begin(), before.end(), '\n') + 1,
                     utf8_length(before.substr(line_begin)) + 1);
}

std::string explain_syntax_error(std::string_view text, const JsonPlace& place) {
  const Token token = offending_token(text, place.bytes_read);
  const std::string_view wanted = expected(place, token.before);
  const bool wants_value = wanted.starts_with("a value");

  if (token.text.starts_with('"') && (wants_value || wanted.starts_with("a key")))
    return explain_string(text, token, place.bytes_read);
  const std::string where = line_and_column(text, token.begin) + ": ";
  if (token.text.starts_with("//") || token.text.starts_with("/*"))
    return where + "JSON has no comments, found " + quote(token.text);
  const bool is_word = !token.text.empty() && !is_mark(token.text[0]);
  if (!is_word || !wants_value)
    return fmt::format("{}expected {}, found {}", where, wanted, quote(token.text));

  const std::string reason = explain_word(token.text);
  if (!reason.empty()) return where + reason;
  const auto guess = nearest(token.text, {"true", "false", "null"});
  return fmt::format("{}expected {}, found {}{}", where, wanted, quote(token.text),
                     guess ? fmt::format("; did you mean '{}'?", *guess) : "");
}

std::string explain_overflow(std::string_view text, const JsonPlace& place) {
  const Token token = offending_token(text, place.bytes_read);
  return fmt::format("{}: the number {} is too large", line_and_column(text, token.begin),
                     quote(token.text));
}

}  // namespace amsp
