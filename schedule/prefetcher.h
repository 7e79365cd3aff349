#pragma once

#include <functional>
#include <vector>

#include "schedule/task_key.h"

namespace amsp {

/// Parameters that travel in one all-gather: one module's, or all of a block's.
struct Gather {
  int block;
  std::vector<int> ops;  // indices into the block's modules
};

/// All-gathers in the order of their use, issued ahead of it. Those of a group are issued together.
class Prefetcher {
 public:
  using Issue = std::function<void(const Gather&, Phase)>;
  explicit Prefetcher(Issue issue) : issue_(std::move(issue)) {}

  /// Groups count up from 0.
  void expect(Gather gather, Phase phase, int group);
  /// Issues what isn't yet, up to and including `group`.
  void issue_through(int group);
  /// Issues what isn't yet, up to the gather of this module, if it has one ahead.
  void issue_for(int block, int op);

 private:
  struct Entry {
    Gather gather;
    Phase phase;
    int group;
  };
  Issue issue_;
  std::vector<Entry> queue_;
  std::size_t next_ = 0;
};

}  // namespace amsp
