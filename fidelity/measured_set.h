#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace amsp {

/// What was measured of a run.
enum class Metric {
  kStepTime,  // s
  kTgs,       // tokens per GPU and second
  kMfu,       // a fraction, by the formula of amsp-sim's MFU
  kMemory,    // GiB of a GPU, what the allocator keeps included
};
/// As in files: "step_time_s", "tgs", "mfu", "memory_gib".
const char* to_string(Metric metric);

/// A run that somebody measured: a scenario with overrides.
struct MeasuredRow {
  std::string name;
  std::size_t base = 0;  // of MeasuredSet::bases
  std::vector<std::string> overrides;
  Metric metric = Metric::kTgs;
  double value = 0;
  std::string note;
  std::string doubtful;  // why the measurement is; empty: it isn't
  std::string skipped;   // why we can't predict it; empty: we can
};

/// What rows override.
struct BaseScenario {
  std::string file;  // for messages, and to resolve paths inside
  Json json;
  std::string fault;  // why it can't be read; empty: it can
};

/// Runs of one source, or of one user.
struct MeasuredSet {
  std::string name, title;
  std::vector<std::string> sources;      // links, and what was read there
  std::vector<std::string> assumptions;  // what the sources don't say
  std::vector<BaseScenario> bases;
  std::vector<MeasuredRow> rows;
};

/// The sets of data/fidelity, which are compiled in.
std::vector<std::string> shipped_set_names();
/// Throws InternalError if there is no such set.
MeasuredSet shipped_set(const std::string& name);

/// Reads "amsp.measured/1":
///   {"schema": "amsp.measured/1", "title": ..., "sources": [...], "assumptions": [...],
///    "scenario": {...}, "metric": "tgs", "parts": {"7b": "model.preset=llama-7b"},
///    "rows": [{"name": ..., "overrides": "@7b cluster.nodes=8", "value": 3700}, ...]}
/// A row may have "metric", "note", "doubtful" and "skip" (reasons); "@part" stands for the
/// overrides of that part. Throws ConfigError.
MeasuredSet read_measured_set(const Json& json, const std::string& name, const std::string& file);

/// Reads a table with the columns scenario (a path, relative to the table's folder), metric, value,
/// and if need be overrides, name, note, doubtful (a reason), in any order; lines that start with #
/// are left out. A scenario that can't be read is told by the rows that need it. Throws ConfigError
/// with the line for everything else.
MeasuredSet read_measured_csv(std::string_view text, const std::string& path);

/// At most `rows` of the set's, evenly spread; its order stays.
MeasuredSet sampled(MeasuredSet set, std::size_t rows);

/// "a.b=1 c=2; d={"e": [1, 2]}": overrides end at blanks and semicolons outside of JSON.
std::vector<std::string> split_overrides(std::string_view text);

}  // namespace amsp
