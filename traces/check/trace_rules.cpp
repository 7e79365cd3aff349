#include "traces/check/trace_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "core/json/object_reader.h"
#include "traces/check/event_rules.h"
#include "traces/check/json_member.h"
#include "traces/check/trace_scan.h"
#include "traces/check/violations.h"

namespace amsp {
namespace {

bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// Viewers tell JSON from other formats by the first characters, whitespace left out.
bool starts_with(std::string_view text, std::string_view wanted) {
  std::string start;
  for (std::size_t i = 0; i < text.size() && start.size() < wanted.size(); ++i)
    if (!is_blank(text[i])) start += text[i];
  return start == wanted;
}

/// The text from the first key "rank" on; empty if there is none.
std::string_view first_rank(std::string_view text) {
  constexpr std::string_view kKey = "\"rank\"";
  for (auto at = text.find(kKey); at != std::string_view::npos; at = text.find(kKey, at + 1)) {
    std::size_t next = at + kKey.size();
    while (next < text.size() && is_blank(text[next])) ++next;
    if (next < text.size() && text[next] == ':') return text.substr(at);
  }
  return {};
}

class HeaderRules {
 public:
  HeaderRules(std::string_view text, const ScannedTrace& trace, Violations& violations)
      : text_(text), trace_(trace), top_(trace.top), violations_(violations) {}

  void check() {
    expect(member(top_, "schemaVersion") == 1, "schemaVersion must be 1", top_, "schemaVersion");
    expect(member(top_, "deviceProperties").is_array(), "deviceProperties must be an array", top_,
           "deviceProperties");
    if (expect(member(top_, "distributedInfo").is_object(), "distributedInfo must be an object",
               top_, "distributedInfo"))
      check_distributed(top_["distributedInfo"]);
    if (expect(member(top_, "metadata").is_object(), "metadata must be an object", top_,
               "metadata"))
      check_metadata(top_["metadata"]);
    expect(member(top_, "displayTimeUnit").is_string(), "displayTimeUnit must be a string", top_,
           "displayTimeUnit");
    expect(member(top_, "baseTimeNanoseconds").is_number_integer(),
           "baseTimeNanoseconds must be a whole number", top_, "baseTimeNanoseconds");
    expect(member(top_, "traceEvents").is_array(), "traceEvents must be an array", top_,
           "traceEvents");
    expect(member(top_, "traceName").is_string(), "traceName must be a string", top_, "traceName");
  }

 private:
  bool expect(bool holds, std::string_view rule, const Json& object, const char* key) {
    if (!holds) violations_.add(fmt::format("{}, found {}", rule, found(object, key)));
    return holds;
  }

  void check_distributed(const Json& info) {
    const auto& keys = trace_.keys;
    if (std::find(keys.begin(), keys.end(), "distributedInfo") >
        std::find(keys.begin(), keys.end(), "traceEvents"))
      violations_.add("distributedInfo must stand before traceEvents");
    expect(member(info, "backend").is_string(), "distributedInfo.backend must be a string", info,
           "backend");
    expect(whole_id(member(info, "world_size"), 1).has_value(),
           "distributedInfo.world_size must be a whole number >= 1", info, "world_size");
    check_rank(info);
    if (expect(member(info, "pg_config").is_array(), "distributedInfo.pg_config must be an array",
               info, "pg_config"))
      expect(member(info, "pg_count") == info["pg_config"].size(),
             "distributedInfo.pg_count must be the length of pg_config", info, "pg_count");
  }

  /// Tools find the rank by the text `"rank": N` on the first line that has it.
  void check_rank(const Json& info) {
    if (!trace_.first_rank_section.empty() && trace_.first_rank_section != "distributedInfo")
      violations_.add(fmt::format("the first key \"rank\" is in {}, not in distributedInfo",
                                  trace_.first_rank_section));
    const bool is_merged = member(info, "ranks").is_array() && !info.contains("rank");
    if (is_merged) return;
    if (!expect(whole_id(member(info, "rank"), 0).has_value(),
                "distributedInfo.rank must be a whole number", info, "rank"))
      return;
    const std::string_view rank = first_rank(text_);
    constexpr std::string_view kStart = "\"rank\": ";
    if (!rank.starts_with(kStart) || rank.size() == kStart.size() ||
        std::isdigit(static_cast<unsigned char>(rank[kStart.size()])) == 0)
      violations_.add("the first \"rank\" must be followed by a colon, one blank and the number");
    const auto info_at = text_.find("\"distributedInfo\"");
    const auto rank_at = static_cast<std::size_t>(rank.data() - text_.data());
    if (info_at < rank_at && text_.substr(info_at, rank_at - info_at).find('\n') != text_.npos)
      violations_.add("distributedInfo and its rank must stand on one line");
  }

  void check_metadata(const Json& metadata) {
    for (const char* key : {"producer", "config_hash", "clock"})
      expect(member(metadata, key).is_string(), fmt::format("metadata.{} must be a string", key),
             metadata, key);
    const Json& source = member(metadata, "source");
    expect(source == "sim" || source == "real", "metadata.source must be 'sim' or 'real'", metadata,
           "source");
    for (const char* key : {"offset_ns", "offset_unc_ns"})
      expect(member(metadata, key).is_number_integer(),
             fmt::format("metadata.{} must be a whole number", key), metadata, key);
    expect(member(metadata, "semantic_schema") == 1, "metadata.semantic_schema must be 1", metadata,
           "semantic_schema");
  }

  std::string_view text_;
  const ScannedTrace& trace_;
  const Json& top_;
  Violations& violations_;
};

}  // namespace

std::vector<std::string> broken_trace_rules(std::string_view json_text, RuleSet rules) {
  Violations violations;
  const bool ours = rules == RuleSet::kSchema;
  if (!starts_with(json_text, "{\"") && (ours || !starts_with(json_text, "[{\""))) {
    violations.add(ours ? "must start with {\"" : "must start with {\" or [{\"");
    return violations.lines();
  }
  EventRules events(violations, rules);
  const ScannedTrace trace =
      scan_trace(json_text, [&](const ScannedEvent& event) { events.add(event); });
  if (trace.error) {
    violations.add("is not complete, valid JSON: " + *trace.error);
    return violations.lines();
  }
  events.finish();
  if (ours)
    HeaderRules(json_text, trace, violations).check();
  else if (trace.top.is_object() && !member(trace.top, "traceEvents").is_array())
    violations.add("traceEvents must be an array, found " + found(trace.top, "traceEvents"));
  return violations.lines();
}

bool claims_our_schema(std::string_view json_text) {
  return json_text.find("\"semantic_schema\"") != std::string_view::npos;
}

}  // namespace amsp
