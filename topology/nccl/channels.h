#pragma once

#include "topology/spec/nccl_spec.h"

namespace amsp::nccl {

/// What a communicator looks like to NCCL. Rates in GB/s per direction, as NCCL rates the links.
struct Layout {
  GpuArchitecture architecture = GpuArchitecture::kUnknown;
  int gpus = 1;   // of the communicator in each node
  int nodes = 1;  // of the communicator
  int nics = 0;   // used by it in each node
  bool nvlink = true;
  bool nvswitch = true;
  double inside = 0;  // of one GPU among those of the communicator: NVLink, or PCIe without it
  double nic = 0;

  int size() const { return gpus * nodes; }
};

/// Parallel channels, each of which moves bytes at these rates inside a node and over nodes.
struct Channels {
  int count = 0;  // 0: the graph doesn't exist
  double inside = 0, over_nodes = 0;
};

/// The graphs that NCCL's search (src/graph/search.cc) finds on such nodes. It tries the speeds of
/// a list from the fastest on and keeps the largest total; here links decide which speeds fit:
///   ring    inside a node (channels) * speed <= a GPU's rate; over nodes one channel per NIC, of
///           which (gpus - 1) / gpus stays inside
///   tree    over nodes: as the ring, but may be faster inside than outside
///   NVLS    a channel per GPU (over nodes per NIC), each of which every GPU sends to, and its
///           own result: (channels + 1) * speed <= a GPU's rate
///   CollNet chain as the tree; direct at the fastest speed of the list
/// Rings of fast channels are split into two each.
struct Graphs {
  Channels ring, tree, nvls, collnet_direct, collnet_chain;
};
Graphs find_graphs(const Layout& layout);

/// Channels that a kernel runs: twice those of the ring graph, at most 64; half as many again where
/// CollNet is on and nodes are faster inside. NVLS: 16 on Hopper, 24 on Blackwell.
int kernel_channels(const Layout& layout, const Graphs& graphs, bool collnet);

}  // namespace amsp::nccl
