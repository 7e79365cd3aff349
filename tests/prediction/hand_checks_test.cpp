// The figures of the paper's testbed that a pencil gives from its component measurements: 64 GPUs.
#include <gtest/gtest.h>

#include "tests/prediction/predicted.h"

namespace amsp {
namespace {

struct HandCheck {
  const char* model;
  double compute_low_s, compute_high_s;      // one micro-batch, without the optimizer
  double all_reduce_s;                       // of all gradients, all sibling groups at once
  double broadcast_low_s, broadcast_high_s;  // of all parameters, likewise
  double optimizer_s;
};

std::ostream& operator<<(std::ostream& out, const HandCheck& c) {
  return out << c.model;
}

class HandChecks : public testing::TestWithParam<HandCheck> {};

/// From the first start to the last end of a class of tasks in a run without overlap.
double span_of(const Predicted& p, Phase phase, Op op) {
  const TaskGraph& graph = p.setup.graph();
  double sum = 0;
  for (int i = 0; i < graph.size(); ++i) {
    const auto id = static_cast<TaskId>(i);
    const TaskKey& key = graph[id].key;
    if (key.step != 1 || key.phase != phase || key.op != op) continue;
    double longest = 0;
    for (Rank rank = 0; rank < graph.dp.size(); ++rank) {
      const Span span = p.playback.timeline.span(id, rank);
      longest = std::max(longest, (span.end - span.start).value);
    }
    sum += longest;
  }
  return sum;
}

TEST_P(HandChecks, AreMet) {
  const HandCheck& check = GetParam();
  const Predicted p = predict(
      paper_scenario(check.model, 8, 1, kNoOverlap + std::vector<std::string>{"stack=reference"}));
  const double optimizer = span_of(p, Phase::kOptimizer, Op::kStep);
  const double norm = span_of(p, Phase::kOptimizer, Op::kNorm);
  const double compute = p.prediction.exact.compute.value - optimizer - norm;
  EXPECT_GE(compute, 0.95 * check.compute_low_s);
  EXPECT_LE(compute, 1.05 * check.compute_high_s);
  EXPECT_NEAR(span_of(p, Phase::kGradSync, Op::kAllReduce) / check.all_reduce_s, 1, 0.05);
  const double broadcast = span_of(p, Phase::kUpdate, Op::kBroadcast);
  EXPECT_GE(broadcast, 0.95 * check.broadcast_low_s);
  EXPECT_LE(broadcast, 1.05 * check.broadcast_high_s);
  EXPECT_NEAR(optimizer / check.optimizer_s, 1, 0.1);
}

INSTANTIATE_TEST_SUITE_P(, HandChecks,
                         testing::Values(HandCheck{"llama-7b", 0.90, 0.93, 0.28, 0.09, 0.09, 0.015},
                                         HandCheck{"llama-13b", 1.7, 1.7, 0.51, 0.04, 0.04, 0.03},
                                         HandCheck{"llama-30b", 4.0, 5.0, 1.02, 0.40, 0.55, 0.015}),
                         [](const auto& test) { return std::string(test.param.model).substr(6); });

}  // namespace
}  // namespace amsp
