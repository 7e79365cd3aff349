#include "lowering/load_graph.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/interner.h"
#include "core/without_noise.h"

namespace amsp {

LoadGraph::LoadGraph(const Lowering& lowering)
    : patterns_(lowering), first_by_link_(static_cast<std::size_t>(lowering.link_count()) + 1) {
  const auto& streams = lowering.graph().streams();
  for (std::size_t stream = 0; stream < streams.size(); ++stream) {
    const SubMesh& mesh = streams[stream].mesh;
    if (stream == kComputeStream) continue;
    if (std::find(meshes_.begin(), meshes_.end(), mesh) == meshes_.end()) meshes_.push_back(mesh);
  }
  for (int mesh = 0; mesh < static_cast<int>(meshes_.size()); ++mesh) {
    first_group_.push_back(group_count());
    for (const auto& members : lowering.groups(meshes_[static_cast<std::size_t>(mesh)])) {
      mesh_of_.push_back(mesh);
      members_.push_back(&members);
    }
  }
  add_groups();
  index_by_link();
}

void LoadGraph::add_groups() {
  struct Load {
    LinkId link;
    PatternLoad load;
  };
  std::vector<std::vector<int>> patterns_of(meshes_.size());
  for (int pattern = 0; pattern < patterns_.count(); ++pattern) {
    const auto mesh = std::find(meshes_.begin(), meshes_.end(), patterns_.mesh(pattern));
    patterns_of[static_cast<std::size_t>(mesh - meshes_.begin())].push_back(pattern);
  }
  Interner<std::uint64_t> labels;
  std::vector<Load> loads;
  PatternLoad last{-1, 0};  // most links of a group are loaded as the one before
  int last_label = -1;
  for (int group = 0; group < group_count(); ++group) {
    loads.clear();
    const auto& patterns = patterns_of[static_cast<std::size_t>(mesh_of(group))];
    for (const int pattern : patterns)
      for (const LinkLoad& load : patterns_.loads(pattern, group - first_group(mesh_of(group))))
        loads.push_back({load.link, {pattern, load.bytes}});
    if (patterns.size() > 1)
      std::stable_sort(loads.begin(), loads.end(),
                       [](const Load& a, const Load& b) { return a.link < b.link; });
    for (auto at = loads.begin(); at != loads.end();) {
      const auto end =
          std::find_if(at, loads.end(), [&](const Load& l) { return l.link != at->link; });
      const bool alone = end - at == 1;
      if (alone && at->load == last) {
        by_group_.push_back({at->link, last_label});
        at = end;
        continue;
      }
      labels.start();
      for (auto load = at; load != end; ++load) {
        labels.add(static_cast<std::uint64_t>(load->load.pattern));
        labels.add(std::bit_cast<std::uint64_t>(without_noise(load->load.bytes)));
      }
      const int label = labels.finish();
      if (label == label_count()) {
        auto& example = labels_.emplace_back();
        for (auto load = at; load != end; ++load) example.push_back(load->load);
      }
      if (alone) {
        last = at->load;
        last_label = label;
      }
      by_group_.push_back({at->link, label});
      at = end;
    }
    first_by_group_.push_back(by_group_.size());
  }
}

void LoadGraph::index_by_link() {
  for (const Edge& edge : by_group_) ++first_by_link_[static_cast<std::size_t>(edge.end) + 1];
  for (std::size_t i = 1; i < first_by_link_.size(); ++i)
    first_by_link_[i] += first_by_link_[i - 1];
  std::vector<std::size_t> next(first_by_link_.begin(), first_by_link_.end() - 1);
  by_link_.resize(by_group_.size());
  for (int group = 0; group < group_count(); ++group)
    for (const Edge& edge : links_of(group))
      by_link_[next[static_cast<std::size_t>(edge.end)]++] = {group, edge.label};
}

}  // namespace amsp
