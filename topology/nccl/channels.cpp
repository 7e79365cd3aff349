#include "topology/nccl/channels.h"

#include <algorithm>
#include <span>

#include "core/error.h"
#include "topology/collective/nccl_constants.h"

namespace amsp::nccl {
namespace {

/// Row of a table by generation.
std::size_t row(GpuArchitecture architecture) {
  AMSP_CHECK(architecture != GpuArchitecture::kUnknown, "NCCL's figures need a GPU architecture");
  return static_cast<std::size_t>(architecture) - 1;
}

/// Fastest first; the lists are filled up with zeros.
std::span<const double> speeds(GpuArchitecture architecture, bool over_nodes) {
  const std::span<const double> list =
      over_nodes ? std::span<const double>(kSpeedsOverNodes[row(architecture)])
                 : std::span<const double>(kSpeedsInside[row(architecture)]);
  return list.first(
      static_cast<std::size_t>(std::find(list.begin(), list.end(), 0) - list.begin()));
}

/// The fastest that `fits`, or 0.
template <class Fits>
double fastest(std::span<const double> list, Fits fits) {
  const auto found = std::find_if(list.begin(), list.end(), fits);
  return found == list.end() ? 0 : *found;
}

/// Splits fast channels in two (ncclTopoDupChannels).
Channels split(Channels found, GpuArchitecture architecture) {
  const bool newer = architecture >= GpuArchitecture::kHopper;
  if (found.count == 0 || found.inside < 25) return found;
  if (newer && found.inside < 50 && found.count > 4) return found;
  const int count = std::min(2 * found.count, kMostGraphChannels);
  const int parts = (count + found.count - 1) / found.count;
  return {count, found.inside / parts, found.over_nodes / parts};
}

/// A speed and as many channels as fit, with the largest total. The search stops when speeds fall
/// below half of the best.
template <class Count>
Channels most(std::span<const double> list, Count count) {
  Channels best;
  for (const double speed : list) {
    if (best.count > 0 && speed / best.inside <= .49) break;
    const int channels = std::min(count(speed), kMostGraphChannels);
    if (channels * speed > best.count * best.inside) best = {channels, speed, speed};
  }
  return best;
}

/// A hair of slack: rates are quotients.
int whole(double value) {
  return static_cast<int>(value + 1e-9);
}

/// Bytes that stay inside a node per byte over it.
double inside_share(const Layout& layout) {
  return static_cast<double>(layout.gpus - 1) / layout.gpus;
}

Channels ring_graph(const Layout& layout) {
  const auto list = speeds(layout.architecture, layout.nodes > 1);
  if (layout.nodes == 1) {
    const Channels found = most(list, [&](double speed) { return whole(layout.inside / speed); });
    if (found.count == 0) return {1, layout.inside, layout.inside};
    return split(found, layout.architecture);
  }
  const auto fitting = [&](double speed) {
    const int channels = layout.nics * whole(layout.nic / speed);
    const double inside = inside_share(layout) * channels * speed;
    return inside <= layout.inside ? channels : 0;
  };
  const Channels found = most(list, fitting);
  if (found.count > 0) return split(found, layout.architecture);
  const double speed = std::min(layout.nic, layout.inside / layout.nics);
  return {layout.nics, speed, speed};
}

Channels tree_graph(const Layout& layout, const Channels& ring) {
  if (layout.nodes == 1 || ring.count == 0) return ring;
  Channels tree = ring;
  tree.inside = fastest(speeds(layout.architecture, true), [&](double speed) {
    return inside_share(layout) * ring.count * speed <= layout.inside;
  });
  return tree;
}

Channels nvls_graph(const Layout& layout) {
  const bool over_nodes = layout.nodes > 1;
  if (layout.architecture < GpuArchitecture::kHopper || !layout.nvswitch || layout.gpus < 2)
    return {};
  const int heads = over_nodes ? layout.nics : layout.gpus;
  double speed = fastest(speeds(layout.architecture, over_nodes),
                         [&](double s) { return (heads + 1) * s <= layout.inside; });
  if (speed == 0) speed = layout.inside / (heads + 1);
  const double nic =
      fastest(speeds(layout.architecture, true), [&](double s) { return s <= layout.nic; });
  return {heads, speed, over_nodes ? nic : speed};
}

}  // namespace

Graphs find_graphs(const Layout& layout) {
  Graphs graphs;
  graphs.ring = ring_graph(layout);
  graphs.tree = tree_graph(layout, graphs.ring);
  graphs.nvls = nvls_graph(layout);
  if (layout.nodes >= kLeastCollNetNodes && layout.nics > 0) {
    const double nic =
        fastest(speeds(layout.architecture, true), [&](double s) { return s <= layout.nic; });
    graphs.collnet_chain = {layout.nics, graphs.tree.inside, nic};
    graphs.collnet_direct = {layout.nics, speeds(layout.architecture, true).front(), nic};
  }
  return graphs;
}

int kernel_channels(const Layout& layout, const Graphs& graphs, bool collnet) {
  int channels = std::min(2 * graphs.ring.count, kMostChannels);
  if (collnet && layout.nodes > 1) channels = std::min(channels * 3 / 2, kMostChannels);
  return channels;
}

}  // namespace amsp::nccl
