#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/units.h"
#include "trace_reader/notes.h"

namespace amsp {

/// What a GPU event did.
enum class Activity : std::uint8_t { kCompute, kCommunication, kMemory };
const char* to_string(Activity activity);

/// How that was found out; the first that applies.
enum class Evidence : std::uint8_t {
  kTaskKey,     // args.sk and its parts
  kArguments,   // Kineto's collective arguments on the kernel
  kLinkedCall,  // those of the record_param_comms that launched it
  kAnnotation,  // an enclosing nccl:* range
  kName,        // rules on kernel names
  kUserRule,    // rules of the user
  kCategory,    // gpu_memcpy, gpu_memset
  kDefault,     // nothing says otherwise: compute
};
const char* to_string(Evidence evidence);

/// A collective as far as the trace tells.
struct Collective {
  std::string kind;   // our traffic class, else the operation, such as "all_reduce"
  std::string op;     // "all_gather", "send_recv", "unknown", ...
  std::string group;  // our mesh, else the group's description, name or "-"
  /// Names the group across ranks: its ranks where they are known, else its name.
  std::string members;
  int group_size = 0;               // 0: unknown
  std::int64_t bytes = -1;          // of this rank's larger buffer; -1: unknown
  std::int64_t seq = -1;            // -1: unknown
  std::optional<Nanoseconds> wait;  // nothing: the trace doesn't say
};

struct GpuEvent {
  Nanoseconds start, end;
  std::int64_t stream = 0;
  std::int64_t correlation = -1;  // -1: none
  std::int32_t name = -1;         // index into RankTrace::texts
  std::int32_t key = -1;          // args.sk, likewise; -1: none
  std::int32_t layer = -1, module = -1, phase = -1, op = -1;
  std::int32_t collective = -1;      // index into RankTrace::collectives
  std::int32_t deps = -1;            // index into RankTrace::deps
  std::int32_t bytes_or_shape = -1;  // text that tells sizes apart (grid and block), or -1
  Activity activity = Activity::kCompute;
  Evidence evidence = Evidence::kDefault;
};

/// A host call that launched GPU work.
struct Launch {
  std::int64_t correlation;
  Nanoseconds start, end;
  std::int32_t name;
};

/// One training step by the host's markers.
struct StepMark {
  std::int64_t number;
  Nanoseconds begin, end;
};

/// One rank's part of a recorded trace. Times are nanoseconds of the file's clock
/// (baseTimeNanoseconds added).
struct RankTrace {
  std::string file;
  std::optional<int> rank;
  std::string rank_source;  // where the rank is from, for people
  int world_size = 0;       // 0: unknown
  bool own_schema = false;  // written by us: semantic arguments, a near-zero base
  bool simulated = false;
  bool has_keys = false;     // some event has a task key
  Nanoseconds clock_offset;  // against rank 0, as the trace claims
  std::string device;

  std::vector<GpuEvent> events;  // by start, longer first
  std::vector<Launch> launches;  // by correlation
  std::vector<StepMark> steps;   // by begin
  std::vector<Collective> collectives;
  std::vector<std::vector<std::int64_t>> deps;  // correlations of what an event had to wait for
  std::vector<std::string> texts;
  Notes quarantined;  // events set aside because their times make no sense
  Notes doubts;       // overlaps on one stream, kernels before their launch, ...

  const std::string& text(std::int32_t id) const { return texts[static_cast<std::size_t>(id)]; }
  std::string_view text_or(std::int32_t id, std::string_view other) const {
    return id < 0 ? other : std::string_view(text(id));
  }
  const Collective* collective(const GpuEvent& event) const {
    return event.collective < 0 ? nullptr
                                : &collectives[static_cast<std::size_t>(event.collective)];
  }
  const Launch* launch(std::int64_t correlation) const;
  /// "rank 3", or the file where the rank is unknown.
  std::string label() const;
};

/// How a file was read.
struct FileReport {
  std::string path;
  std::uint64_t bytes = 0;  // unpacked
  std::int64_t events = 0;
  bool floor = false;  // the file is incomplete: there were more
  std::string incomplete;
  Notes repairs, rejected;
};

/// The ranks of several files.
struct TraceSet {
  std::vector<FileReport> files;
  std::vector<RankTrace> ranks;  // by rank, those without one last
};

}  // namespace amsp
