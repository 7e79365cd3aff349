#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "core/json/json.h"
#include "core/nearest.h"
#include "core/text_lines.h"
#include "fidelity/report.h"
#include "sim/simulator.h"
#include "tools/arguments.h"
#include "tools/run_main.h"
#include "tools/sim/commands.h"

namespace {

using namespace amsp;

constexpr const char* kDescription =
    "How good are the predictions? Predicts runs that somebody measured, and compares.";
constexpr const char* kFooter = R"(
Errors are predicted over measured, less 1. Each set is also compared with what needs no simulator:
every row at the set's median MFU, and all tasks one after the other.

A table of your own has the columns scenario (a path, relative to the table), metric (step_time_s,
tgs, mfu as a fraction, memory_gib) and value, and may have overrides (a.b=1 c.d=2), name, note and
doubtful (a reason).

Examples:
  amsp-sim fidelity                                   (all sets that come with amsp-sim)
  amsp-sim fidelity --set amsp-table-v --svg table-v.svg
  amsp-sim fidelity --measured runs.csv --csv > compared.csv
  amsp-sim fidelity --summary --with cluster.gpu.gemm_efficiency=0.75   (what if)

Exit codes: 0 compared, 2 the input is wrong, 3 no row could be compared, 4 internal failure.
)";

struct Options {
  std::vector<std::string> sets;
  std::vector<std::string> measured;
  std::vector<std::string> overrides;
  bool list = false, json = false, csv = false, summary = false;
  std::string svg;
  std::size_t sample = 0;
  int workers = 0;
};

void check_set_name(const std::string& name) {
  const std::vector<std::string> names = shipped_set_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  const auto close = nearest(name, names);
  throw ConfigError(fmt::format("--set: there is no set '{}'{} (sets: {})", name,
                                close ? "; did you mean '" + *close + "'?" : "", join(names)));
}

std::vector<MeasuredSet> read_sets(const Options& options) {
  std::vector<std::string> names = options.sets;
  if (names.empty() && options.measured.empty()) names = shipped_set_names();
  std::vector<MeasuredSet> sets;
  for (const std::string& name : names) {
    check_set_name(name);
    sets.push_back(shipped_set(name));
  }
  for (const std::string& path : options.measured)
    sets.push_back(read_measured_csv(read_file(path), path));
  if (options.sample > 0)
    for (MeasuredSet& set : sets) set = sampled(std::move(set), options.sample);
  return sets;
}

std::string list_of(const std::vector<MeasuredSet>& sets) {
  TextLines text;
  for (const MeasuredSet& set : sets)
    text.add(wrapped(fmt::format("{} ({} rows)", set.title, set.rows.size()),
                     fmt::format("{:<24}", set.name), std::string(24, ' ')));
  return text.take();
}

std::string report(const Options& options, const std::vector<ComparedSet>& sets) {
  if (options.json) return fidelity_json(sets).dump(2) + "\n";
  return options.csv ? fidelity_csv(sets) : fidelity_text(sets, !options.summary);
}

int exit_code(const std::vector<ComparedSet>& sets) {
  bool none = true;
  for (const ComparedSet& set : sets) {
    none = none && set.compared() == 0;
    for (const ComparedRow& row : set.rows)
      if (row.internal) throw InternalError(set.set.name + ": " + row.skipped);
  }
  return none ? kExitInfeasible : kExitOk;
}

int run_fidelity(const Options& options) {
  check_outputs({{"--svg", options.svg}}, options.measured);
  std::vector<MeasuredSet> sets = read_sets(options);
  if (options.list) {
    print_output(list_of(sets));
    return kExitOk;
  }
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  ComparisonOptions comparison;
  comparison.overrides = options.overrides;
  comparison.workers = options.workers > 0 ? options.workers : std::max(1, cores);
  if (terminal)
    comparison.progress = [](std::size_t done, std::size_t total) {
      fmt::print(stderr, "\r\x1b[K{} of {} runs simulated", done, total);
    };
  const Predictor predictor = [](const Scenario& scenario) {
    return predict(scenario, simulate).prediction;
  };
  const std::vector<ComparedSet> compared = compare(std::move(sets), predictor, comparison);
  if (terminal) fmt::print(stderr, "\r\x1b[K");
  print_output(report(options, compared));
  const int code = exit_code(compared);
  if (!options.svg.empty()) write_file(options.svg, fidelity_svg(compared));
  return code;
}

}  // namespace

namespace amsp {

int fidelity_command(int argc, char** argv) {
  CLI::App app(kDescription, "amsp-sim fidelity");
  Options options;
  app.footer(kFooter);
  app.add_option("--set", options.sets, "Only this set of measured runs (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--measured", options.measured, "Runs of your own: a CSV file (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--with", options.overrides,
                 "Override a key of every scenario, such as training.clip_gradients=false "
                 "(repeatable)")
      ->allow_extra_args(false);
  app.add_option("--sample", options.sample, "At most so many rows of each set, evenly spread")
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--list", options.list, "Say which sets there are");
  auto* summary = app.add_flag("--summary", options.summary, "Statistics only, without the rows");
  auto* json = app.add_flag("--json", options.json, "Print JSON")->excludes(summary);
  app.add_flag("--csv", options.csv, "Print one line a row")->excludes(json)->excludes(summary);
  app.add_option("--svg", options.svg, "Draw predicted against measured");
  app.add_option("--workers", options.workers, "Processes to simulate in (default: one a core)")
      ->check(CLI::Range(1, 1024));
  return run_parsed(app, argc, argv, [&] { return run_fidelity(options); });
}

}  // namespace amsp
