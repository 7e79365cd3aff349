#pragma once

#include <optional>
#include <string>

#include "core/units.h"
#include "topology/collective/collective.h"
#include "topology/nccl/channels.h"
#include "topology/spec/nccl_spec.h"

namespace amsp::nccl {

/// A way to run a collective.
struct Choice {
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  NcclProtocol protocol = NcclProtocol::kSimple;

  bool operator==(const Choice&) const = default;
};
/// "ring/simple".
std::string to_string(const Choice& choice);

/// What NCCL expects of a choice: time = latency * operations + bytes / rate.
struct Estimate {
  Seconds latency;
  BytesPerSec rate;  // algorithm bandwidth: message bytes over time

  Seconds time(Bytes bytes, int operations = 1) const {
    return operations * latency + Seconds{static_cast<double>(bytes.value) / rate.value};
  }
};

/// Why NCCL can't run `kind` by this algorithm and protocol here, in words for after "it can't
/// run:"; std::nullopt if it can.
std::optional<std::string> obstacle(CollectiveKind kind, const Choice& choice, const Layout& layout,
                                    const NcclSpec& spec);

/// NCCL 2.28.9's own estimate (src/graph/tuning.cc), from its tables (nccl_constants.h):
///   rate     that of the channel graphs (NCCL calls it bus bandwidth), by shares and limits of the
///            protocol, times n / steps for rings and NVLS, halved for trees and CollNet
///            all-reduces
///   latency  base + steps inside + steps over nodes, each with its hop latency
/// `bytes` matters for trees (a correction by size) and for rings over nodes (latency).
/// Requires that there is no obstacle.
Estimate estimate(CollectiveKind kind, const Choice& choice, Bytes bytes, const Layout& layout,
                  const Graphs& graphs, const NcclSpec& spec);

}  // namespace amsp::nccl
