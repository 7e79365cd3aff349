#include "schedule/prefetcher.h"

#include <algorithm>
#include <utility>

namespace amsp {

void Prefetcher::expect(Gather gather, Phase phase, int group) {
  queue_.push_back({std::move(gather), phase, group});
}

void Prefetcher::issue_through(int group) {
  for (; next_ < queue_.size() && queue_[next_].group <= group; ++next_)
    issue_(queue_[next_].gather, queue_[next_].phase);
}

void Prefetcher::issue_for(int block, int op) {
  const auto wanted = std::find_if(
      queue_.begin() + static_cast<std::ptrdiff_t>(next_), queue_.end(), [&](const Entry& entry) {
        const std::vector<int>& ops = entry.gather.ops;
        return entry.gather.block == block && std::find(ops.begin(), ops.end(), op) != ops.end();
      });
  if (wanted != queue_.end()) issue_through(wanted->group);
}

}  // namespace amsp
