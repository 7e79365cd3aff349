#pragma once

#include <string>
#include <vector>

#include "core/units.h"
#include "lowering/lowering.h"

namespace amsp {

/// How busy a link is over one step: bytes it carries / (what it can carry today * step time).
struct LinkUsage {
  std::string link;
  double bytes = 0;
  double utilisation = 0;
};

/// The busiest link of each kind (NVLink, PCIe, NIC, fabric), busiest first; ties by link id.
std::vector<LinkUsage> busiest_links(const Lowering& lowering, const ClusterGraph& cluster,
                                     Seconds step_time);

}  // namespace amsp
