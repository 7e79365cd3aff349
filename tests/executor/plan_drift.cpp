// How far the order of sums lets plans drift apart: the tables of docs/precision.md. Trains a small
// model on a text under several plans, on four threads as ranks, and prints how far each is from
// the unsharded run in the same precision: plan-drift TEXT [STEPS] [PRECISION...]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "local_parity.h"

namespace amsp {
namespace {

struct Precision {
  const char* name;
  int parameter_bytes, gradient_bytes;
};
constexpr Precision kPrecisions[] = {
    {"fp64", 8, 8}, {"fp32", 4, 4}, {"bf16", 2, 2}, {"bf16/fp32", 2, 4}};
constexpr const char* kPlans[] = {"ddp", "zero1", "zero3", "amsp-like"};

Scenario scenario_of(const char* plan, const Precision& precision) {
  Scenario scenario = tiny_scenario({4, 1}, precision.parameter_bytes, plan, 2);
  scenario.training.gradient_bytes = precision.gradient_bytes;
  scenario.training.sequence_length = 32;
  ModelSpec& model = scenario.model;
  model.hidden = 32;
  model.heads = model.kv_heads = 4;
  model.head_dim = 8;
  model.ffn = 88;
  model.vocab = 256;
  scenario.engine.bucket = Bytes{16'384};
  return scenario;
}

Execution run(const Scenario& scenario, const std::string& text, std::int64_t steps) {
  LocalRun how;
  how.tokens = text_tokens(text, scenario.training.sequence_length, 1);
  return run_local_ranks(scenario, local_parity(steps).options(), how);
}

std::string number(double distance) {
  return distance == 0 ? "0" : fmt::format("{:.0e}", distance);
}

void print_precision(const Precision& precision, const std::string& text, std::int64_t steps) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = 1; length < steps; length *= 10) lengths.push_back(length);
  lengths.push_back(steps);
  std::vector<Execution> ones;
  for (const std::int64_t length : lengths)
    ones.push_back(run(unsharded(scenario_of("ddp", precision)), text, length));
  const auto row = [&](const std::string& plan, const std::string& losses,
                       const std::string& parameters, const Execution& last) {
    fmt::print("| {} | {} |{}{} {:.6f} |\n", precision.name, plan, losses, parameters,
               last.losses.back());
    std::fflush(stdout);
  };
  std::string none;
  for (std::size_t i = 0; i < lengths.size(); ++i) none += " |";
  row("unsharded", none, none, ones.back());
  for (const char* plan : kPlans) {
    std::string losses, parameters;
    Execution many;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      many = run(scenario_of(plan, precision), text, lengths[i]);
      losses +=
          fmt::format(" {} |", number(std::abs(many.losses.back() / ones[i].losses.back() - 1)));
      parameters += fmt::format(" {} |", number(distance(many, ones[i]).parameters));
    }
    row(plan, losses, parameters, many);
  }
}

}  // namespace
}  // namespace amsp

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: plan-drift TEXT [STEPS] [PRECISION...]\n");
    return 2;
  }
  const std::int64_t steps = argc > 2 ? std::atoll(argv[2]) : 500;
  for (const amsp::Precision& precision : amsp::kPrecisions)
    if (argc < 4 || std::find(argv + 3, argv + argc, std::string(precision.name)) != argv + argc)
      amsp::print_precision(precision, argv[1], steps);
}
