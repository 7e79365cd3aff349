#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "core/json/json.h"
#include "tools/arguments.h"
#include "tools/run_main.h"
#include "topology/profile/profile_writer.h"
#include "trace_analysis/analyse.h"
#include "trace_analysis/report/summary.h"
#include "trace_analysis/trace_diff.h"
#include "trace_analysis/trace_path.h"
#include "trace_calibration/calibrate.h"
#include "trace_reader/load_traces.h"
#include "trace_report/html_report.h"
#include "trace_report/plan_points.h"
#include "traces/check/trace_rules.h"
#include "traces/write/chrome_writer.h"

namespace {

using namespace amsp;

constexpr const char* kDescription =
    "Reads training traces (ours, PyTorch profiler's): explains them, compares two, shows them.";
constexpr const char* kFooter = R"(
Examples:
  amsp-trace summary trace_rank0.json.gz trace_rank1.json.gz
  amsp-trace summary --json traces/          (a folder: all its *.json and *.json.gz)
  amsp-trace critical-path step.json.gz
  amsp-trace diff simulated.json measured.json --fail-above 5%
  amsp-trace diff before/ after/ --merged both.json.gz       (open it in ui.perfetto.dev)
  amsp-trace validate step.json.gz
  amsp-trace report step.json.gz --out step.html             (open it in a browser, offline too)
  amsp-trace calibrate run/ --scenario scenario.json --name mybox --out mybox.json
  amsp-trace report after/ --against before/ --out both.html

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

int print(const Reading& reading, OrderedJson (*json)(const Analysis&),
          std::string (*text)(const Analysis&)) {
  const Analysis analysis = reading.read(reading.files);
  print_output(reading.json ? json(analysis).dump(2) + "\n" : text(analysis));
  return kExitOk;
}

/// "a.json,b.json" or a folder; a file whose name has commas stands for itself.
std::vector<std::string> side(const std::string& text) {
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return {text};
  std::vector<std::string> paths;
  std::size_t from = 0;
  for (std::size_t comma = 0; comma != std::string::npos; from = comma + 1) {
    comma = text.find(',', from);
    paths.push_back(text.substr(from, comma == std::string::npos ? comma : comma - from));
  }
  return paths;
}

/// "5%" or "5 %" to 0.05.
double parse_percent(std::string text) {
  const std::string given = text;
  if (text.ends_with('%')) text.pop_back();
  while (text.ends_with(' ')) text.pop_back();
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= 0) || !std::isfinite(value) ||
      !given.ends_with('%'))
    throw ConfigError("--fail-above: must be a percentage such as 5%, found \"" + given + "\"");
  return value / 100;
}

int print_diff(const Reading& reading, const std::string& fail_above, const std::string& merged) {
  const double limit =
      fail_above.empty() ? std::numeric_limits<double>::infinity() : parse_percent(fail_above);
  for (const std::string& input : reading.files) check_outputs({{"--merged", merged}}, side(input));
  const Analysis a = reading.read(side(reading.files[0]));
  const Analysis b = reading.read(side(reading.files[1]));
  const TraceDiff diff = diff_traces(a, b);
  if (!merged.empty()) write_trace(merged, merged_trace(diff, a, b));
  print_output(reading.json ? diff_json(diff, a, b).dump(2) + "\n" : diff_text(diff, a, b));
  if (std::abs(step_change(diff)) <= limit) return kExitOk;
  fmt::print(stderr, "amsp-trace: the step time differs by {:+.2f} %, more than {}\n",
             100 * step_change(diff), fail_above);
  return kExitFailed;
}

struct Report {
  Reading reading;
  std::string out, against, plans, title;
  std::vector<int> ranks;
};

int write_report(const Report& report) {
  std::vector<std::string> inputs = side(report.against);
  inputs.insert(inputs.end(), report.reading.files.begin(), report.reading.files.end());
  inputs.push_back(report.plans);
  check_outputs({{"--out", report.out}}, inputs);
  const Analysis analysis = report.reading.read(report.reading.files);
  std::optional<Analysis> against;
  if (!report.against.empty()) against = report.reading.read(side(report.against));
  ReportOptions options;
  options.title = report.title.empty() ? analysis.set.files.front().path : report.title;
  options.ranks = report.ranks;
  options.against = against ? &*against : nullptr;
  if (!report.plans.empty()) options.plans = plan_points(read_file(report.plans), report.plans);
  write_file(report.out, html_report(analysis, options));
  return kExitOk;
}

struct Calibrating {
  Reading reading;
  std::string scenario, name, out;
};

