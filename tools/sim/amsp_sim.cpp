#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/nearest.h"
#include "tools/run_main.h"
#include "tools/sim/commands.h"

namespace {

using namespace amsp;

struct Command {
  const char* name;
  int (*run)(int argc, char** argv);
};
constexpr Command kCommands[] = {
    {"predict", predict_command},       {"topology", topology_command},
    {"collective", collective_command}, {"placement", placement_command},
    {"fidelity", fidelity_command},
};

/// A first word that is neither a command nor an option nor a file may be a misspelt command.
void check_first_word(const std::string& word) {
  std::error_code unreadable;
  if (word.empty() || word[0] == '-' || std::filesystem::exists(word, unreadable)) return;
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  if (const auto close = nearest(word, names))
    throw ConfigError(
        fmt::format("there is no command or file '{}'; did you mean '{}'?", word, *close));
}

}  // namespace

int main(int argc, char** argv) {
  return run_main("amsp-sim", [&] {
    if (argc > 1) {
      for (const Command& command : kCommands) {
        if (command.name != std::string(argv[1])) continue;
        argv[1] = argv[0];
        return command.run(argc - 1, argv + 1);
      }
      check_first_word(argv[1]);
    }
    return predict_command(argc, argv);
  });
}
