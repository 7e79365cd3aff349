#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <thread>

#include "core/json/json.h"
#include "prediction/predict.h"
#include "sim/jitter.h"
#include "sim/simulator.h"
#include "tools/arguments.h"
#include "tools/run_main.h"
#include "tools/sim/commands.h"
#include "trace_analysis/analyse.h"
#include "trace_reader/load_traces.h"
#include "trace_report/html_report.h"
#include "traces/write/chrome_writer.h"

namespace {

using namespace amsp;

constexpr const char* kDescription =
    "Predicts what one training step costs on a cluster under a sharding plan.";
constexpr const char* kFooter = R"(
Commands (amsp-sim COMMAND --help says more):
  predict     what one training step costs; the default
  topology    a cluster's network: ports, oversubscription, bisection, distances; pictures
  collective  what one collective takes, and which algorithm NCCL picks for it
  placement   which rank runs where; hostfiles for mpirun and Slurm
  fidelity    how good predictions are: measured training runs, or yours, against them

Examples:
  amsp-sim scenarios/llama-7b-amsp-1024gpu.json
  amsp-sim scenarios/llama-7b-amsp-1024gpu.json --set cluster.nodes=8 --set plan=zero1
  amsp-sim scenario.json --json > prediction.json
  amsp-sim scenario.json --set conditions.jitter.sigma=0.03 --samples 1000
  amsp-sim scenario.json --trace step.json.gz --trace-ranks 0,1   (open it in ui.perfetto.dev)
  amsp-sim scenario.json --report step.html                       (open it in a browser)

Exit codes: 0 predicted, 2 the input is wrong, 3 the plan is not possible or doesn't fit,
4 internal failure.
)";

struct Options {
  std::string scenario;
  std::vector<std::string> overrides;
  bool json = false;
  std::string network = "folded";
  std::string trace;
  std::string trace_ranks = "0";
  int samples = 0;
  int workers = 0;
  std::string report;
};

/// --samples on top of what the scenario says.
void set_samples(const Options& options, Scenario& scenario) {
  if (options.samples == 0) return;
  if (!scenario.conditions.jitter)
    throw ConfigError("--samples: needs 'conditions/jitter' in " + scenario.file +
                      ", or --set conditions.jitter.sigma=0.03");
  scenario.conditions.jitter->samples = options.samples;
}

