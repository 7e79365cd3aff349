#pragma once

#include <deque>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace_reader/event_stream.h"
#include "trace_reader/name_rules.h"
#include "trace_reader/rank_trace.h"

namespace amsp {

/// Makes the ranks of one file from its events. Keeps GPU work, launches, step markers and what
/// tells collectives; memory grows with the number of GPU events and launches only.
class TraceBuilder {
 public:
  explicit TraceBuilder(const UserRules& rules) : rules_(rules) {}

  void add(const RawEvent& event);
  /// At the end of the file: links, classifies and orders. A file holds several ranks if its
  /// processes are called "rank N GPU" and "rank N host", as in our merged traces.
  std::vector<RankTrace> finish(const StreamOutcome& outcome);

 private:
  /// Texts that occur often, stored once.
  class Interner {
   public:
    std::int32_t id(std::string_view text);
    /// All of them by id; nothing may be added afterwards.
    std::vector<std::string> take() {
      ids_.clear();
      return {std::make_move_iterator(texts_.begin()), std::make_move_iterator(texts_.end())};
    }

   private:
    std::deque<std::string> texts_;  // a deque: the views below stay valid
    std::unordered_map<std::string_view, std::int32_t> ids_;
  };
  /// Arguments of record_param_comms, or of a kernel.
  struct CallArgs {
    std::string name, dtype, group, description, ranks;
    std::int64_t in = -1, out = -1, size = 0, seq = -1;
  };
  struct Range {
    std::int64_t stream;
    Nanoseconds start, end;
    std::string name;
  };
  struct Part {
    RankTrace trace;
    Interner texts;
    std::vector<std::pair<std::int64_t, std::int64_t>> external_of;  // correlation, External id
    std::unordered_map<std::int64_t, CallArgs> calls;                // by External id
    std::vector<std::pair<std::int64_t, std::int32_t>> external_of_kernel;
    std::vector<Range> annotations;  // nccl:* on the GPU
  };

  Part& part(const RawEvent& event);
  void add_metadata(const RawEvent& event);
  void add_slice(const RawEvent& event, Part& part);
  void add_gpu(const RawEvent& event, Part& part, Nanoseconds start, Nanoseconds end, bool copies);
  void add_launch(const RawEvent& event, Part& part, Nanoseconds start, Nanoseconds end);
  bool has_time(const RawEvent& event, Part& part, Nanoseconds& start, Nanoseconds& end);
  static CallArgs call_args(const RawEvent& event);
  static void add_collective(Part& part, GpuEvent& event, const CallArgs& call, std::string kind);
  void classify_late(Part& part);
  void set_aside_zero_times(Part& part, bool own_schema);
  void set_aside_far_times(Part& part);
  static void order(Part& part);

  const UserRules& rules_;
  std::map<std::string, Part> parts_;                   // by rank as in process names; "" else
  std::unordered_map<std::string, std::string> ranks_;  // pid -> rank, from process names
};

}  // namespace amsp
