#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace amsp {

/// CLI11's help, its lines broken at blanks so that they fit kTextColumns.
class WrappedHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;

 private:
  std::string fitted(const std::string& line) const;
};

}  // namespace amsp
