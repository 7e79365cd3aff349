#pragma once

#include "core/json/object_reader.h"
#include "topology/spec/cluster_spec.h"

namespace amsp {

/// Payload of a packet of 4096 bytes over what it takes on the wire.
///   InfiniBand   headers 8 (LRH) + 12 (BTH), checksums 4 (ICRC) + 2 (VCRC); InfiniBand
///                Architecture Specification, volume 1, chapters 7 to 9
///   RoCEv2       preamble 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4, gap 12; the same,
///                annex A17, and IEEE 802.3
/// A good RoCE network is about as fast as InfiniBand: nccl-tests on 2 nodes of 8 x A100 with 8 x
/// 200 Gb/s RoCE reach 189.6 GB/s, 23.7 GB/s per NIC (0.948), where HDR InfiniBand reaches 24.3.
inline constexpr double kInfinibandPayload = 4096.0 / (4096 + 26);
inline constexpr double kRocePayload = 4096.0 / (4096 + 82);

/// Reads the fabric of `cluster`, whose nodes were read before:
///   {"nodes_per_leaf": 4,                  // or one number a leaf: [4, 4, 2]
///    "rails": 8, "spines": 16,
///    "leaf_spine_bandwidth": "200Gbps",    // or "oversubscription": 2
///    "core": {"leaves_per_pod": 8, "switches": 32,
///             "spine_core_bandwidth": "200Gbps"},  // or "oversubscription": 2
///    "transport": "infiniband",            // or "roce"; absent: links carry their bandwidth
///    "ecmp": {"seed": 1, "flows": 4}}      // or "even", the default
/// or {"links": [...], "transport": ..., "ecmp": ...} (read_cables).
///
/// Oversubscription is what the (fullest) switch could receive from below over what it can send
/// up, in datasheet rates: 2 * 32 NICs of 25 GB/s / 16 spines make 100 GB/s a pair into 25.
/// Throws ConfigError.
FabricSpec read_fabric(ObjectReader reader, const ClusterSpec& cluster);

/// Prepares a preset's fabric for a user's changes: of bandwidth and oversubscription the user's
/// choice holds, and links replace everything.
void drop_overridden_fabric(Json& base, const Json& changes);

/// Reads `key` as a list of cables,
///   [{"between": ["leaf[0-3]", "spine[0-1]"], "bandwidth": "400Gbps", "capacity": "49GBps"}]
/// each name on one side with each on the other (parse_vertices). `efficiency` gives the capacity
/// where it is absent. Where `nics` is there, a NIC's cable may leave out both, and must not be
/// faster than the NIC. Throws ConfigError for what is malformed, joins a vertex to itself or joins
/// two vertices twice.
std::vector<CableSpec> read_cables(ObjectReader& reader, const std::string& key, double efficiency,
                                   const NodeSpec* nics);

}  // namespace amsp
