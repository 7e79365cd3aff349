#include "core/text_lines.h"

#include "core/utf8.h"

namespace amsp {

std::string wrapped(std::string_view paragraph, const std::string& first, const std::string& rest,
                    std::size_t columns) {
  std::string result, line = first;
  bool is_empty = true;
  while (true) {
    const std::size_t from = paragraph.find_first_not_of(" \n");
    if (from == std::string_view::npos) return result + line + '\n';
    paragraph.remove_prefix(from);
    const std::string_view word = paragraph.substr(0, paragraph.find_first_of(" \n"));
    paragraph.remove_prefix(word.size());
    if (!is_empty && utf8_length(line) + 1 + utf8_length(word) > columns) {
      result += line + '\n';
      line = rest;
      is_empty = true;
    }
    if (!is_empty) line += ' ';
    line += word;
    is_empty = false;
  }
}

std::string escaped_markup(std::string_view text, bool quotes) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"' && quotes)
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

}  // namespace amsp
