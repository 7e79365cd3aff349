#pragma once

#include "core/json/json.h"
#include "topology/read/cluster_reader.h"

namespace amsp {

/// 4 GPUs a node on an NVSwitch, one NIC each. GB/s: NVLink 200, PCIe 32, NIC 25 (24 at best).
inline ClusterSpec lab(int nodes, const char* fabric) {
  Json json = Json::parse(R"({"name": "lab", "gpu": "A800-SXM4-80GB", "profile": "none", "node": {
    "gpus": 4, "nvlink": {"kind": "switch", "switches": 1, "bandwidth": "200GBps"},
    "pcie": {"bandwidth": "32GBps"},
    "nics": {"count": 4, "bandwidth": "25GBps", "capacity": "24GBps"},
    "comm_sms": {"intra": 8, "inter": 8}}})");
  json["nodes"] = nodes;
  json["fabric"] = Json::parse(fabric);
  return read_cluster(ObjectReader(json, "c.json#"));
}

inline constexpr const char* kPlain =
    R"({"nodes_per_leaf": 2, "spines": 2, "oversubscription": 1})";
inline constexpr const char* kThin = R"({"nodes_per_leaf": 2, "spines": 2, "oversubscription": 2})";
inline constexpr const char* kCore = R"({"nodes_per_leaf": 1, "spines": 2, "oversubscription": 1,
    "core": {"leaves_per_pod": 2, "switches": 2, "oversubscription": 4}})";
inline constexpr const char* kRails = R"({"nodes_per_leaf": 4, "rails": 4, "spines": 2,
                                   "oversubscription": 1})";

}  // namespace amsp
