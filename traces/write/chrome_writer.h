#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/timeline/timeline.h"
#include "traces/write/traced_kernel.h"

namespace amsp {

/// What a trace says about itself.
struct TraceMeta {
  std::string producer;     // "amsp-sim 0.1.0"
  std::string source;       // "sim" or "real"
  std::string config_hash;  // of the scenario
  std::string title;        // scenario name
  std::string backend = "nccl";
  std::string device_name;  // GPU
  std::int64_t device_memory_bytes = 0;
  int device_sms = 0;
  std::string clock = "simulated";  // which clock the times are of
  Nanoseconds clock_offset{};       // against the clock of rank 0
  Nanoseconds clock_uncertainty{};  // of that offset, +-
};

/// Chrome trace JSON of the selected ranks (docs/trace-format.md): Kineto-compatible events, one
/// process per rank for the GPU (pid 10000 + rank) and one for the host (20000 + rank, further up
/// for meshes of more than 10,000 ranks), one thread per stream. The tail of the step before the
/// window is included: time 0 is the earliest event of the selected ranks. Exact decimals with
/// three digits from integer ns. The annotations ProfilerStep#N tile each rank's window exactly.
/// One rank: a file as PyTorch would write for that rank. Several: merged, unique pids.
/// `ranks` must be distinct and not empty; their order does not matter. The kernels of a rank stand
/// with their tasks (args.kernels); those of tasks that are left out are left out as well.
/// The text is the same for the same input, and breaks no rule of broken_trace_rules().
std::string chrome_trace(const Timeline& timeline, const std::vector<Rank>& ranks,
                         const TraceMeta& meta, const TracedKernels& kernels = {});

/// Writes it to `path`, gzip-compressed (no time stamp) if the name ends in ".gz" in any
/// case of letters.
/// Throws ConfigError if the file can't be written.
void write_trace(const std::string& path, const std::string& text);

}  // namespace amsp
