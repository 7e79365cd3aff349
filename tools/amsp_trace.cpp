#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "core/json.h"
#include "tools/program.h"
#include "trace_analysis/analyse.h"
#include "trace_analysis/summary.h"
#include "trace_reader/load_traces.h"

namespace {

using namespace amsp;

constexpr const char* kDescription =
    "Reads training traces (ours, PyTorch profiler's): explains them, compares two, shows them.";
constexpr const char* kFooter = R"(
Examples:
  amsp-trace summary trace_rank0.json.gz trace_rank1.json.gz
  amsp-trace summary --json traces/          (a folder: all its *.json and *.json.gz)

Exit codes: 0 done, 1 --fail-above was exceeded or rules are broken, 2 the input is wrong,
4 internal failure.
)";

/// What all commands that read traces have in common.
struct Reading {
  std::vector<std::string> files;
  int rank = -1;
  std::string window = "auto";
  std::string rules;
  bool salvage = false, allow_partial = false, json = false;

  void add_to(CLI::App& command, bool with_files = true) {
    if (with_files)
      command
          .add_option("traces", files,
                      "Chrome JSON traces, plain or gzip, one rank each; or folders")
          ->required();
    command.add_option("--rank", rank, "The rank of the only trace, where it doesn't say")
        ->check(CLI::NonNegativeNumber);
    command
        .add_option("--window", window,
                    "What a step is: the host's markers (host), or its GPU work (gpu)")
        ->check(CLI::IsMember({"auto", "host", "gpu"}))
        ->capture_default_str();
    command.add_option("--rules", rules, "Your own rules on kernel names (docs/traces.md)");
    command.add_flag("--salvage", salvage, "Skip events with syntax errors, and list them");
    command.add_flag("--allow-partial", allow_partial, "Use incomplete files as far as they go");
    command.add_flag("--json", json, "Print JSON");
  }

  Analysis read(const std::vector<std::string>& paths) const {
    LoadOptions options;
    options.read = {salvage, allow_partial};
    if (rank >= 0) options.rank = rank;
    if (!rules.empty()) options.rules = UserRules(read_json_file(rules), rules);
    const bool terminal = isatty(STDERR_FILENO) != 0;
    if (terminal)
      options.progress = [](const std::string& file) {
        fmt::print(stderr, "\r\x1b[Kreading {} ...", file);
      };
    TraceSet set = load_traces(paths, options);
    if (terminal) fmt::print(stderr, "\r\x1b[K");
    return analyse(std::move(set), window == "host"  ? WindowChoice::kHost
                                   : window == "gpu" ? WindowChoice::kGpu
                                                     : WindowChoice::kAuto);
  }
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kDescription, "amsp-trace");
  app.footer(kFooter);
  app.set_version_flag("--version", "amsp-trace " AMSP_VERSION);
  app.require_subcommand(1);
  std::function<int()> run;

  Reading summary;
  CLI::App* command = app.add_subcommand("summary", "Where the time of each rank and step goes");
  summary.add_to(*command);
  command->callback([&] {
    run = [&] {
      const Analysis analysis = summary.read(summary.files);
      print_output(summary.json ? summary_json(analysis).dump(2) + "\n" : summary_text(analysis));
      return kExitOk;
    };
  });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitConfig;
  }
  return run_program("amsp-trace", run);
}
