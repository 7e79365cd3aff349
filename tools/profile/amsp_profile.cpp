#include "tools/arguments.h"
#include "tools/profile/profile_commands.h"

namespace {

using namespace amsp;

constexpr const char* kDescription =
    "Measurements for the simulator: makes them, imports them, and says which a scenario needs.";
constexpr const char* kFooter = R"(
Examples:
  amsp-profile import logs/*.log --cluster dgx-h100 --output h100.json
  amsp-profile plan scenario.json --missing
  mpirun -n 2 amsp-profile measure scenario.json --output machine.json

amsp-profile COMMAND --help says more.
Exit codes: 0 done, 2 the input is wrong, 3 the scenario's plan is not possible, 4 internal failure.
)";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kDescription, "amsp-profile");
  app.footer(kFooter);
  app.set_version_flag("--version", "amsp-profile " AMSP_VERSION);
  return run_commands(app, argc, argv,
                      {add_import_command(app), add_plan_command(app), add_measure_command(app)});
}
