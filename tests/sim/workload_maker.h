#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/fluid_player.h"

namespace amsp {

/// Workloads a pencil can solve: resources of scale 10, so a weight of 5 is half of one.
class WorkloadMaker {
 public:
  explicit WorkloadMaker(int resources) {
    workload_.scales.assign(static_cast<std::size_t>(resources), 10);
  }
  int activity(double seconds, std::vector<Workload::Use> uses, std::vector<int> preds = {}) {
    int shape = -1;
    if (!uses.empty()) {
      shape = static_cast<int>(workload_.shapes.size());
      workload_.shapes.push_back({std::move(uses)});
    }
    workload_.activities.push_back({seconds, shape});
    workload_.preds.insert(workload_.preds.end(), preds.begin(), preds.end());
    workload_.first_pred.push_back(workload_.preds.size());
    return static_cast<int>(workload_.activities.size()) - 1;
  }
  ActivityTimes play() const {
    return amsp::play(workload_, [](int i) { return "activity " + std::to_string(i); });
  }
  Workload workload_;
};

}  // namespace amsp
