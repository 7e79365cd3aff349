#pragma once

#include <string>
#include <vector>

#include "traces/timeline.h"

namespace amsp {

/// What a trace says about itself.
struct TraceMeta {
  std::string producer;       // "amsp-sim 0.1.0"
  std::string source;         // "sim" or "real"
  std::string config_hash;    // of the scenario
  std::string title;          // scenario name
  std::string backend = "nccl";
  std::string device_name;    // GPU
  std::int64_t device_memory_bytes = 0;
  int device_sms = 0;
};

/// Chrome trace JSON of the selected ranks (docs/trace-format.md): Kineto-compatible events, one
/// process per rank for the GPU (pid 10000 + rank) and one for the host (20000 + rank), one
/// thread per stream. Times are relative to the earliest window begin of the selected ranks,
/// shifted so that nothing is negative; exact decimals with three digits from integer ns.
/// One rank: a file as PyTorch would write for that rank. Several: merged, unique pids.
/// The text is the same for the same input.
std::string chrome_trace(const Timeline& timeline, const std::vector<Rank>& ranks,
                         const TraceMeta& meta);

/// Writes it to `path`, gzip-compressed (no time stamp) if the name ends in ".gz".
/// Throws ConfigError if the file can't be written.
void write_trace(const std::string& path, const std::string& text);

}  // namespace amsp
