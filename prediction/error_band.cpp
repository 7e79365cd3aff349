#include "prediction/error_band.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace amsp {
namespace {

// Relative standard deviations.

/// Libraries and machines at one and the same kernel: half the distance of two libraries is 5 to
/// 10 % in one case of ten (docs/kernels.md), a tenth of which is 1.64 deviations away.
constexpr double kMeasuredKernel = 0.04;
/// Shapes between those measured: 10 to 15 % in one case of ten.
constexpr double kDerivedKernel = 0.08;
/// A ratio that somebody published for another shape or chip.
constexpr double kAssumedKernel = 0.15;
/// Datasheet times a usual efficiency: measured A100 rates lie between 0.5 and 0.8 of the peak.
constexpr double kDatasheetKernel = 0.25;
/// What all kernels share: clocks, temperature, the driver. Fitted: a tenth of the runs of
/// amsp-table-v is 5 % faster than predicted.
constexpr double kMachine = 0.04;
/// Of collectives as modelled.
constexpr double kCommunication = 0.25;

// Steps are longer than we say, not shorter, by what isn't modelled.

/// Host, data loading, metrics. Fitted: the median of llm-foundry-a100-2023, 8 GPUs, is 4 % slow.
constexpr double kLeftOut = 0.03;
/// Compute that a second of hidden communication costs beyond what we count. Fitted: rows of
/// llm-foundry-a100-2023, internevo-a100, fms-fsdp and public with 5 % of hidden communication and
/// more; docs/fidelity.md has the table.
constexpr double kHidden = 0.6;

constexpr double kNineTenths = 1.2816;  // of a normal distribution, in deviations

double deviation(Source source) {
  switch (source) {
    case Source::kMeasured:
      return kMeasuredKernel;
    case Source::kDerived:
      return kDerivedKernel;
    case Source::kAssumed:
      return kAssumedKernel;
    case Source::kModelled:
    case Source::kDatasheet:
      break;
  }
  return kDatasheetKernel;
}

}  // namespace

ErrorBand error_band(const Lowering& lowering, Rank rank, const RankBreakdown& breakdown,
                     Seconds step) {
  const TaskGraph& graph = lowering.graph();
  struct Kernel {
    double seconds = 0;
    double deviation = 0;
  };
  std::map<std::int32_t, Kernel> kernels;  // by compute work
  for (int i = 0; i < graph.size(); ++i) {
    const Task& task = graph[static_cast<TaskId>(i)];
    if (task.kind != WorkKind::kCompute) continue;
    const ComputeTime time = lowering.compute_time(task, lowering.owner(rank));
    Kernel& kernel = kernels[task.work];
    kernel.seconds += time.time.value;
    kernel.deviation = deviation(time.source);
  }
  double all = 0;
  for (const auto& [work, kernel] : kernels) all += kernel.seconds;
  const double window = to_seconds(breakdown.window).value;
  const double compute = to_seconds(breakdown.compute).value / window;
  double variance = kMachine * kMachine;
  const auto add = [&](double share, double deviation) {
    variance += share * share * deviation * deviation;
  };
  for (const auto& [work, kernel] : kernels)
    add(all > 0 ? kernel.seconds / all * compute : 0, kernel.deviation);
  add(to_seconds(breakdown.exposed).value / window, kCommunication);
  const double either = kNineTenths * std::sqrt(variance);
  const double later = kLeftOut + kHidden * to_seconds(breakdown.overlapped).value / window;
  return {(1 - std::min(either, 0.9)) * step, (1 + either + later) * step};
}

PlanBand band_among_plans(const RankBreakdown& breakdown, Seconds step) {
  const double window = to_seconds(breakdown.window).value;
  const double either = kNineTenths * kCommunication * to_seconds(breakdown.exposed).value / window;
  const auto around = [&](Seconds time) {
    return ErrorBand{(1 - either) * time, (1 + either) * time};
  };
  const double most = 1 + kHidden * to_seconds(breakdown.overlapped).value / window;
  return {around(step), around(most * step)};
}

}  // namespace amsp
