#include "trace_reader/load_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>

#include "core/error.h"
#include "core/json/json.h"
#include "trace_reader/trace_builder.h"

namespace amsp {
namespace {

namespace fs = std::filesystem;

bool is_trace_name(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

/// The number behind the last "rank" of a file's name: step_rank3.json, rank-3, rank_3, Rank3.
std::optional<int> rank_in_name(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (auto at = name.rfind("rank"); at != std::string::npos && at < name.size();
       at = at == 0 ? std::string::npos : name.rfind("rank", at - 1)) {
    std::size_t digit = at + 4;
    while (digit < name.size() && (name[digit] == '-' || name[digit] == '_')) ++digit;
    const std::size_t first = digit;
    while (digit < name.size() && std::isdigit(static_cast<unsigned char>(name[digit])) != 0)
      ++digit;
    const auto number = parse_integer(std::string_view(name).substr(first, digit - first));
    if (number && *number < std::numeric_limits<int>::max()) return static_cast<int>(*number);
  }
  return std::nullopt;
}

void read_into(TraceSet& set, ByteSource& source, const std::string& file,
               const LoadOptions& options) {
  TraceBuilder builder(options.rules);
  StreamOutcome outcome =
      stream_events(source, file, options.read, [&](const RawEvent& event) { builder.add(event); });
  for (RankTrace& trace : builder.finish(outcome)) {
    trace.file = file;
    set.ranks.push_back(std::move(trace));
  }
  set.files.push_back({file, outcome.bytes, outcome.events, !outcome.incomplete.empty(),
                       outcome.incomplete, std::move(outcome.repairs),
                       std::move(outcome.rejected)});
}

void settle_ranks(TraceSet& set, const LoadOptions& options) {
  if (options.rank && set.ranks.size() > 1)
    throw ConfigError(
        fmt::format("--rank: names the rank of one trace, but there are {}", set.ranks.size()));
  for (RankTrace& trace : set.ranks) {
    if (options.rank) {
      trace.rank = options.rank;
      trace.rank_source = "--rank";
    } else if (!trace.rank) {
      trace.rank = rank_in_name(trace.file);
      trace.rank_source = trace.rank ? "the file's name" : "unknown";
    }
    if (!trace.rank && set.ranks.size() > 1)
      throw ConfigError(trace.file +
                        ": the rank is unknown: there is no distributedInfo.rank; name the files "
                        "..._rankN.json or give one file with --rank");
  }
  std::stable_sort(set.ranks.begin(), set.ranks.end(), [](const RankTrace& a, const RankTrace& b) {
    return a.rank.value_or(std::numeric_limits<int>::max()) <
           b.rank.value_or(std::numeric_limits<int>::max());
  });
  for (std::size_t i = 1; i < set.ranks.size(); ++i)
    if (set.ranks[i].rank == set.ranks[i - 1].rank)
      throw ConfigError(fmt::format("rank {} is claimed by two traces: {} and {}",
                                    *set.ranks[i].rank, set.ranks[i - 1].file, set.ranks[i].file));
}

}  // namespace

std::vector<std::string> trace_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored))
      if (entry.is_regular_file(ignored) && is_trace_name(entry.path().filename().string()))
        files.push_back(entry.path().string());
    if (files.size() == before) throw ConfigError(path + ": holds no *.json or *.json.gz");
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

TraceSet load_traces(const std::vector<std::string>& paths, const LoadOptions& options) {
  TraceSet set;
  for (const std::string& file : trace_files(paths)) {
    if (options.progress) options.progress(file);
    ByteSource source(file);
    read_into(set, source, file, options);
  }
  settle_ranks(set, options);
  return set;
}

TraceSet load_trace_text(std::string_view text, const std::string& name,
                         const LoadOptions& options) {
  TraceSet set;
  ByteSource source(text);
  read_into(set, source, name, options);
  settle_ranks(set, options);
  return set;
}

std::string read_trace_text(const std::string& path) {
  ByteSource source(path);
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (const std::size_t count = source.read(buffer.data(), buffer.size()))
    text.append(buffer.data(), count);
  if (!source.damage().empty()) throw ConfigError(path + ": " + source.damage());
  return text;
}

}  // namespace amsp
