#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "core/error.h"
#include "core/json/json.h"
#include "executor/run/execution.h"
#include "executor/run/execution_report.h"
#include "scenario/scenario.h"
#include "schedule/schedule_builder.h"
#include "tools/arguments.h"
#include "tools/ranks.h"
#include "tools/run_main.h"
#include "traces/write/chrome_writer.h"

namespace {

using namespace amsp;

constexpr const char* kDescription =
    "Trains a model for real under a scenario's sharding plan: the task graph that amsp-sim "
    "predicts,\nrun task by task on this machine.";
constexpr const char* kFooter = R"(
Examples:
  mpirun -n 4 amsp-exec scenario.json --steps 50 --text book.txt
  mpirun -n 2 amsp-exec scenario.json --trace traces/ && amsp-trace diff simulated.json traces/
  mpirun -n 2 amsp-exec scenario.json --trace traces/ --kernels      (and what the tasks launched)
  mpirun -n 2 amsp-exec scenario.json --pace 200MBps,50us     (as if the network were slow)
  amsp-exec scenario.json --virtual-ranks        (ranks are threads of one process)
  mpirun -n 2 amsp-exec scenario.json --json > execution.json

Exit codes: 0 trained, 2 the input is wrong, 3 the plan is not possible on these ranks,
4 a rank, a device or memory failed.
)";

struct Options {
  std::string scenario;
  std::vector<std::string> overrides;
  bool json = false;
  std::int64_t steps = 20, warm_up = 3;
  std::string text;
  std::uint64_t seed = 1;
  double learning_rate = 1e-3;
  std::string trace;
  bool kernels = false;
  RankOptions ranks;
};

/// The trace of the median step: a file a rank.
void write_rank_trace(const Options& options, const Scenario& scenario, const Executor& executor,
                      const Execution& execution, const std::string& device, Rank rank) {
  TraceMeta meta;
  meta.producer = "amsp-exec " AMSP_VERSION;
  meta.source = "real";
  meta.config_hash = scenario.hash;
  meta.title = scenario.name;
  meta.backend = options.ranks.device == "cuda" ? "nccl" : "host";
  meta.device_name = device;
  meta.device_memory_bytes = scenario.cluster.gpu.memory.value;
  meta.device_sms = scenario.cluster.gpu.sms;
  meta.clock = "CLOCK_MONOTONIC";
  const ClockOffset& clock = execution.clocks[static_cast<std::size_t>(rank)];
  meta.clock_offset = clock.offset;
  meta.clock_uncertainty = clock.uncertainty;
  TracedKernels kernels;
  if (options.kernels) kernels[rank] = executor.kernels();
  write_trace(fmt::format("{}/rank{}.json.gz", options.trace, rank),
              chrome_trace(executor.timeline(), {rank}, meta, kernels));
}

void prepare_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!std::filesystem::is_directory(path))
    throw ConfigError(fmt::format("--trace: {} can't be made a folder: {}", path, error.message()));
}

/// One rank's whole run. What fails once ranks depend on each other is thrown.
int run_rank(const Options& options, World& world, Fabric& fabric, Device& device) {
  Scenario scenario;
  std::unique_ptr<TokenSource> tokens;
  if (const int code = agree("amsp-exec", world, attempt([&] {
                               scenario = load_scenario(options.scenario, options.overrides);
                               check_executable(scenario, world.size());
                               if (!options.trace.empty()) prepare_folder(options.trace);
                               tokens = options.text.empty()
                                            ? synthetic_tokens(scenario.model.vocab, options.seed)
                                            : text_tokens(options.text,
                                                          scenario.training.sequence_length,
                                                          options.seed);
                               check_vocabulary(scenario, *tokens);
                             })))
    return code;
  ExecutionOptions execution_options;
  execution_options.steps = options.steps;
  execution_options.warm_up = options.warm_up;
  execution_options.kernels = options.kernels;
  execution_options.hyper.seed = options.seed;
  execution_options.hyper.learning_rate = options.learning_rate;
  const TaskGraph graph =
      build_schedule(scenario.model, scenario.training, scenario.plan, scenario.engine);
  std::unique_ptr<Executor> executor;
  if (const int code = agree("amsp-exec", world, attempt([&] {
                               executor = std::make_unique<Executor>(scenario, graph, world, fabric,
                                                                     device, execution_options);
                             })))
    return code;
  const bool shows = world.rank() == 0 && isatty(STDERR_FILENO) != 0;
  const Execution execution = executor->run(*tokens, [&](std::int64_t step, double loss) {
    if (shows) fmt::print(stderr, "\r\x1b[Kstep {} of {}, loss {:.4f}", step, options.steps, loss);
  });
  if (shows) fmt::print(stderr, "\r\x1b[K");
  return agree("amsp-exec", world, attempt([&] {
                 if (!options.trace.empty())
                   write_rank_trace(options, scenario, *executor, execution, device.description(),
                                    world.rank());
                 if (world.rank() != 0) return;
                 const ExecutionPlace place{device.description(), fabric.description(),
                                            tokens->description()};
                 print_output(options.json ? json_report(scenario, place, execution).dump(2) + "\n"
                                           : text_report(scenario, place, execution));
               }));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kDescription, "amsp-exec");
  Options options;
  app.footer(kFooter);
  app.set_version_flag("--version", "amsp-exec " AMSP_VERSION);
  app.add_option("scenario", options.scenario, "Scenario file (schema amsp.scenario/1)")
      ->required();
  app.add_option("--set", options.overrides,
                 "Override a key of the scenario, such as plan=zero3 (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--steps", options.steps, "Steps to train")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  app.add_option("--warm-up", options.warm_up, "First steps, which are not timed")
      ->check(CLI::Range(0, 100'000'000))
      ->capture_default_str();
  app.add_option("--text", options.text,
                 "Train on the bytes of this file (default: a synthetic language)");
  app.add_option("--seed", options.seed, "Of initial parameters and of the data")
      ->capture_default_str();
  app.add_option("--learning-rate", options.learning_rate, "Of AdamW, constant")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--trace", options.trace,
                 "Write Chrome traces of the step of median time into this folder, a file a rank");
  app.add_flag("--kernels", options.kernels,
               "With --trace: record every kernel, copy and fill that a task launches, with its "
               "name and times");
  options.ranks.add_to(app);
  app.add_flag("--json", options.json, "Print the result as JSON");
  return run_parsed(app, argc, argv, [&] {
    return run_main("amsp-exec", [&] {
      if (options.warm_up >= options.steps)
        throw ConfigError(
            fmt::format("--warm-up: {} of {} steps leaves none to be timed; allowed: 0 to {}",
                        options.warm_up, options.steps, options.steps - 1));
      if (options.kernels && options.trace.empty())
        throw ConfigError("--kernels: needs --trace as well");
      return run_ranks(
          "amsp-exec", options.ranks,
          [&] { return load_scenario(options.scenario, options.overrides).plan.dp.size(); },
          [&](World& world, Fabric& fabric, Device& device) {
            return run_rank(options, world, fabric, device);
          });
    });
  });
}
