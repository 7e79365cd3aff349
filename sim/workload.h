#pragma once

#include <compare>
#include <span>
#include <vector>

namespace amsp {

/// What runs, on what, after what: the simulator's own view, free of GPUs and plans. Activities
/// progress in lock step over their resources; all running ones share resources max-min fairly on
/// pace, pace <= 1 (docs/architecture.md).
struct Workload {
  /// At pace 1 an activity uses weight / scale of the resource.
  struct Use {
    int resource;
    int weight;
    auto operator<=>(const Use&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  /// Activities of one shape use the same resources by the same weights.
  struct Shape {
    std::vector<Use> uses;
  };
  struct Activity {
    double nominal_s;  // alone; <= 0 ends at once
    int shape;         // -1: uses nothing that is shared
  };

  std::vector<double> scales;  // by resource: its capacity in weights
  std::vector<Shape> shapes;
  std::vector<Activity> activities;
  /// Predecessors of activity i: preds[first_pred[i]] .. preds[first_pred[i + 1]]; all must end
  /// before it starts. They may repeat.
  std::vector<int> preds;
  std::vector<std::size_t> first_pred = {0};

  std::span<const int> predecessors(int activity) const {
    const auto i = static_cast<std::size_t>(activity);
    return {preds.data() + first_pred[i], preds.data() + first_pred[i + 1]};
  }
};

struct ActivityTimes {
  std::vector<double> start_s;
  std::vector<double> end_s;
};

}  // namespace amsp
