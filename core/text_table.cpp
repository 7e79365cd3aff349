#include "core/text_table.h"

#include <algorithm>

#include "core/error.h"
#include "core/utf8.h"

namespace amsp {

TextTable::TextTable(std::vector<std::string> header) : left_(header.size(), false) {
  AMSP_CHECK(!header.empty(), "a table needs a column");
  left_[0] = true;
  rows_.push_back(std::move(header));
}

void TextTable::align_left(std::size_t column) {
  AMSP_CHECK(column < left_.size(), "column {} of {}", column, left_.size());
  left_[column] = true;
}

void TextTable::add(std::vector<std::string> row) {
  AMSP_CHECK(row.size() <= left_.size(), "a row of {} cells under {} columns", row.size(),
             left_.size());
  row.resize(left_.size());
  rows_.push_back(std::move(row));
}

std::string TextTable::str(const std::string& indent) const {
  std::vector<std::size_t> widths(left_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], utf8_length(row[column]));

  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      if (column > 0) line += "  ";
      const std::string padding(widths[column] - utf8_length(cells[column]), ' ');
      line += left_[column] ? cells[column] + padding : padding + cells[column];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += indent + line + '\n';
  };

  std::vector<std::string> underline;
  underline.reserve(widths.size());
  for (const std::size_t width : widths) underline.emplace_back(width, '-');
  add_line(rows_[0]);
  add_line(underline);
  for (std::size_t row = 1; row < rows_.size(); ++row) add_line(rows_[row]);
  return text;
}

}  // namespace amsp
