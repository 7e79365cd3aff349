#include "tools/arguments.h"

#include <filesystem>

namespace amsp {

void refuse_inputs(const std::string& option, const std::string& path,
                   const std::vector<std::string>& inputs) {
  namespace fs = std::filesystem;
  std::error_code missing;  // then they aren't the same file
  if (path.empty() || !fs::exists(path, missing)) return;
  const fs::path folder = fs::absolute(path).parent_path();
  for (const std::string& input : inputs) {
    if (input.empty()) continue;
    if (fs::equivalent(path, input, missing))
      throw ConfigError(option + ": " + path + " is an input itself");
    if (fs::is_directory(input, missing) && fs::equivalent(folder, input, missing))
      throw ConfigError(option + ": " + path + " is in " + input + ", which is an input");
  }
}

}  // namespace amsp
