#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json_fwd.h"
#include "topology/profile/collective_profile.h"

namespace amsp {

/// Measurements of one operation on one contiguous mesh, on their way into a profile.
struct MeasuredTable {
  CollectiveKind kind = CollectiveKind::kAllGather;
  Mesh mesh;                                       // kx1, or whole nodes
  std::string source;                              // where the rows come from
  std::map<std::int64_t, double> seconds = {};     // by bytes of the whole message
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;  // what ran, as far as it matters for links
  std::optional<double> compute_share = {};        // CollectiveTime::compute_share
};

/// A row that a profile can't hold: a larger message took less time.
struct DroppedRow {
  CollectiveKind kind;
  Mesh mesh;
  std::int64_t bytes;
  double seconds;
  std::int64_t larger_bytes;
  double larger_seconds;
};

/// Everything of a profile but the times of kernels.
struct ProfileDraft {
  std::string name;
  std::string provenance;
  ProfileHardware hardware;
  MeasuredCapacity nic, port;
  std::vector<MeasuredTable> tables;
  std::vector<DroppedRow> dropped;
};

/// The hardware that `cluster` describes, as check_hardware compares it.
ProfileHardware hardware_of(const ClusterSpec& cluster);
/// hop_share * bytes / time of the best row; 0 without rows.
BytesPerSec best_bus_bandwidth(const MeasuredTable& table);
/// "switch", "direct", "none".
const char* to_string(NvlinkKind kind);

/// Moves rows out of the draft's tables that took longer than a larger message: noise of one of
/// the two, and readers need times that don't fall.
void drop_falling_times(ProfileDraft& draft);

/// The best payload rates that the tables hold: hop_share * bytes / time, of a GPU's port inside a
/// node, of one NIC over nodes. Rings only: others carry other bytes. Where nothing was measured
/// the capacity stays as it is.
void set_best_rates(ProfileDraft& draft);

/// The draft in the schema "amsp.profile/1"; tables ordered by operation, then group size. "gemm"
/// and "attention" may be added.
OrderedJson profile_json(const ProfileDraft& draft);

/// The text of a profile's file, one row of a table a line.
std::string profile_text(const OrderedJson& profile);

}  // namespace amsp
