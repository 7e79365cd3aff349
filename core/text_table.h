#pragma once

#include <string>
#include <vector>

namespace amsp {

/// A table for people: columns aligned by width (UTF-8 aware), two blanks between them, no
/// trailing blanks. Column 0 is left-aligned, the others right-aligned unless told otherwise.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void align_left(std::size_t column);
  /// Short rows are filled with empty cells; a row longer than the header is a bug (AMSP_CHECK).
  void add(std::vector<std::string> row);
  /// Every line starts with `indent` and ends with '\n'. The header is underlined with '-'.
  std::string str(const std::string& indent = "") const;

 private:
  std::vector<std::vector<std::string>> rows_;  // rows_[0] is the header
  std::vector<bool> left_;
};

}  // namespace amsp
