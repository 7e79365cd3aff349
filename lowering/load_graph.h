#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "lowering/load_patterns.h"

namespace amsp {

/// Who loads which links, without a task: one edge for every (process group, link that it loads).
/// Its label says by how much in each pattern of the group's mesh, so two edges with one label are
/// alike for every collective.
///
/// Groups of all meshes are numbered in one row, mesh by mesh.
class LoadGraph {
 public:
  struct Edge {
    int end;  // of a group's edges: the link; of a link's: the group
    int label;
  };
  /// Bytes on the link by the pattern's example. Labels are equal if these are, up to the noise
  /// that without_noise drops.
  struct PatternLoad {
    int pattern;
    double bytes;
    bool operator==(const PatternLoad&) const = default;
  };

  explicit LoadGraph(const Lowering& lowering);

  const LoadPatterns& patterns() const { return patterns_; }

  const std::vector<SubMesh>& meshes() const { return meshes_; }
  int mesh_of(int group) const { return mesh_of_[static_cast<std::size_t>(group)]; }
  int first_group(int mesh) const { return first_group_[static_cast<std::size_t>(mesh)]; }
  int group_count() const { return static_cast<int>(mesh_of_.size()); }
  const std::vector<Rank>& members(int group) const {
    return *members_[static_cast<std::size_t>(group)];
  }
  int link_count() const { return static_cast<int>(first_by_link_.size()) - 1; }

  std::span<const Edge> links_of(int group) const {
    return edges(by_group_, first_by_group_, group);
  }
  std::span<const Edge> groups_of(LinkId link) const {
    return edges(by_link_, first_by_link_, link);
  }
  int label_count() const { return static_cast<int>(labels_.size()); }
  const std::vector<PatternLoad>& label(int label) const {
    return labels_[static_cast<std::size_t>(label)];
  }

 private:
  static std::span<const Edge> edges(const std::vector<Edge>& all,
                                     const std::vector<std::size_t>& first, int at) {
    const auto i = static_cast<std::size_t>(at);
    return {all.data() + first[i], all.data() + first[i + 1]};
  }
  void add_groups();
  void index_by_link();

  LoadPatterns patterns_;
  std::vector<SubMesh> meshes_;
  std::vector<int> first_group_;
  std::vector<int> mesh_of_;                       // by group
  std::vector<const std::vector<Rank>*> members_;  // by group
  std::vector<Edge> by_group_, by_link_;           // back to back
  std::vector<std::size_t> first_by_group_ = {0};
  std::vector<std::size_t> first_by_link_;
  std::vector<std::vector<PatternLoad>> labels_;
};

}  // namespace amsp
