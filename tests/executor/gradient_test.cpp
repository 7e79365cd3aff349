// The gradient of the whole model, as the executor leaves it for the optimizer, against central
// differences of the loss.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "executor/fabric/local_world.h"
#include "executor/host/host_device.h"
#include "executor/program/rank_program.h"
#include "executor/run/runtime.h"
#include "local_ranks.h"
#include "parity.h"

namespace amsp {
namespace {

using ::testing::Le;

/// A model on one rank whose parameters a test can set.
class Model {
 public:
  Model(const Scenario& scenario, World& world, Fabric& fabric)
      : scenario_(scenario),
        graph_(build_schedule(scenario.model, scenario.training, scenario.plan, scenario.engine)),
        device_(make_host_device()) {
    Hyperparameters still;  // the optimizer leaves the masters as they are
    still.learning_rate = 0;
    for (const StreamSpec& stream : graph_.streams())
      communicators_.push_back(communicators_.empty() ? nullptr
                                                      : fabric.open(stream.mesh, graph_.dp));
    program_ = std::make_unique<RankProgram>(scenario.model, scenario.training, scenario.plan,
                                             scenario.engine, graph_, still, world.rank(), *device_,
                                             1_GiB, communicators_);
  }

  using Values = std::vector<std::vector<double>>;  // by tensor
  const std::vector<Tensor>& tensors() const { return program_->context().tensors; }

  /// The mean loss of the micro-batches with these parameters.
  double loss(const Values& parameters) {
    for (const OptimizerLauncher::Part& part : program_->owned())
      std::memcpy(program_->at()(part.master), of(parameters, part).data(),
                  static_cast<std::size_t>(part.count) * sizeof(double));
    double sum = 0;
    Runtime(*program_).run(
        1,
        [&](std::int64_t, std::span<std::int32_t> tokens) {
          std::mt19937 random(5);
          for (std::int32_t& token : tokens)
            token = static_cast<std::int32_t>(random() % scenario_.model.vocab);
        },
        [&](const StepResult& step) {
          for (const double loss : step.losses) sum += loss;
        });
    return sum / scenario_.training.micro_batches;
  }

  /// The gradient of the last loss.
  Values gradient() const {
    Values result(tensors().size());
    for (const OptimizerLauncher::Part& part : program_->owned()) {
      const auto* from = static_cast<const double*>(program_->at()(part.gradient));
      for (std::int64_t i = 0; i < part.count; ++i)
        result[static_cast<std::size_t>(part.tensor)].push_back(from[i] /
                                                                scenario_.training.micro_batches);
    }
    return result;
  }

 private:
  static const std::vector<double>& of(const Values& values, const OptimizerLauncher::Part& part) {
    const auto& tensor = values[static_cast<std::size_t>(part.tensor)];
    AMSP_CHECK(part.offset == 0 && part.count == static_cast<std::int64_t>(tensor.size()),
               "one rank owns whole tensors");
    return tensor;
  }

  const Scenario& scenario_;
  TaskGraph graph_;
  std::unique_ptr<Device> device_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::unique_ptr<RankProgram> program_;
};

/// Large enough that every gradient is: norms and biases too.
Model::Values random_parameters(const std::vector<Tensor>& tensors) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Model::Values values;
  for (const Tensor& tensor : tensors) {
    values.emplace_back(static_cast<std::size_t>(tensor.elements));
    const bool norm = tensor.name.ends_with("norm.weight");
    for (double& value : values.back()) value = (norm ? 1 : 0) + 0.3 * normal(random);
  }
  return values;
}

/// Every element of small tensors, and so many, drawn, of large ones.
constexpr std::size_t kElements = 12;

std::vector<std::size_t> chosen(std::size_t size) {
  std::vector<std::size_t> all(size), some;
  for (std::size_t i = 0; i < size; ++i) all[i] = i;
  std::mt19937 random(3);
  std::sample(all.begin(), all.end(), std::back_inserter(some), kElements, random);
  return some;
}

void expect_right_gradient(const Scenario& scenario) {
  run_local(1, [&](World& world, Fabric& fabric) {
    Model model(scenario, world, fabric);
    Model::Values at = random_parameters(model.tensors());
    model.loss(at);
    const Model::Values gradient = model.gradient();
    constexpr double kStep = 1e-4;  // its error: h^2 of truncation, 1e-16 / h of rounding
    for (std::size_t id = 0; id < at.size(); ++id) {
      ASSERT_EQ(gradient[id].size(), at[id].size());
      double size = 0, worst = 0;
      for (const double g : gradient[id]) size = std::max(size, std::abs(g));
      EXPECT_GT(size, 1e-4) << model.tensors()[id].name;
      for (const std::size_t i : chosen(at[id].size())) {
        const double here = at[id][i];
        // Fourth order: (8 (L(h) - L(-h)) - (L(2h) - L(-2h))) / 12 h.
        const auto difference = [&](double h) {
          at[id][i] = here + h;
          const double after = model.loss(at);
          at[id][i] = here - h;
          const double before = model.loss(at);
          at[id][i] = here;
          return after - before;
        };
        const double slope = (8 * difference(kStep) - difference(2 * kStep)) / (12 * kStep);
        worst = std::max(worst, std::abs(slope - gradient[id][i]));
      }
      EXPECT_THAT(worst / size, Le(1e-8)) << model.tensors()[id].name;
    }
  });
}

Scenario one_rank() {
  Scenario scenario = tiny_scenario({1, 1}, 8);
  scenario.training.micro_batches = 2;
  return scenario;
}

TEST(ModelGradient, IsTheSlopeOfTheLoss) {
  expect_right_gradient(one_rank());
}
TEST(ModelGradient, IsTheSlopeOfTheLossWithRecompute) {
  Scenario scenario = one_rank();
  scenario.training.recompute = Recompute::kFull;
  scenario.training.micro_batch = 2;
  expect_right_gradient(scenario);
}
TEST(ModelGradient, IsTheSlopeOfTheLossTiedFusedAndBiased) {
  Scenario scenario = one_rank();
  ModelSpec& model = scenario.model;
  model.tied_embeddings = model.fused_qkv = model.fused_gate_up = true;
  model.qkv_bias = model.output_bias = model.mlp_bias = true;
  expect_right_gradient(scenario);
}

}  // namespace
}  // namespace amsp
