#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace amsp {

/// Columns that text for people may take.
inline constexpr std::size_t kTextColumns = 100;

/// Text for people, written line by line.
class TextLines {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  /// Whole lines, such as a table's.
  void add(std::string_view lines) { text_ += lines; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Breaks a paragraph at blanks into lines of at most `columns` code points, where words allow it.
/// The first line starts with `first`, the others with `rest`; each ends with '\n'.
std::string wrapped(std::string_view paragraph, const std::string& first, const std::string& rest,
                    std::size_t columns = kTextColumns);

/// Text for XML and HTML: '&', '<' and '>' as entities, and '"' with `quotes`.
std::string escaped_markup(std::string_view text, bool quotes = false);

}  // namespace amsp
