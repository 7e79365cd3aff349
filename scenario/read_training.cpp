#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/json/json.h"
#include "core/nearest.h"
#include "scenario/readers.h"
#include "training/optimizers.h"

namespace amsp {
namespace {

constexpr std::int64_t kMostSequenceTokens = 1 << 24;
constexpr std::int64_t kMostMicroBatch = 1 << 16;
constexpr std::int64_t kMostGlobalBatch = std::int64_t{1} << 40;

int bytes_of(const std::string& type) {
  return type == "bf16" ? 2 : type == "fp32" ? 4 : 8;
}

/// Gradients are kept as wide as parameters, or wider: bf16 ones may be accumulated in fp32.
void read_precision(ObjectReader precision, TrainingSpec& spec) {
  const std::string parameters =
      precision.choice_or("parameters", {"bf16", "fp32", "fp64"}, "bf16");
  const std::vector<std::string> wider = parameters == "bf16"
                                             ? std::vector<std::string>{"bf16", "fp32"}
                                             : std::vector<std::string>{parameters};
  spec.parameter_bytes = bytes_of(parameters);
  spec.gradient_bytes = bytes_of(precision.choice_or("gradients", wider, parameters));
  if (parameters == "fp32")
    spec.tf32 = precision.choice_or("products", {"fp32", "tf32"}, "fp32") == "tf32";
  precision.finish();
}

/// The optimizers' bytes are those of mixed precision: states in fp32, bf16 gradients and
/// parameters beside them. Without bf16 the same states are as wide as `wide_bytes`.
void widen(OptimizerSpec& optimizer, const TrainingSpec& spec) {
  if (spec.parameter_bytes == 2) return;
  const double factor = spec.wide_bytes() / 4.0;
  optimizer.state_bytes *= factor;
  optimizer.traffic_bytes =
      (optimizer.traffic_bytes - 4) * factor + spec.parameter_bytes + spec.gradient_bytes;
}

/// "none", "full", or {"share": 0.4}: of the layers, evenly spread.
void read_recompute(ObjectReader& training, TrainingSpec& spec) {
  if (!training.has("recompute")) return;
  if (training.value("recompute").is_object()) {
    constexpr double kLeastShare = 1e-3;
    ObjectReader some = training.object("recompute");
    spec.recompute = Recompute::kFull;
    spec.recompute_share = some.number("share", kLeastShare, 1);
    some.finish();
  } else if (training.choice("recompute", {"none", "full"}) == "full") {
    spec.recompute = Recompute::kFull;
  }
}

OptimizerSpec read_custom_optimizer(ObjectReader custom) {
  constexpr double kMostBytes = 1024;
  OptimizerSpec spec{.name = custom.string("name"),
                     .state_bytes = custom.number("state_bytes", 0, kMostBytes),
                     .traffic_bytes = custom.number("traffic_bytes", 0, kMostBytes),
                     .source = "the scenario"};
  if (spec.name.empty()) custom.fail("name", "must not be empty");
  custom.finish();
  return spec;
}

OptimizerSpec read_optimizer(ObjectReader& training) {
  if (!training.has("optimizer")) return optimizer("adam");
  if (training.value("optimizer").is_object())
    return read_custom_optimizer(training.object("optimizer"));
  return optimizer(training.choice("optimizer", optimizer_names()));
}

/// The micro-batch sizes that divide `sequences` per GPU: at most eight, those nearest to
/// `wanted` by ratio, in ascending order.
std::vector<std::string> micro_batches_near(std::int64_t sequences, std::int64_t wanted) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= std::min(sequences, kMostMicroBatch); ++size)
    if (sequences % size == 0) sizes.push_back(size);
  const auto distance = [wanted](std::int64_t size) {
    return static_cast<double>(std::max(size, wanted)) /
           static_cast<double>(std::min(size, wanted));
  };
  std::ranges::stable_sort(sizes, {}, distance);
  sizes.resize(std::min<std::size_t>(sizes.size(), 8));
  std::ranges::sort(sizes);
  std::vector<std::string> words;
  for (const std::int64_t size : sizes) words.push_back(std::to_string(size));
  return words;
}

}  // namespace

TrainingPart read_training(ObjectReader training) {
  TrainingPart part;
  TrainingSpec& spec = part.spec;
  spec.sequence_length =
      static_cast<int>(training.integer("sequence_length", 1, kMostSequenceTokens));
  spec.micro_batch = static_cast<int>(training.integer_or("micro_batch", 1, kMostMicroBatch, 1));
  const std::int64_t tokens = std::int64_t{spec.sequence_length} * spec.micro_batch;
  if (tokens > kMostMicroBatchTokens)
    training.fail(
        "micro_batch",
        fmt::format("{} sequences of {} tokens are {} tokens a micro-batch; at most {}",
                    spec.micro_batch, spec.sequence_length, tokens, kMostMicroBatchTokens));
  const bool global = training.has("global_batch");
  if (global == training.has("micro_batches"))
    training.fail(fmt::format("needs exactly one of 'global_batch' and 'micro_batches', has {}",
                              global ? "both" : "neither"));
  if (global)
    part.global_batch = training.integer("global_batch", 1, kMostGlobalBatch);
  else
    spec.micro_batches = static_cast<int>(training.integer("micro_batches", 1, kMostMicroBatches));
  read_recompute(training, spec);
  if (training.has("precision")) read_precision(training.object("precision"), spec);
  spec.optimizer = read_optimizer(training);
  if (!training.has("optimizer") || !training.value("optimizer").is_object())
    widen(spec.optimizer, spec);
  spec.clip_gradients = training.boolean_or("clip_gradients", true);
  training.finish();
  return part;
}

void divide_global_batch(TrainingSpec& training, std::int64_t global_batch, Mesh dp,
                         const std::string& where) {
  const std::int64_t unit = std::int64_t{training.micro_batch} * dp.size();
  if (global_batch % unit != 0) {
    const std::int64_t below = global_batch / unit * unit;
    const std::string batches =
        below == 0 ? fmt::format("{}", unit) : fmt::format("{} or {}", below, below + unit);
    const std::vector<std::string> sizes =
        global_batch % dp.size() == 0
            ? micro_batches_near(global_batch / dp.size(), training.micro_batch)
            : std::vector<std::string>{};
    throw InfeasibleError(
        fmt::format("{}: {} sequences don't divide into micro-batches of {} on {} GPUs (dp {}); "
                    "global batches that do: {}; micro-batches that do: {}",
                    where, global_batch, training.micro_batch, dp.size(), to_string(dp), batches,
                    sizes.empty() ? "none" : join(sizes)));
  }
  const std::int64_t count = global_batch / unit;
  if (count > kMostMicroBatches)
    throw ConfigError(fmt::format("{}: {} sequences are {} micro-batches a step; at most {}", where,
                                  global_batch, count, kMostMicroBatches));
  training.micro_batches = static_cast<int>(count);
}

void check_global_batch(const TrainingSpec& training, Mesh dp, const std::string& where) {
  const std::int64_t each = std::int64_t{training.micro_batch} * training.micro_batches;
  if (each <= kMostGlobalBatch / dp.size()) return;
  throw ConfigError(fmt::format(
      "{}: {} micro-batches of {} on {} GPUs (dp {}) are more than {} sequences a step", where,
      training.micro_batches, training.micro_batch, dp.size(), to_string(dp), kMostGlobalBatch));
}

}  // namespace amsp