int write_profile(const Calibrating& options) {
  std::vector<std::string> inputs = options.reading.files;
  inputs.push_back(options.scenario);
  check_outputs({{"--out", options.out}}, inputs);
  const Scenario scenario = load_scenario(options.scenario);
  const Analysis analysis = options.reading.read(options.reading.files);
  const Calibration result = calibrate(scenario, analysis, options.name);
  write_file(options.out, profile_text(result.profile));
  std::string text =
      fmt::format("{}: use it by \"profile\": \"{}\" in the cluster of a scenario beside it\n",
                  options.out, std::filesystem::path(options.out).filename().string());
  for (const std::string& note : result.notes) text += "  " + note + "\n";
  print_output(options.reading.json ? OrderedJson(result.notes).dump(2) + "\n" : text);
  return kExitOk;
}

int validate(const std::vector<std::string>& paths, const std::string& schema, bool json) {
  OrderedJson report = OrderedJson::object();
  std::string text;
  bool broken = false;
  for (const std::string& file : trace_files(paths)) {
    const std::string content = read_trace_text(file);
    const bool ours = schema == "amsp" || (schema == "auto" && claims_our_schema(content));
    const std::vector<std::string> lines =
        broken_trace_rules(content, ours ? RuleSet::kSchema : RuleSet::kViewers);
    broken = broken || !lines.empty();
    report[file] = {{"rules", ours ? "amsp" : "viewers"}, {"broken", lines}};
    text += fmt::format(
        "{}: {} ({})\n", file,
        lines.empty() ? std::string("good") : fmt::format("{} broken rules", lines.size()),
        ours ? "viewers' rules and our schema" : "viewers' rules");
    constexpr std::size_t kMostLines = 50;
    for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i)
      text += "  " + lines[i] + "\n";
    if (lines.size() > kMostLines)
      text += fmt::format("  ... and {} more (--json has all)\n", lines.size() - kMostLines);
  }
  print_output(json ? report.dump(2) + "\n" : text);
  return broken ? kExitFailed : kExitOk;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kDescription, "amsp-trace");
  app.footer(kFooter);
  app.set_version_flag("--version", "amsp-trace " AMSP_VERSION);
  std::vector<Command> commands;

  Reading summary;
  CLI::App* command = app.add_subcommand("summary", "Where the time of each rank and step goes");
  summary.add_to(*command);
  commands.push_back({command, [&] { return print(summary, summary_json, summary_text); }});

  Reading path;
  command = app.add_subcommand("critical-path", "What each step waited for, piece by piece");
  path.add_to(*command);
  commands.push_back({command, [&] { return print(path, path_json, path_text); }});

  Reading both;
  std::string fail_above, merged;
  command = app.add_subcommand("diff", "Compares two traces, or two sets of ranks, event by event");
  command
      ->add_option("sides", both.files,
                   "A and B: a trace, a folder of ranks, or ranks separated by commas")
      ->required()
      ->expected(2);
  both.add_to(*command, false);
  command->add_option("--fail-above", fail_above,
                      "Exit with 1 if the step time differs by more, such as 5%");
  command->add_option("--merged", merged, "Write one Chrome trace with both sides");
  commands.push_back({command, [&] { return print_diff(both, fail_above, merged); }});

  Report report;
  command = app.add_subcommand("report", "Writes one HTML page that works offline");
  report.reading.add_to(*command);
  command->add_option("--out", report.out, "The page")->required();
  command->add_option("--against", report.against,
                      "Compare with this trace (or folder, or ranks separated by commas)");
  command->add_option("--ranks", report.ranks, "Ranks of the timeline, such as 0,3")
      ->delimiter(',');
  command->add_option("--plans", report.plans,
                      "A planner's JSON lines: adds scaling and Pareto charts");
  command->add_option("--title", report.title, "Title of the page");
  commands.push_back({command, [&] { return write_report(report); }});

  Calibrating calibrating;
  command = app.add_subcommand("calibrate",
                               "Makes a profile for the simulator from traces of our own programs");
  calibrating.reading.add_to(*command);
  command->add_option("--scenario", calibrating.scenario, "The scenario that was run")->required();
  command->add_option("--name", calibrating.name, "Name of the profile")->required();
  command->add_option("--out", calibrating.out, "The profile (*.json)")->required();
  commands.push_back({command, [&] { return write_profile(calibrating); }});

  std::vector<std::string> files;
  std::string schema = "auto";
  bool json = false;
  command = app.add_subcommand(
      "validate", "Checks what viewers need (Perfetto, chrome://tracing) and our schema");
  command->add_option("traces", files, "Chrome JSON traces, plain or gzip; or folders")->required();
  command->add_option("--schema", schema, "Rules of viewers only, or those of our schema too")
      ->check(CLI::IsMember({"auto", "viewers", "amsp"}))
      ->capture_default_str();
  command->add_flag("--json", json, "Print JSON");
  commands.push_back({command, [&] { return validate(files, schema, json); }});

  return run_commands(app, argc, argv, commands);
}
