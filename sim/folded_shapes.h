#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "lowering/load_graph.h"
#include "sim/quantiser.h"
#include "sim/symmetry.h"
#include "sim/workload.h"

namespace amsp {

/// Resources of the folded workload, one per class of links and two (SMs, HBM) per class of ranks,
/// and what the works use of them.
///
/// A class of groups uses a class of links by the row sum: the weights of all its members on one
/// link of the class, each rounded as for that link in the full workload. So a weight may exceed
/// the scale: the members then slow each other.
class FoldedShapes {
 public:
  FoldedShapes(const Lowering& lowering, const Symmetry& symmetry);

  /// Shape of a compute work on a class of ranks, of a collective work on a class of groups.
  int compute(std::int32_t work, int rank_class) const { return compute_.at({work, rank_class}); }
  int collective(std::int32_t work, int group_class) const {
    return collective_.at({work, group_class});
  }
  void fill(Workload& workload) const;

 private:
  using Fractions = std::set<double>;
  using Key = std::pair<std::int32_t, int>;  // work, class
  /// The scale and weights of one resource.
  class Rounding {
   public:
    explicit Rounding(const Fractions& fractions);
    double scale() const { return quantised_.scale; }
    int weight(double fraction) const;

   private:
    std::vector<double> fractions_;
    Quantised quantised_;
  };

  void add_links();
  void add_ranks();
  void share_shapes();
  int add_resource(double scale);
  void use(std::map<Key, Workload::Shape>& shapes, Key key, int resource, int weight);

  const Lowering& lowering_;
  const LoadGraph& loads_;
  const LoadPatterns& patterns_;
  const Symmetry& symmetry_;
  std::vector<Task> computes_, collectives_;          // an example of every work that a task does
  std::vector<std::vector<const Task*>> by_pattern_;  // of collectives_
  std::vector<double> scales_;
  std::vector<Workload::Shape> shapes_;
  std::map<Key, Workload::Shape> compute_uses_, collective_uses_;
  std::map<Key, int> compute_, collective_;
};

}  // namespace amsp
