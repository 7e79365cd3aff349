#include "tools/arguments.h"

#include <filesystem>
#include <map>
#include <memory>

#include "core/writable.h"
#include "tools/help.h"
#include "tools/run_main.h"

namespace amsp {

namespace {

namespace fs = std::filesystem;

void refuse_inputs(const Output& output, const std::vector<std::string>& inputs) {
  const auto& [option, path] = output;
  std::error_code missing;  // then they aren't the same file
  if (!fs::exists(path, missing)) return;
  const fs::path folder = fs::absolute(path).parent_path();
  for (const std::string& input : inputs) {
    if (input.empty()) continue;
    if (fs::equivalent(path, input, missing))
      throw ConfigError(fmt::format("{}: {} is an input itself", option, path));
    if (fs::is_directory(input, missing) && fs::equivalent(folder, input, missing))
      throw ConfigError(fmt::format("{}: {} is in {}, which is an input", option, path, input));
  }
}

}  // namespace

void check_outputs(const std::vector<Output>& outputs, const std::vector<std::string>& inputs) {
  std::map<fs::path, const char*> taken;
  for (const Output& output : outputs) {
    if (output.path.empty()) continue;
    refuse_inputs(output, inputs);
    check_writable(output.path);
    std::error_code ignored;
    if (fs::exists(output.path, ignored) && !fs::is_regular_file(output.path, ignored)) continue;
    const auto [other, is_new] =
        taken.try_emplace(fs::weakly_canonical(fs::absolute(output.path), ignored), output.option);
    if (!is_new)
      throw ConfigError(
          fmt::format("{}: {} is the file of {}", output.option, output.path, other->second));
  }
}

void set_up(CLI::App& app) {
  const CLI::Validator not_empty(
      [](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, "");
  app.formatter(std::make_shared<WrappedHelp>());
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() > 0) option->check(not_empty);
  for (CLI::App* command : app.get_subcommands({})) set_up(*command);
}

int run_commands(CLI::App& app, int argc, char** argv, const std::vector<Command>& commands) {
  app.require_subcommand(1);
  return run_parsed(app, argc, argv, [&] {
    return run_main(app.get_name().c_str(), [&] {
      for (const Command& command : commands)
        if (command.app->parsed()) return command.run();
      throw InternalError("no command was parsed");
    });
  });
}

}  // namespace amsp
