#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "core/error.h"
#include "core/json/json.h"
#include "executor/fabric/local_world.h"
#include "executor/interface/host_identity.h"
#include "executor/measure/collective_timer.h"
#include "executor/measure/interference_timer.h"
#include "executor/run/execution.h"
#include "profiling/measurement_plan.h"
#include "schedule/schedule_builder.h"
#include "tools/arguments.h"
#include "tools/profile/profile_commands.h"
#include "tools/ranks.h"
#include "tools/run_main.h"
#include "topology/profile/profile_writer.h"
#include "trace_calibration/calibrate.h"
#include "trace_reader/load_traces.h"
#include "traces/write/chrome_writer.h"
#include "training/memory.h"

namespace {

using namespace amsp;

constexpr const char* kFooter = R"(
Measures this machine for a scenario: every kernel, by training its model unsharded on all ranks at
once (with fewer layers if it doesn't fit so), the collectives that the plans need, by size, one
group alone, and what they take from compute that runs beside them.

Examples:
  mpirun -n 2 amsp-profile measure scenario.json --output machine.json
  mpirun -n 4 amsp-profile measure scenario.json --plans ddp,zero1,zero3 --output machine.json
  mpirun -n 2 amsp-profile measure scenario.json --pace 200MBps,50us --output slow-network.json
  amsp-sim scenario.json --set cluster.profile=machine.json

Exit codes: 0 done, 2 the input is wrong, 3 a plan is not possible, 4 a rank or device failed.
)";

constexpr double kBesideSeconds = 0.1;  // of collectives beside compute, one of each size

struct Options {
  std::string scenario;
  std::vector<std::string> overrides, plans;
  std::string output, name = "this machine";
  bool quick = false;
  RankOptions ranks;
};

/// How thoroughly.
struct Effort {
  int steps = 8, warm_up = 3;
  TimerRules alone;
  InterferenceRules beside;
};
Effort effort_of(const Options& options) {
  if (!options.quick) return {};
  return {4, 1, {.least_repetitions = 5, .enough = Seconds{0.02}}, {3, Seconds{0.02}}};
}

std::vector<Scenario> load_all(const Options& options) {
  std::vector<Scenario> scenarios;
  if (options.plans.empty())
    scenarios.push_back(load_scenario(options.scenario, options.overrides));
  for (const std::string& plan : options.plans) {
    std::vector<std::string> overrides = options.overrides;
    overrides.push_back("plan=" + plan);
    scenarios.push_back(load_scenario(options.scenario, overrides));
  }
  return scenarios;
}

/// What has to be timed: by operation and family of groups, the sizes.
using Needs = std::map<std::pair<CollectiveKind, SubMesh>, std::set<std::int64_t>>;

/// Of groups that a profile can hold. Sizes are rounded to whole powers of two above and below what
/// the plans use, so that many plans share them.
Needs needs_of(const std::vector<Scenario>& scenarios) {
  Needs needs;
  for (const Scenario& scenario : scenarios)
    for (const CollectiveNeed& need : plan_measurements(scenario).collectives) {
      if (need.together || need.mesh.size() == 1 || need.mesh.stride != Mesh{1, 1}) continue;
      for (const SizeNeed& size : need.sizes) {
        std::int64_t below = 1;
        while (2 * below <= size.bytes.value) below *= 2;
        needs[{need.kind, need.mesh}].insert({below, 2 * below});
      }
    }
  return needs;
}

DType element_type(const TrainingSpec& training) {
  return training.parameter_bytes == 2   ? DType::kBf16
         : training.parameter_bytes == 4 ? DType::kF32
                                         : DType::kF64;
}

/// The smallest that together take no longer; at least one.
std::vector<Bytes> sizes_within(double seconds, const MeasuredTable& table) {
  std::vector<Bytes> sizes;
  for (const auto& [bytes, time] : table.seconds) {
    seconds -= time;
    if (seconds < 0 && !sizes.empty()) break;
    sizes.push_back(Bytes{bytes});
  }
  return sizes;
}

/// Of a feed-forward layer.
ProductShape largest_product(const Scenario& scenario) {
  return {scenario.training.tokens(), scenario.model.ffn, scenario.model.hidden};
}

std::vector<MeasuredTable> time_collectives(World& world, Fabric& fabric, Device& device,
                                            const Scenario& scenario, const Needs& needs,
                                            const Effort& effort) {
  std::vector<MeasuredTable> tables;
  for (const auto& [key, sizes] : needs) {
    std::vector<Bytes> all;
    for (const std::int64_t bytes : sizes)
      all.push_back(Bytes{std::max<std::int64_t>(bytes, scenario.training.parameter_bytes)});
    MeasuredTable table{.kind = key.first,
                        .mesh = key.second.shape,
                        .source = fmt::format("amsp-profile measure: {}; {}", fabric.description(),
                                              device.description())};
    for (const CollectiveTiming& timing :
         time_collective(world, fabric, device, key.first, key.second, scenario.plan.dp,
                         element_type(scenario.training), false, all, effort.alone))
      table.seconds[timing.bytes.value] = timing.median.value;
    table.compute_share =
        time_interference(world, fabric, device, key.first, key.second, scenario.plan.dp,
                          element_type(scenario.training), sizes_within(kBesideSeconds, table),
                          largest_product(scenario), effort.beside)
            .compute_share();
    tables.push_back(std::move(table));
  }
  return tables;
}

/// The scenario unsharded, as one rank's own run. It keeps the model's depth if that fits: how fast
/// a kernel is depends on how much memory the step walks through.
Scenario alone(const Scenario& scenario) {
  Scenario one = scenario;
  one.name += " (kernels)";
  one.plan = {};
  one.training.recompute = Recompute::kNone;
  while (one.model.layers > 1 &&
         !estimate_memory(one.model, one.training, one.plan, one.engine, one.cluster).fits())
    one.model.layers = (one.model.layers + 1) / 2;
  return one;
}

/// The trace of its median step.
std::string run_alone(const Scenario& scenario, Device& device, const Effort& effort) {
  std::string text;
  const TaskGraph graph =
      build_schedule(scenario.model, scenario.training, scenario.plan, scenario.engine);
  run_local(1, [&](World& world, Fabric& fabric) {
    ExecutionOptions options;
    options.steps = effort.steps;
    options.warm_up = effort.warm_up;
    Executor executor(scenario, graph, world, fabric, device, options);
    executor.run(*synthetic_tokens(scenario.model.vocab, 1));
    TraceMeta meta;
    meta.producer = "amsp-profile " AMSP_VERSION;
    meta.source = "real";
    meta.title = scenario.name;
    meta.config_hash = scenario.hash;
    text = chrome_trace(executor.timeline(), {0}, meta);
  });
  return text;
}

int measure_rank(const Options& options, World& world, Fabric& fabric, Device& device) {
  std::vector<Scenario> scenarios;
  Needs needs;
  if (const int code = agree("amsp-profile", world, attempt([&] {
                               scenarios = load_all(options);
                               for (const Scenario& scenario : scenarios)
                                 check_executable(scenario, world.size());
                               needs = needs_of(scenarios);
                             })))
    return code;
  const bool one_clock = has_one_clock(world);
  if (const int code = agree("amsp-profile", world, attempt([&] {
                               if (!one_clock)
                                 throw ConfigError(
                                     "measure: collectives are timed by one clock, and the ranks "
                                     "are on several hosts; measure the ranks of one, and import "
                                     "logs of nccl-tests for several (amsp-profile import)");
                             })))
    return code;
  const Scenario& first = scenarios.front();
  const Scenario one = alone(first);
  const Effort effort = effort_of(options);
  const bool shows = world.rank() == 0 && isatty(STDERR_FILENO) != 0;
  if (shows) fmt::print(stderr, "\r\x1b[Kmeasuring kernels ...");
  world.exchange("");
  const std::string trace = run_alone(one, device, effort);
  world.exchange("");
  if (shows) fmt::print(stderr, "\r\x1b[Kmeasuring collectives ...");
  const std::vector<MeasuredTable> tables =
      time_collectives(world, fabric, device, first, needs, effort);
  if (shows) fmt::print(stderr, "\r\x1b[K");
  return agree("amsp-profile", world, attempt([&] {
                 if (world.rank() != 0) return;
                 const Calibration calibration =
                     calibrate(one, analyse(load_trace_text(trace, one.name), WindowChoice::kAuto),
                               options.name, tables);
                 const std::string text = profile_text(calibration.profile);
                 if (options.output.empty()) {
                   print_output(text);
                   return;
                 }
                 write_file(options.output, text);
               }));
}

int measure(const Options& options) {
  check_outputs({{"--output", options.output}}, {options.scenario});
  return run_ranks(
      "amsp-profile", options.ranks, [&] { return load_all(options).front().plan.dp.size(); },
      [&](World& world, Fabric& fabric, Device& device) {
        return measure_rank(options, world, fabric, device);
      });
}

}  // namespace

namespace amsp {

Command add_measure_command(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("measure", "Measures this machine for a scenario");
  app->footer(kFooter);
  app->add_option("scenario", options->scenario, "Scenario file (schema amsp.scenario/1)")
      ->required();
  app->add_option("--set", options->overrides,
                  "Override a key of the scenario, such as training.micro_batch=2 (repeatable)")
      ->allow_extra_args(false);
  app->add_option("--plans", options->plans,
                  "Measure what these plans need, such as ddp,zero3 (default: the scenario's)")
      ->delimiter(',');
  app->add_option("--output", options->output, "Write the profile here (default: standard output)");
  app->add_flag("--quick", options->quick, "Few repetitions: to try it out, not to predict from");
  app->add_option("--name", options->name, "Name of the profile")->capture_default_str();
  options->ranks.add_to(*app);
  return {app, [options] { return measure(*options); }};
}

}  // namespace amsp
