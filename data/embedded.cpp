#include "data/embedded.h"

#include <map>

#include "core/error.h"
#include "data/embedded_files.h"

namespace amsp {
namespace {

const std::map<std::string, std::string>& contents() {
  static const std::map<std::string, std::string> by_name = [] {
    std::map<std::string, std::string> joined;
    for (const EmbeddedFile& file : embedded_files())
      for (const std::string_view piece : file.pieces) joined[std::string(file.name)] += piece;
    return joined;
  }();
  return by_name;
}

}  // namespace

std::string_view embedded(const std::string& name) {
  const auto found = contents().find(name);
  AMSP_CHECK(found != contents().end(), "no data file '{}' is compiled in", name);
  return found->second;
}

std::vector<std::string> embedded_names(std::string_view prefix) {
  std::vector<std::string> names;
  for (const auto& [name, content] : contents())
    if (name.starts_with(prefix)) names.push_back(name);
  return names;
}

}  // namespace amsp
