#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json/json_fwd.h"
#include "core/units.h"
#include "topology/collective/collective.h"
#include "topology/spec/cluster_spec.h"
#include "topology/spec/mesh.h"

namespace amsp {

/// The hardware that measurements belong to: they say nothing about any other.
struct ProfileHardware {
  std::string gpu;
  int gpus_per_node = 0;
  NvlinkKind nvlink = NvlinkKind::kSwitch;
  BytesPerSec nvlink_bandwidth;  // per GPU and direction, datasheet
  int nics_per_node = 0;
  BytesPerSec nic_bandwidth;  // per NIC and direction, datasheet
};

/// A best rate seen in the measurements, and the row it comes from.
struct MeasuredCapacity {
  BytesPerSec rate;
  std::string source;
};

/// Times of collectives measured alone on an idle cluster (data/profiles/*.json, schema
/// "amsp.profile/1"), and what may be read off them. Immutable.
class CollectiveProfile {
 public:
  struct Point {
    double bytes;
    double seconds;
  };
  /// One operation on one contiguous mesh.
  struct Table {
    CollectiveKind kind = CollectiveKind::kAllGather;
    Mesh mesh;
    int nics = 0;             // used per node; 0 for a mesh inside one node
    std::string substituted;  // the operation that was measured instead, or empty
    NcclAlgorithm algorithm = NcclAlgorithm::kRing;  // what ran: decides which links carry what
    std::optional<double> compute_share;             // CollectiveTime::compute_share
    std::vector<Point> points;                       // by bytes; neither bytes nor seconds decrease
  };

  const std::string& name() const { return name_; }
  const ProfileHardware& hardware() const { return hardware_; }
  /// Best payload rate of one NIC, and of one GPU's NVLink port, per direction.
  const MeasuredCapacity& nic_capacity() const { return nic_; }
  const MeasuredCapacity& port_capacity() const { return port_; }
  const std::vector<Table>& tables() const { return tables_; }

  /// Time of `kind` on a message of `bytes` (whole, unsharded) over the contiguous `mesh` with
  /// `nics` NICs used per node (ignored inside a node). std::nullopt where nothing measured is
  /// near: operation missing; over nodes unless whole nodes take part; other NIC counts.
  ///
  /// In bytes: time is linear between two sizes. Below the smallest size it is that of the
  /// smallest, above the largest it is proportional to bytes; both are flagged `extrapolated`.
  /// In the mesh: 8xN between two measured node counts, and kx1 between two measured k: linear
  /// in N (k) at fixed bytes, kDerived. Beyond the largest N: on the line through the last two,
  /// but at least the last; kDerived and extrapolated.
  /// 1x1 takes no time. A table that stands in for another operation gives kDerived. The compute
  /// share is that of the table, the larger where two answer.
  std::optional<CollectiveTime> lookup(CollectiveKind kind, Mesh mesh, int nics, Bytes bytes) const;

  /// Of the table that answers, or of the larger where two do; kRing where nothing answers.
  NcclAlgorithm algorithm(CollectiveKind kind, Mesh mesh, int nics) const;

  /// For messages: "2x1, 4x1, 8x1, 8x2, ..., 8x64 from 524 kB to 17.2 GB", or "nothing".
  std::string coverage(CollectiveKind kind) const;

 private:
  friend CollectiveProfile read_collective_profile(const Json& json, const std::string& file);

  /// The tables that answer for a mesh: one, or two to interpolate between or extrapolate from.
  struct Answer {
    const Table* low = nullptr;  // null: `high` is of this very mesh
    const Table* high = nullptr;
    bool is_beyond = false;  // the mesh is larger than both
  };
  std::optional<Answer> find(CollectiveKind kind, Mesh mesh, int nics) const;

  std::string name_;
  ProfileHardware hardware_;
  MeasuredCapacity nic_, port_;
  std::vector<Table> tables_;  // ordered by kind, nics, inter, intra
};

/// Reads the hardware, capacities and collectives of a profile; `file` is for messages.
/// Throws ConfigError with file and pointer for anything that isn't of the schema.
CollectiveProfile read_collective_profile(const Json& json, const std::string& file);

}  // namespace amsp
