#include "parity.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "executor/host/host_stream.h"
#include "local_parity.h"

namespace amsp {
namespace {

using ::testing::AllOf;
using ::testing::Field;
using ::testing::Ge;

TEST(Parity, EveryPlanOnOneRank) {
  expect_fp64_parity(parity_cases({1, 1}, 8, {1, 2, 4}));
}
TEST(Parity, EveryPlanOnTwoRanks) {
  for (const Mesh dp : {Mesh{2, 1}, Mesh{1, 2}}) expect_fp64_parity(parity_cases(dp, 8, {1, 2}));
}

Scenario zero3() {
  Scenario scenario = tiny_scenario({2, 1}, 8);
  scenario.plan = {{2, 1}, {2, 1}, {2, 1}, {2, 1}, {}};
  return scenario;
}

/// What the harness says of a run with a fault in it.
Distance distance_with(const std::function<void(ExecutionOptions&)>& change, const LocalRun& how) {
  Parity parity = local_parity(20);
  ExecutionOptions options = parity.options();
  change(options);
  return distance(run_local_ranks(zero3(), options, how), parity.one(zero3()));
}

auto is_seen(double at_least) {
  return AllOf(Field(&Distance::loss, Ge(at_least)), Field(&Distance::parameters, Ge(at_least)));
}

TEST(ParityHarness, SeesOtherData) {
  LocalRun how;
  how.tokens = synthetic_tokens(zero3().model.vocab, 2);
  EXPECT_THAT(distance_with([](ExecutionOptions&) {}, how), is_seen(1e-3));
}

TEST(ParityHarness, SeesALowerLearningRate) {
  EXPECT_THAT(distance_with([](ExecutionOptions& o) { o.hyper.learning_rate *= 0.999; }, {}),
              is_seen(1e-6));
}

TEST(ParityHarness, SeesMastersOffByAMillionth) {
  EXPECT_THAT(distance_with([](ExecutionOptions& o) { o.hyper.initial_deviation *= 1 + 1e-6; }, {}),
              is_seen(1e-8));
}

TEST(ParityHarness, SeesGradientsThatAreNotClipped) {
  EXPECT_THAT(distance_with([](ExecutionOptions& o) { o.hyper.max_norm = 1e9; }, {}),
              is_seen(1e-8));
}

/// Scales what one reduction gave, the `victim`-th of this communicator, on all members alike.
class OffByAMillionth : public Communicator {
 public:
  OffByAMillionth(std::unique_ptr<Communicator> inner, int victim)
      : inner_(std::move(inner)), victim_(victim) {}
  int size() const override { return inner_->size(); }
  int position() const override { return inner_->position(); }
  void enqueue(Stream& stream, const Message& message) override {
    inner_->enqueue(stream, message);
    if (message.kind != CollectiveKind::kReduceScatter || ++reductions_ != victim_) return;
    const auto mine = message.parts[static_cast<std::size_t>(position())];
    dynamic_cast<HostStream&>(stream).enqueue([mine] {
      for (const Segment& segment : mine)
        for (std::int64_t i = 0; i < segment.count; ++i)
          static_cast<double*>(segment.data)[i] *= 1 + 1e-6;
    });
  }

 private:
  std::unique_ptr<Communicator> inner_;
  int victim_, reductions_ = 0;
};

class FaultyFabric : public Fabric {
 public:
  explicit FaultyFabric(Fabric& inner) : inner_(inner) {}
  std::string description() const override { return "faulty"; }
  std::unique_ptr<Communicator> open(const SubMesh& mesh, Mesh dp) override {
    return std::make_unique<OffByAMillionth>(inner_.open(mesh, dp), 5);
  }

 private:
  Fabric& inner_;
};

TEST(ParityHarness, SeesOneMessageOffByAMillionth) {
  LocalRun how;
  how.over = [](World&, Fabric& threads) { return std::make_unique<FaultyFabric>(threads); };
  // AdamW nearly takes back what all steps scale alike, so the losses say little.
  EXPECT_THAT(distance_with([](ExecutionOptions&) {}, how).parameters, Ge(1e-9));
}

TEST(ParityHarness, TakesAPartThatNobodyOwnsForFarAway) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Execution one, many;
  one.losses = many.losses = {1};
  one.parameters = {{1, 2}, {3}};
  many.parameters = {{1, nan}, {3}};
  EXPECT_TRUE(std::isnan(distance(many, one).parameters));
}

}  // namespace
}  // namespace amsp
