#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace amsp {

/// The content of a file of data/ as it was when the library was built, by its path inside data/:
/// "gpus.json", "profiles/a800-4xhdr.json". The view stays valid for the life of the program.
/// Throws InternalError if there is no such file.
std::string_view embedded(const std::string& name);

/// The names that start with `prefix`, sorted.
std::vector<std::string> embedded_names(std::string_view prefix = "");

}  // namespace amsp
