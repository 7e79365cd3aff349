#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiling/nccl_log.h"
#include "topology/profile/profile_writer.h"

namespace amsp {

struct ImportOptions {
  std::string name;                    // of the profile
  ProfileHardware hardware;            // that the logs are from
  std::optional<CollectiveKind> kind;  // of logs that don't say
  std::optional<Mesh> mesh;            // of logs that don't say
  bool in_place = false;               // which of the two times
  /// The best bus bandwidth of rings inside a node, where NVSwitches can reduce and it is known
  /// better than by NVLink's datasheet.
  std::optional<BytesPerSec> ring_limit;
};

/// One table of the profile, in figures for people.
struct ImportedTable {
  CollectiveKind kind;
  Mesh mesh;
  std::vector<std::string> files;
  std::size_t sizes = 0;         // rows of the profile
  std::size_t measurements = 0;  // rows of the logs
  std::int64_t least_bytes = 0, most_bytes = 0;
  BytesPerSec best_bus_bandwidth = {};
};

struct LogImport {
  ProfileDraft profile;
  std::vector<ImportedTable> tables;
  std::vector<std::string> notes;  // what it rests on, what is left out and why
};

/// A profile from logs of nccl-tests. Where a size was measured several times for an operation and
/// mesh, in one log or several, the median. Left out, with a note: tests of operations that no
/// training step has, groups that no profile holds.
///
/// An all-reduce faster than rings can be (ring_limit, NVLink's or the NICs' datasheet) ran another
/// algorithm, which its table names, as simulation needs to know which links carry what: inside a
/// node NVSwitches reduced it ("nvls"); over 2 nodes a tree, which sends each byte once
/// ("nvls_tree" with ring_limit, else "tree"); over more switches did ("collnet_chain").
///
/// Throws ConfigError, naming file and line:
///   - the operation or mesh of a run can't be known (names the option that says it), or an option
///     says otherwise than the log
///   - a row contradicts itself (see contradiction), or results are wrong
///   - times are not those of one operation: grouped (-m), the host's (-C), beside other work
///   - the times asked for are not in the log
///   - the log is from other hardware than described: more ranks on a host than a node has GPUs,
///     bandwidths above the datasheet's
///   - nothing is left
LogImport import_logs(const std::vector<NcclLog>& logs, const ImportOptions& options);

}  // namespace amsp
