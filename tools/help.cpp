#include "tools/help.h"

#include <sstream>
#include <utility>

#include "core/text_lines.h"

namespace amsp {

std::string WrappedHelp::make_help(const CLI::App* app, std::string name,
                                   CLI::AppFormatMode mode) const {
  std::istringstream lines(CLI::Formatter::make_help(app, std::move(name), mode));
  std::string text;
  for (std::string line; std::getline(lines, line);)
    text += line.size() > kTextColumns ? fitted(line) : line + '\n';
  return text;
}

std::string WrappedHelp::fitted(const std::string& line) const {
  const std::size_t column = get_column_width();  // of what options mean
  const bool has_meaning = line.find_first_not_of(' ') >= column || line[column - 1] == ' ';
  if (line.starts_with("  ") && has_meaning)
    return wrapped(line.substr(column), line.substr(0, column), std::string(column, ' '));
  const std::string indent(line.find_first_not_of(' '), ' ');
  return wrapped(line, indent, indent.empty() ? "" : indent + "    ");
}

}  // namespace amsp
