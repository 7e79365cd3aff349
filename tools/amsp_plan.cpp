#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "core/json/json.h"
#include "core/nearest.h"
#include "planner/report/export.h"
#include "planner/report/pareto_plot.h"
#include "planner/report/report.h"
#include "sim/simulator.h"
#include "tools/arguments.h"
#include "tools/run_main.h"

namespace {

using namespace amsp;

constexpr const char* kDescription =
    "Finds the sharding plan under which a training step is fastest, and says what the others "
    "cost.";
constexpr const char* kFooter = R"(
The scenario is one of amsp-sim's; its plan is today's, is marked in the ranking, and may be absent.

Examples:
  amsp-plan scenarios/llama-7b-amsp-1024gpu.json
  amsp-plan scenario.json --search plan,micro_batch,recompute --top 20
  amsp-plan scenario.json --objective comm-time          (the paper's objective)
  amsp-plan scenario.json --gpus 8,16,...,1024           (does the best plan change with scale?)
  amsp-plan scenario.json --micro-batches 1,2,...,64     (or with the batch?)
  amsp-plan scenario.json --compare a.json b.json        (or on another cluster?)
  amsp-plan scenario.json --sensitivity                  (what if links or kernels were faster?)
  amsp-plan scenario.json --pareto                       (memory against throughput)
  amsp-plan scenario.json --export deepspeed --output ds.json

Exit codes: 0 found, 2 the input is wrong, 3 no plan fits, 4 internal failure, 130 interrupted
(what was known by then is printed).
)";

struct Options {
  std::string scenario;
  std::vector<std::string> overrides;
  std::string search = "plan";
  std::string objective = "step-time";
  std::size_t top = 10;
  std::string gpus;
  std::string micro_batches;
  std::vector<std::string> compare;
  bool sensitivity = false;
  bool pareto = false;
  std::string pareto_svg;
  std::string format;
  std::string output;
  std::size_t pick = 1;
  int workers = 0;
  bool json = false;
};

constexpr int kExitInterrupted = 128 + SIGINT;
volatile std::sig_atomic_t interrupted = 0;

/// The first interrupt ends the search, the second the program.
void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

/// What is going on, on a terminal, once it takes more than a second.
class Progress {
 public:
  void begin(std::size_t search, std::size_t count) {
    label_ = count > 1 ? fmt::format("search {} of {}, ", search, count) : "";
    start_ = Clock::now();
  }
  void show(std::size_t done, std::size_t total) {
    using Fraction = std::chrono::duration<double>;
    const double elapsed = Fraction(Clock::now() - start_).count();
    if (!terminal_ || Fraction(Clock::now() - first_).count() < 1) return;
    std::string left;
    if (done > 0)
      left = fmt::format(", {:.0f} s left",
                         elapsed / static_cast<double>(done) * static_cast<double>(total - done));
    fmt::print(stderr, "\r\x1b[K{}{} of {} plans simulated{}", label_, done, total, left);
    shown_ = true;
  }
  void clear() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
    shown_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  std::string label_;
  Clock::time_point first_ = Clock::now(), start_ = first_;
};

class PlanCommand {
 public:
  explicit PlanCommand(const Options& options) : options_(options) {
    search_.axes = parse_axes(options.search);
    search_.objective =
        options.objective == "comm-time" ? Objective::kCommTime : Objective::kStepTime;
    search_.top = options.top;
    runner_.play = simulate;
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    runner_.workers = options.workers > 0 ? options.workers : std::max(1, cores);
    runner_.proceed = [this](std::size_t done, std::size_t total) {
      progress_.show(done, total);
      return interrupted == 0;
    };
  }

  int run() {
    std::vector<std::string> inputs = options_.compare;
    inputs.push_back(options_.scenario);
    check_outputs({{"--output", options_.output}, {"--pareto-svg", options_.pareto_svg}}, inputs);
    Json json = read_json_file(options_.scenario);
    for (const std::string& assignment : options_.overrides) apply_override(json, assignment);
    const PlanningCase question = read_planning_case(json, options_.scenario);
    if (!options_.gpus.empty()) return run_sweep(gpu_cases(question, options_.gpus));
    if (!options_.micro_batches.empty())
      return run_sweep(micro_batch_cases(question, options_.micro_batches));
    if (!options_.compare.empty()) return run_sweep(cluster_cases(question, options_.compare));
    return run_search(question);
  }

 private:
  void print_line(const OrderedJson& json) {
    progress_.clear();
    print_output(json.dump() + "\n");
  }

  int run_search(const PlanningCase& question) {
    const SearchResult result = search(question, search_, runner_, [&](const Entry& entry) {
      if (options_.json) print_line(entry_json(question, entry));
    });
    progress_.clear();
    if (options_.json) {
      print_line(space_json(question, result));
      print_line(ranking_json(question, result));
    } else {
      print_output(search_text(question, result, search_.top));
      if (options_.pareto) print_output("\n" + pareto_text(question, result));
    }
    if (!options_.pareto_svg.empty() && !result.by_step_time.empty())
      write_file(options_.pareto_svg, pareto_svg(question, result));
    if (!options_.format.empty() && !result.interrupted && !result.empty())
      hand_over(question, result);
    bool cut = result.interrupted;
    if (options_.sensitivity && !cut && !result.empty()) cut = run_sensitivity(question, result);
    return exit_code(cut, result.empty(), result);
  }

  bool run_sensitivity(const PlanningCase& question, const SearchResult& base) {
    const Sensitivity result = sensitivity(
        question, search_, runner_, base,
        [&](std::size_t at, std::size_t count) { progress_.begin(at, count); },
        [&](const SensitivityRow& row) {
          if (options_.json) print_line(sensitivity_json(row));
        });
    progress_.clear();
    if (!options_.json) print_output("\n" + sensitivity_text(result));
    return result.interrupted;
  }

