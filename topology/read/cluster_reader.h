#pragma once

#include "core/json/object_reader.h"
#include "topology/spec/cluster_spec.h"

namespace amsp {

/// Reads a scenario's `cluster`: a whole description
///
///   {"name": "lab", "nodes": 8,
///    "gpu": "A800-SXM4-80GB",                        // of data/gpus.json, or an object: read_gpu
///    "node": {"gpus": 8,
///             "nvlink": {"kind": "switch", "switches": 6,  // or "direct", or "none" and no rates
///                        "bandwidth": "200GBps", "capacity": "177GBps"},
///             "pcie": {"bandwidth": "32GBps", "capacity": "26GBps"},
///             "nics": {"count": 4, "bandwidth": "200Gbps", "capacity": "24.3GBps",
///                      "gpu_affinity": [0, 0, 1, 1, 2, 2, 3, 3]},
///             "comm_sms": {"intra": 16, "inter": 8}},
///    "fabric": {"nodes_per_leaf": 4, "spines": 16, "leaf_spine_bandwidth": "200Gbps"},  //
///    read_fabric "profile": "a800-4xhdr",                        // of data/profiles, or "none"
///    "profile_policy": "derive"}                     // or "strict"
///
/// or a preset of data/clusters.json with whatever differs, at any depth:
///
///   {"preset": "a800-amsp-testbed", "nodes": 16, "fabric": {"spines": 4}}
///
/// A node may instead of nvlink and pcie list its links (read_cables, describe_by_cables), or be
///   {"nccl_topology": "node.xml", "comm_sms": {"intra": 16, "inter": 8}}   // read_nccl_topology
/// with a path that is relative to `folder`.
///
/// A capacity may be absent (then it is the bandwidth, less what the
/// fabric's transport takes), as may gpu_affinity (GPUs are spread
/// over the NICs evenly, in order), profile_policy (derive), pcie where nothing uses it, nics and
/// fabric with a single node. A preset's capacity was measured at the preset's bandwidth, so
/// whoever changes the one has to state the other; another kind of nvlink is described anew.
///
/// Throws ConfigError. Whether the profile belongs to this hardware is not looked at here.
ClusterSpec read_cluster(ObjectReader reader, const std::string& folder = "");

}  // namespace amsp
