#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json/json_fwd.h"
#include "trace_analysis/analyse.h"

namespace amsp {

/// A piece of the critical path. Consecutive pieces tile the step exactly.
struct PathPiece {
  int rank;                // index
  int event;               // index into its events; -1: nothing ran
  Nanoseconds start, end;  // on the first rank's clock
  /// "compute", "memory", a kind of communication; between events "launch" (the launch of the next
  /// one was under way), "host" (it had not begun), "idle" (unexplained).
  std::string kind;
  std::string layer;  // "-" where unknown
  bool inferred;      // what it waited for was guessed from times, not read from the trace
};

/// From the end of step `step` (by order) on the rank that ends last back to the begin of the first
/// step to begin, from an event to what it waited for and what of that ended last:
///   of our traces what args.deps names, and the event before on its stream;
///   of others the event before on its stream, or another one of its rank that ended between that
///   and its start (inferred); where a launch came later than both, the launch;
///   a collective waits for its last member, and has the transfer alone.
/// A kernel that starts before its launch counts as launched at once.
std::vector<PathPiece> trace_path(const Analysis& analysis, std::size_t step);

/// Sums by kind, or by layer of what ran.
std::map<std::string, Nanoseconds> path_by_kind(const std::vector<PathPiece>& path);
std::map<std::string, Nanoseconds> path_by_layer(const std::vector<PathPiece>& path);

/// For people, all steps; and for programs ("amsp.trace-path/1").
std::string path_text(const Analysis& analysis);
OrderedJson path_json(const Analysis& analysis);

}  // namespace amsp