/// "0,3,8-11".
std::vector<Rank> parse_ranks(const std::string& text, int ranks) {
  const auto bad = [&]() -> ConfigError {
    return ConfigError(
        fmt::format("--trace-ranks: must be ranks from 0 to {} such as 0,3,8-11, found \"{}\"",
                    ranks - 1, text));
  };
  std::vector<Rank> result;
  const char* at = text.data();
  const char* end = at + text.size();
  const auto number = [&] {
    Rank value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || value < 0 || value >= ranks) throw bad();
    at = next;
    return value;
  };
  while (true) {
    const Rank first = number();
    Rank last = first;
    if (at != end && *at == '-') {
      ++at;
      last = number();
    }
    if (last < first) throw bad();
    for (Rank rank = first; rank <= last; ++rank) result.push_back(rank);
    if (at == end) break;
    if (*at++ != ',') throw bad();
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::string trace_of(const Options& options, const Scenario& scenario, const Timeline& timeline) {
  TraceMeta meta;
  meta.producer = "amsp-sim " AMSP_VERSION;
  meta.source = "sim";
  meta.config_hash = scenario.hash;
  meta.title = scenario.name;
  meta.device_name = scenario.cluster.gpu.name;
  meta.device_memory_bytes = scenario.cluster.gpu.memory.value;
  meta.device_sms = scenario.cluster.gpu.sms;
  return chrome_trace(timeline, parse_ranks(options.trace_ranks, timeline.ranks()), meta);
}

/// Trace and page are made of the same text, and written once both are there.
void write_files(const Options& options, const Predicted& predicted) {
  const Scenario& scenario = predicted.setup.scenario();
  const MemoryEstimate& memory = predicted.prediction.memory;
  const std::string text = trace_of(options, scenario, predicted.playback.timeline);
  if (options.report.empty()) return write_trace(options.trace, text);
  const Analysis analysis = analyse(load_trace_text(text, scenario.name), WindowChoice::kHost);
  ReportOptions page;
  page.title = scenario.name + " (simulated)";
  for (const RankTrace& rank : analysis.set.ranks) page.ranks.push_back(rank.rank.value());
  for (const MemoryPart& part : memory.parts)
    page.memory.push_back({part.name, part.bytes.value, part.formula});
  page.memory_capacity = memory.capacity.value;
  const std::string html = html_report(analysis, page);
  if (!options.trace.empty()) write_trace(options.trace, text);
  write_file(options.report, html);
}

int run(const Options& options) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto progress = [&](const std::string& what) {
    if (terminal) fmt::print(stderr, "\r\x1b[K{}{}", what, what.empty() ? "" : " ...");
  };
  Scenario scenario = load_scenario(options.scenario, options.overrides);
  set_samples(options, scenario);
  const bool writes = !options.trace.empty() || !options.report.empty();
  if (writes) parse_ranks(options.trace_ranks, scenario.plan.dp.size());
  check_outputs({{"--trace", options.trace}, {"--report", options.report}}, {options.scenario});
  const auto play = [&](const Lowering& lowering) {
    progress("simulating");
    Playback playback =
        options.network == "full" ? simulate_every_rank(lowering) : simulate(lowering);
    if (const auto& jitter = scenario.conditions.jitter) {
      const auto cores = static_cast<int>(std::thread::hardware_concurrency());
      playback.jittered_steps = sample_steps(
          lowering, *jitter, options.workers > 0 ? options.workers : std::max(1, cores),
          [&](std::size_t done) {
            progress(fmt::format("simulating step {} of {}", done, jitter->samples));
          });
    }
    progress("analysing");
    return playback;
  };
  progress("building the schedule");
  const Predicted predicted = predict(scenario, play);
  const Prediction& prediction = predicted.prediction;
  if (writes) {
    progress("writing the trace");
    write_files(options, predicted);
  }
  progress("");
  print_output(options.json ? json_report(scenario, prediction).dump(2) + "\n"
                            : text_report(scenario, prediction, isatty(STDOUT_FILENO) != 0));
  return prediction.memory.fits() ? kExitOk : kExitInfeasible;
}

}  // namespace

namespace amsp {

int predict_command(int argc, char** argv) {
  CLI::App app(kDescription, "amsp-sim");
  Options options;
  app.footer(kFooter);
  app.set_version_flag("--version", "amsp-sim " AMSP_VERSION);
  app.add_option("scenario", options.scenario, "Scenario file (schema amsp.scenario/1)")
      ->required();
  app.add_option("--set", options.overrides,
                 "Override a key of the scenario, such as training.micro_batches=8 (repeatable)")
      ->allow_extra_args(false);
  app.add_flag("--json", options.json, "Print the prediction as JSON");
  app.add_option("--samples", options.samples,
                 "Steps to simulate under the scenario's jitter, each with draws of its own")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--workers", options.workers,
                 "Processes that simulate these steps (default: one a core)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--network", options.network,
                 "Simulate every rank (full), or one of each class of ranks that behave alike "
                 "(folded): same times, less work")
      ->check(CLI::IsMember({"full", "folded"}))
      ->capture_default_str();
  app.add_option("--trace", options.trace,
                 "Write a Chrome trace (gzip-compressed if the name ends in .gz)");
  app.add_option("--report", options.report,
                 "Write an HTML page: timeline, waterfall, critical path, memory; works offline");
  auto* ranks = app.add_option("--trace-ranks", options.trace_ranks,
                               "Ranks in the trace and the page, such as 0,3,8-11")
                    ->capture_default_str();
  return run_parsed(app, argc, argv, [&] {
    if (ranks->count() > 0 && options.trace.empty() && options.report.empty())
      throw ConfigError("--trace-ranks: needs --trace or --report");
    return run(options);
  });
}

}  // namespace amsp
