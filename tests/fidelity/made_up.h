#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/json/json.h"
#include "fidelity/compare.h"

namespace amsp {

inline constexpr const char* kScenario = R"({
  "schema": "amsp.scenario/1", "name": "tiny", "model": {"preset": "llama-tiny"},
  "cluster": {"preset": "dgx-a100", "nodes": 1},
  "training": {"sequence_length": 512, "micro_batches": 1}, "plan": "ddp"})";

inline MeasuredSet set_of(const std::string& rows) {
  const std::string text =
      std::string(R"({"schema": "amsp.measured/1", "title": "made up", "rows": )") + rows +
      R"(, "scenario": )" + kScenario + "}";
  return read_measured_set(parse_json(text, "set.json"), "made-up", "set.json");
}

/// 1, 2.5 and 3.2 s for 1, 2 and 4 micro-batches: 512, 409.6 and 640 tokens per GPU and second. One
/// after the other takes twice as long.
inline Prediction made_up(const Scenario& scenario) {
  const int micro_batches = scenario.training.micro_batches;
  if (micro_batches == 3) throw InfeasibleError("no steps of three");
  if (micro_batches == 5) throw InternalError("a bug");
  Prediction prediction;
  const double step = micro_batches == 1 ? 1 : micro_batches == 2 ? 2.5 : 3.2;
  prediction.step_time = Seconds{step};
  prediction.band = {Seconds{0.9 * step}, Seconds{1.3 * step}};
  prediction.tokens_per_gpu_second = 512 * micro_batches / step;
  prediction.flop_per_token =
      training_flop_per_token(scenario.model, scenario.training.sequence_length);
  prediction.mfu = prediction.tokens_per_gpu_second * prediction.flop_per_token.value /
                   scenario.cluster.gpu.peak_bf16.value;
  prediction.exact.total = Seconds{2 * step};
  prediction.memory.reserved = Bytes{3LL << 30};
  prediction.memory.capacity = Bytes{micro_batches == 4 ? 2LL << 30 : 80LL << 30};
  return prediction;
}

inline ComparedSet compared(const std::string& rows,
                            const std::vector<std::string>& overrides = {}) {
  ComparisonOptions options;
  options.overrides = overrides;
  options.workers = 2;
  return compare({set_of(rows)}, made_up, options).at(0);
}

inline constexpr const char* kThree = R"([
  {"name": "a", "value": 512},
  {"name": "b", "overrides": "training.micro_batches=2", "value": 512},
  {"name": "c", "overrides": "training.micro_batches=4", "value": 500}])";

}  // namespace amsp
