#include "sim/symmetry.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "core/interner.h"
#include "lowering/load_graph.h"

namespace amsp {

namespace {

class Refiner {
 public:
  Refiner(const Lowering& lowering, int ranks_per_draw)
      : lowering_(lowering), loads_(lowering.load_graph()) {
    colour_by_attributes(ranks_per_draw);
    const auto meshes = loads_.meshes().size();
    groups_of_rank_.resize(ranks_.of.size() * meshes);
    for (int group = 0; group < loads_.group_count(); ++group)
      for (const Rank rank : loads_.members(group))
        groups_of_rank_[static_cast<std::size_t>(rank) * meshes +
                        static_cast<std::size_t>(loads_.mesh_of(group))] = group;
  }

  Symmetry run() {
    Symmetry result;
    for (bool split = true; split; ++result.rounds) {
      split = refine_ranks();
      split = refine_groups() || split;
      split = refine_links() || split;
    }
    result.ranks = std::move(ranks_);
    result.groups = std::move(groups_);
    result.links = std::move(links_);
    return result;
  }

 private:
  using Key = std::uint64_t;
  static Key pair(int a, int b) {
    return static_cast<Key>(a) << 32 | static_cast<Key>(static_cast<std::uint32_t>(b));
  }
  static int at(const Classes& classes, int member) {
    return classes.of[static_cast<std::size_t>(member)];
  }

  /// New classes by old class and what `add_key` gives; true if there are more than before.
  template <class AddKey>
  bool refine(Classes& classes, AddKey add_key) {
    const int before = classes.count();
    keys_.clear();
    classes.first.clear();
    for (int member = 0; member < static_cast<int>(classes.of.size()); ++member) {
      int& colour = classes.of[static_cast<std::size_t>(member)];
      keys_.start();
      keys_.add(static_cast<Key>(colour));
      add_key(member);
      colour = keys_.finish();
      if (colour == classes.count()) classes.first.push_back(member);
    }
    return classes.count() > before;
  }

  void colour_by_attributes(int ranks_per_draw) {
    const TaskGraph& graph = lowering_.graph();
    ranks_.of.assign(static_cast<std::size_t>(graph.dp.size()), 0);
    groups_.of.assign(static_cast<std::size_t>(loads_.group_count()), 0);
    links_.of.assign(static_cast<std::size_t>(loads_.link_count()), 0);
    std::vector<int> owners(static_cast<std::size_t>(graph.owner_mesh.size()));
    Interner<Key> shards;
    for (std::size_t owner = 0; owner < owners.size(); ++owner) {
      shards.start();
      for (const ComputeWork& work : graph.compute_works())
        if (!work.bytes_by_owner.empty())
          shards.add(std::bit_cast<Key>(work.bytes_by_owner[owner]));
      owners[owner] = shards.finish();
    }
    refine(ranks_, [&](Rank rank) {
      keys_.add(static_cast<Key>(owners[static_cast<std::size_t>(lowering_.owner(rank))]));
      keys_.add(std::bit_cast<Key>(lowering_.slowness(rank)));
      keys_.add(ranks_per_draw > 0 ? static_cast<Key>(rank / ranks_per_draw) : 0);
    });
    refine(groups_, [&](int group) { keys_.add(static_cast<Key>(loads_.mesh_of(group))); });
    refine(links_,
           [&](LinkId link) { keys_.add(std::bit_cast<Key>(lowering_.capacity(link).value)); });
  }

  bool refine_ranks() {
    const auto meshes = loads_.meshes().size();
    return refine(ranks_, [&](Rank rank) {
      const auto first = static_cast<std::size_t>(rank) * meshes;
      for (std::size_t mesh = 0; mesh < meshes; ++mesh)
        keys_.add(static_cast<Key>(at(groups_, groups_of_rank_[first + mesh])));
    });
  }

  /// Sets, not multisets: what starts a group and what slows it is a maximum over its parts.
  bool refine_groups() {
    return refine(groups_, [&](int group) {
      neighbours_.clear();
      for (const Rank rank : loads_.members(group))
        neighbours_.push_back(static_cast<Key>(at(ranks_, rank)));
      add_sorted(true);
      keys_.add(~Key{0});
      neighbours_.clear();
      for (const LoadGraph::Edge& edge : loads_.links_of(group))
        neighbours_.push_back(pair(edge.label, at(links_, edge.end)));
      add_sorted(true);
    });
  }

  bool refine_links() {
    return refine(links_, [&](LinkId link) {
      neighbours_.clear();
      for (const LoadGraph::Edge& edge : loads_.groups_of(link))
        neighbours_.push_back(pair(edge.label, at(groups_, edge.end)));
      add_sorted(false);
    });
  }

  void add_sorted(bool once) {
    std::sort(neighbours_.begin(), neighbours_.end());
    if (once)
      neighbours_.erase(std::unique(neighbours_.begin(), neighbours_.end()), neighbours_.end());
    for (const Key key : neighbours_) keys_.add(key);
  }

  const Lowering& lowering_;
  const LoadGraph& loads_;
  std::vector<int> groups_of_rank_;  // by rank and mesh
  Classes ranks_, groups_, links_;
  Interner<Key> keys_;
  std::vector<Key> neighbours_;
};

}  // namespace

Symmetry find_symmetry(const Lowering& lowering, int ranks_per_draw) {
  return Refiner(lowering, ranks_per_draw).run();
}

}  // namespace amsp
