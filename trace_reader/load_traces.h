#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace_reader/event_stream.h"
#include "trace_reader/name_rules.h"
#include "trace_reader/rank_trace.h"

namespace amsp {

struct LoadOptions {
  ReadOptions read;
  std::optional<int> rank;  // for the only file, where it doesn't say
  UserRules rules;
  /// Called now and then with what is being read; may be empty.
  std::function<void(const std::string& file)> progress;
};

/// The files that paths stand for, in order of names, each once: a folder for its *.json and
/// *.json.gz. Throws ConfigError for a folder without any.
std::vector<std::string> trace_files(const std::vector<std::string>& paths);

/// Reads trace_files(paths). The rank of a file is distributedInfo's; else options.rank; else the
/// number behind "rank" in the file's name. One file may remain without.
///
/// Throws ConfigError for what can't be read, for several files of which one has no rank, and for
/// a rank that two files claim (naming both).
TraceSet load_traces(const std::vector<std::string>& paths, const LoadOptions& options);

/// One trace from memory, e.g. what a program just wrote; `name` is for messages.
TraceSet load_trace_text(std::string_view text, const std::string& name,
                         const LoadOptions& options = {});

/// The whole text of a trace, unpacked, as it stands. Throws ConfigError if it can't be read or its
/// gzip data are damaged.
std::string read_trace_text(const std::string& path);

}  // namespace amsp
