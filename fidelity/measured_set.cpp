#include "fidelity/measured_set.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/error.h"
#include "core/json/object_reader.h"
#include "core/nearest.h"
#include "data/embedded.h"
#include "fidelity/metric.h"

namespace amsp {
namespace {

constexpr const char* kFolder = "fidelity/";
constexpr const char* kSuffix = ".json";

std::vector<std::string> read_strings(ObjectReader& reader, const std::string& key) {
  std::vector<std::string> strings;
  if (!reader.has(key)) return strings;
  const Json& values = reader.value(key);
  if (!values.is_array()) reader.fail(key, "must be an array of texts, found " + describe(values));
  for (const Json& value : values) {
    if (!value.is_string()) reader.fail(key, "must hold texts, found " + describe(value));
    strings.push_back(value.get<std::string>());
  }
  return strings;
}

using Parts = std::map<std::string, std::vector<std::string>>;

Parts read_parts(ObjectReader& set) {
  Parts parts;
  if (!set.has("parts")) return parts;
  ObjectReader reader = set.object("parts");
  for (const auto& [name, overrides] : set.value("parts").items())
    parts[name] = split_overrides(reader.string(name));
  return parts;
}

/// Overrides with parts written out.
std::vector<std::string> written_out(ObjectReader& row, const Parts& parts) {
  std::vector<std::string> result;
  for (const std::string& override : split_overrides(row.string_or("overrides", ""))) {
    if (!override.starts_with('@')) {
      result.push_back(override);
      continue;
    }
    const auto part = parts.find(override.substr(1));
    if (part == parts.end()) row.fail("overrides", "there is no part '" + override + "'");
    result.insert(result.end(), part->second.begin(), part->second.end());
  }
  return result;
}

MeasuredRow read_row(ObjectReader row, const Parts& parts, const std::string& metric) {
  MeasuredRow result;
  result.name = row.string("name");
  if (result.name.empty()) row.fail("name", "must not be empty");
  result.overrides = written_out(row, parts);
  result.metric = metric_of(row.choice_or("metric", metric_names(), metric));
  result.value = row.number("value", 0, kLargestMeasured);
  if (const std::string fault = value_fault(result.metric, result.value); !fault.empty())
    row.fail("value", fault);
  result.note = row.string_or("note", "");
  result.doubtful = row.string_or("doubtful", "");
  result.skipped = row.string_or("skip", "");
  row.finish();
  return result;
}

}  // namespace

const char* to_string(Metric metric) {
  switch (metric) {
    case Metric::kStepTime:
      return "step_time_s";
    case Metric::kTgs:
      return "tgs";
    case Metric::kMfu:
      return "mfu";
    case Metric::kMemory:
      return "memory_gib";
  }
  throw InternalError("an unknown metric");
}

const std::vector<std::string>& metric_names() {
  static const std::vector<std::string> names = {"step_time_s", "tgs", "mfu", "memory_gib"};
  return names;
}

Metric metric_of(const std::string& name) {
  for (const Metric metric : {Metric::kStepTime, Metric::kTgs, Metric::kMfu, Metric::kMemory})
    if (name == to_string(metric)) return metric;
  throw InternalError("an unchecked metric: " + name);
}

std::string value_fault(Metric metric, double value) {
  if (!std::isfinite(value) || value <= 0) return "must be above 0";
  if (metric == Metric::kMfu && value > 1)
    return fmt::format("an MFU is a fraction up to 1 such as 0.51, found {}", value);
  return "";
}

std::vector<std::string> split_overrides(std::string_view text) {
  std::vector<std::string> overrides;
  std::string override;
  int depth = 0;
  bool quoted = false, escaped = false;
  const auto end = [&] {
    if (!override.empty()) overrides.push_back(std::move(override));
    override.clear();
  };
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!quoted && depth == 0 && (blank || c == ';')) {
      end();
      continue;
    }
    override += c;
    if (quoted) {
      if (c == '"' && !escaped) quoted = false;
      escaped = c == '\\' && !escaped;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  end();
  return overrides;
}

MeasuredSet read_measured_set(const Json& json, const std::string& name, const std::string& file) {
  ObjectReader reader(json, file + "#");
  constexpr const char* kSchema = "amsp.measured/1";
  if (const std::string schema = reader.string("schema"); schema != kSchema)
    reader.fail("schema", fmt::format("must be \"{}\", found {}", kSchema, describe(schema)));
  MeasuredSet set;
  set.name = name;
  set.title = reader.string("title");
  set.sources = read_strings(reader, "sources");
  set.assumptions = read_strings(reader, "assumptions");
  reader.object("scenario");
  set.bases.push_back({name, reader.value("scenario"), ""});
  const std::string metric = reader.choice_or("metric", metric_names(), to_string(Metric::kTgs));
  const Parts parts = read_parts(reader);
  const Json& rows = reader.value("rows");
  if (!rows.is_array() || rows.empty())
    reader.fail("rows", "must be an array of rows, found " + describe(rows));
  for (std::size_t i = 0; i < rows.size(); ++i)
    set.rows.push_back(read_row(
        ObjectReader(rows[i], fmt::format("{}/{}", reader.where("rows"), i)), parts, metric));
  reader.finish();
  return set;
}

MeasuredSet sampled(MeasuredSet set, std::size_t rows) {
  const std::size_t all = set.rows.size();
  if (rows >= all) return set;
  std::vector<MeasuredRow> kept;
  for (std::size_t i = 0; i < rows; ++i) kept.push_back(std::move(set.rows[i * all / rows]));
  set.rows = std::move(kept);
  return set;
}

std::vector<std::string> shipped_set_names() {
  const std::string folder = kFolder, suffix = kSuffix;
  std::vector<std::string> names;
  for (const std::string& file : embedded_names(folder))
    names.push_back(file.substr(folder.size(), file.size() - folder.size() - suffix.size()));
  return names;
}

MeasuredSet shipped_set(const std::string& name) {
  const std::string file = kFolder + name + kSuffix;
  return read_measured_set(parse_json(embedded(file), file), name, name);
}

}  // namespace amsp
