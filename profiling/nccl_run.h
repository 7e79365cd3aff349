#pragma once

#include <optional>
#include <string>

#include "profiling/nccl_log.h"
#include "topology/collective/collective.h"

namespace amsp {

/// The operation of a run, as the log names it: by "# Collective test starting", else by the
/// command line. std::nullopt if it doesn't say, or says two.
std::optional<std::string> test_of(const NcclRun& run);

/// "all_reduce" to its kind; std::nullopt for what no training step does ("alltoall").
std::optional<CollectiveKind> kind_of_test(const std::string& test);

/// The mesh of a run from the hosts of its ranks, or why the log doesn't say.
struct RunMesh {
  std::optional<Mesh> mesh;
  std::string unknown;   // "lists no ranks"
  std::string unusable;  // not a measurement of one group by itself: why
};
RunMesh mesh_of(const NcclRun& run);

/// What contradicts itself in a row, or what makes its times worthless; empty if nothing does:
///   size   = count * bytes of the type, times the ranks for all_gather and reduce_scatter
///   algbw  = size / time; before 2.0.0 of June 2020 all_gather and reduce_scatter print busbw
///   busbw  = hop_share * size / time
///   #wrong = 0
/// Bandwidths may be off by what printing rounds: one unit of the last digit of time and rate.
std::string contradiction(const NcclRow& row, const NcclTimes& times, CollectiveKind kind,
                          int ranks);

}  // namespace amsp
