#include <memory>

#include "core/json/json.h"
#include "profiling/measurement_plan.h"
#include "tools/arguments.h"
#include "tools/profile/profile_commands.h"
#include "tools/run_main.h"

namespace {

using namespace amsp;

constexpr const char* kFooter = R"(
Lists every distinct kernel and collective of one training step, with what the scenario's profile
knows of it: measured, derived (by a rule from measurements of other work, or beyond the sizes
measured), modelled (nothing was measured), missing (the profile has no answer). Collectives are
listed for one group alone and for all sibling groups at once, which share links.

Examples:
  amsp-profile plan scenario.json
  amsp-profile plan scenario.json --missing
  amsp-profile plan scenario.json --set plan=zero3 --set cluster.nodes=4 --json > needs.json

Exit codes: 0 done, 2 the input is wrong, 3 the plan is not possible, 4 internal failure.
)";

struct Options {
  std::string scenario;
  std::vector<std::string> overrides;
  bool missing = false, json = false;
};

int plan(const Options& options) {
  MeasurementPlan plan = plan_measurements(load_scenario(options.scenario, options.overrides));
  if (options.missing) plan = missing(plan);
  print_output(options.json ? measurements_json(plan).dump(2) + "\n" : measurements_text(plan));
  return kExitOk;
}

}  // namespace

namespace amsp {

Command add_plan_command(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("plan", "Lists the measurements that a scenario needs");
  app->footer(kFooter);
  app->add_option("scenario", options->scenario, "Scenario file (schema amsp.scenario/1)")
      ->required();
  app->add_option("--set", options->overrides,
                  "Override a key of the scenario, such as training.micro_batches=8 (repeatable)")
      ->allow_extra_args(false);
  app->add_flag("--missing", options->missing,
                "Only what a profile has a place for and doesn't hold as measured");
  app->add_flag("--json", options->json, "Print JSON");
  return {app, [options] { return plan(*options); }};
}

}  // namespace amsp