  /// Writes the configuration, and says on standard error what it can't say.
  void hand_over(const PlanningCase& question, const SearchResult& result) {
    if (options_.pick > result.ranking().size())
      throw ConfigError(fmt::format("--pick: must be a rank from 1 to {}, found {}",
                                    result.ranking().size(), options_.pick));
    const ExportFormat format = export_format(options_.format);
    const std::string folder = std::filesystem::absolute(options_.output).parent_path().string();
    const auto exported_at = [&](std::size_t place) {
      return export_candidate(question, result.entries[result.ranking()[place]].candidate, format,
                              folder);
    };
    const Exported exported = exported_at(options_.pick - 1);
    if (!exported.possible) {
      std::string best = "no plan in the ranking can be exported so";
      for (std::size_t place = 0; place < result.ranking().size(); ++place)
        if (exported_at(place).possible) {
          const Entry& entry = result.entries[result.ranking()[place]];
          best = fmt::format("the best that can is rank {}, {}, slower by {:.1f} %: --pick {}",
                             place + 1, meshes_of(entry.candidate.plan), 100 * result.slower(entry),
                             place + 1);
          break;
        }
      throw InfeasibleError(
          fmt::format("--export {}: {}; {}", options_.format, join(exported.notes, "; "), best));
    }
    write_file(options_.output, exported.content);
    fmt::print(stderr, "{}: rank {} for {}\n", options_.output, options_.pick, options_.format);
    for (const std::string& note : exported.notes) fmt::print(stderr, "  - {}\n", note);
  }

  int run_sweep(std::vector<SweepCase> cases) {
    const Sweep result = sweep(
        std::move(cases), search_, runner_,
        [&](std::size_t at, std::size_t count) { progress_.begin(at, count); },
        [&](const SweepPoint& point) {
          if (options_.json) print_line(sweep_json(point));
        });
    progress_.clear();
    if (!options_.json) print_output(sweep_text(result, search_.objective));
    bool none = true;
    for (const SweepPoint& point : result.points) {
      none = none && !point.solved();
      if (point.result) check_internal(*point.result);
    }
    return result.interrupted ? kExitInterrupted : none ? kExitInfeasible : kExitOk;
  }

  /// A run that failed by a bug must not pass for one that lost.
  static void check_internal(const SearchResult& result) {
    for (const Rejection& rejection : rejections(result))
      if (rejection.internal)
        throw InternalError(fmt::format("{} of the plans {}", rejection.count, rejection.reason));
  }

  static int exit_code(bool cut, bool empty, const SearchResult& result) {
    check_internal(result);
    if (cut) {
      fmt::print(stderr, "amsp-plan: interrupted\n");
      return kExitInterrupted;
    }
    return empty ? kExitInfeasible : kExitOk;
  }

  const Options& options_;
  SearchOptions search_;
  Runner runner_;
  Progress progress_;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kDescription, "amsp-plan");
  Options options;
  app.footer(kFooter);
  app.set_version_flag("--version", "amsp-plan " AMSP_VERSION);
  app.add_option("scenario", options.scenario, "Scenario file (schema amsp.scenario/1)")
      ->required();
  app.add_option("--set", options.overrides,
                 "Override a key of the scenario, such as training.global_batch=512 (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--search", options.search,
                 "What to vary, at fixed global batch: plan, p2 (ZeRO++), micro_batch, recompute")
      ->capture_default_str();
  app.add_option("--objective", options.objective,
                 "What to minimise: the simulated step-time, or the paper's comm-time")
      ->check(CLI::IsMember({"step-time", "comm-time"}))
      ->capture_default_str();
  app.add_option("--top", options.top, "Plans to show")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  auto* gpus = app.add_option("--gpus", options.gpus,
                              "Search for each of these numbers of GPUs, such as 8,16,...,1024");
  auto* micro_batches = app.add_option("--micro-batches", options.micro_batches,
                                       "Search for each of these numbers of micro-batches a step")
                            ->excludes(gpus);
  auto* compare = app.add_option("--compare", options.compare,
                                 "Search on each of these clusters: files with what a scenario has "
                                 "under \"cluster\"")
                      ->excludes(gpus)
                      ->excludes(micro_batches);
  app.add_flag("--sensitivity", options.sensitivity,
               "Search again with bandwidths, latency, compute rate and memory 10, 25, 50 % off")
      ->excludes(gpus)
      ->excludes(micro_batches)
      ->excludes(compare);
  app.add_flag("--pareto", options.pareto, "Plot memory against throughput")
      ->excludes(gpus)
      ->excludes(micro_batches)
      ->excludes(compare);
  app.add_option("--pareto-svg", options.pareto_svg, "Write that plot as a picture")
      ->excludes(gpus)
      ->excludes(micro_batches)
      ->excludes(compare);
  auto* format =
      app.add_option("--export", options.format, "Write the best plan as a configuration of this")
          ->check(CLI::IsMember(export_formats()))
          ->excludes(gpus)
          ->excludes(micro_batches)
          ->excludes(compare);
  auto* output = app.add_option("--output", options.output, "File for --export")->needs(format);
  format->needs(output);
  app.add_option("--pick", options.pick, "Export the plan of this rank instead of the best")
      ->check(CLI::Range(1, 1000000))
      ->needs(format);
  app.add_option("--workers", options.workers, "Processes to simulate in (default: one a core)")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--json", options.json, "Print JSON lines as results come");
  return run_parsed(app, argc, argv, [&] {
    catch_interrupts();
    return run_main("amsp-plan", [&] { return PlanCommand(options).run(); });
  });
}
