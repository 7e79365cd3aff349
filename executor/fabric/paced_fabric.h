#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/units.h"
#include "executor/interface/communicator.h"
#include "executor/interface/world.h"

namespace amsp {

struct Pace {
  BytesPerSec bandwidth;
  Seconds latency;

  bool operator==(const Pace&) const = default;
};
struct PaceOptions {
  Pace inside;  // groups inside a node
  Pace across;  // groups over several nodes (mesh shapes with inter > 1)
};

/// How a rank's paced collectives went.
struct PaceReport {
  std::int64_t collectives = 0;
  std::int64_t late = 0;  // those whose transfer took longer than their pace allows
  Seconds lateness{};     // by so much, in all
};

/// Makes a fast fabric behave like a slow network: a collective ends on every member at
///   t0 + latency + wire_bytes_per_rank / bandwidth,
/// t0 = when its last member came to it, or when it really ended, if that is later. Collectives of
/// different communicators don't slow each other. Where all ranks share a monotonic clock, t0 is
/// the latest arrival; else the moment at which this rank heard of the last one, which is later by
/// a few message latencies. Streams sleep while they wait, and end within about 100 us. A group of
/// one rank isn't paced.
class PacedFabric : public Fabric {
 public:
  /// All ranks call it, with the same options. Bandwidths are positive. `inner` is a fabric of the
  /// host, and must outlive the communicators.
  PacedFabric(World& world, Fabric& inner, const PaceOptions& options);
  ~PacedFabric() override;
  /// "TCP (eth0), paced: 10 GB/s and 5 us inside a node, 1 GB/s and 20 us across", or once what
  /// holds for both.
  std::string description() const override;
  std::unique_ptr<Communicator> open(const SubMesh& mesh, Mesh dp) override;

  /// Of all communicators of this rank, so far. Thread-safe.
  PaceReport report() const;

 private:
  class Counters;
  class PacedCommunicator;

  Fabric& inner_;
  PaceOptions options_;
  bool one_clock_;
  std::shared_ptr<Counters> counters_;
};

}  // namespace amsp
