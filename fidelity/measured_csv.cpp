#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>

#include "core/error.h"
#include "core/json/json.h"
#include "core/json/object_reader.h"
#include "core/nearest.h"
#include "core/utf8.h"
#include "fidelity/measured_set.h"
#include "fidelity/metric.h"

namespace amsp {
namespace {

/// Cells by RFC 4180: "a,b" holds a comma, "" in quotes is one quote, lines may end with CR LF.
class CsvLines {
 public:
  CsvLines(std::string_view text, std::string path) : rest_(text), path_(std::move(path)) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // what spreadsheets put first
  }

  /// The next line that has cells, or nothing at the end.
  std::optional<std::vector<std::string>> next() {
    while (!rest_.empty()) {
      line_ = next_line_;
      if (rest_.front() == '#') {
        take_line();
        continue;
      }
      std::vector<std::string> cells = take_cells();
      if (cells.size() > 1 || !cells[0].empty()) return cells;
    }
    return std::nullopt;
  }
  std::string where() const { return fmt::format("{}:{}", path_, line_); }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\n') ++next_line_;
    return c;
  }
  void take_line() {
    while (!rest_.empty() && take() != '\n') {
    }
  }
  std::vector<std::string> take_cells() {
    std::vector<std::string> cells(1);
    while (!rest_.empty()) {
      if (rest_.front() == '"' && cells.back().empty()) {
        cells.back() = take_quoted();
        continue;
      }
      const char c = take();
      if (c == '\n') break;
      if (c == ',')
        cells.emplace_back();
      else if (c != '\r' || !(rest_.empty() || rest_.front() == '\n'))
        cells.back() += c;
    }
    return cells;
  }
  std::string take_quoted() {
    std::string cell;
    take();
    while (!rest_.empty()) {
      const char c = take();
      if (c != '"') {
        cell += c;
      } else if (!rest_.empty() && rest_.front() == '"') {
        cell += take();
      } else {
        return cell;
      }
    }
    throw ConfigError(where() + ": a quoted cell has no end");
  }

  std::string_view rest_;
  std::string path_;
  std::size_t line_ = 1, next_line_ = 1;
};

const std::vector<std::string> kColumns = {"scenario", "overrides", "metric",  "value",
                                           "name",     "note",      "doubtful"};

/// Where each known column stands.
std::map<std::string, std::size_t> read_header(const std::vector<std::string>& header,
                                               const std::string& where) {
  std::map<std::string, std::size_t> columns;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (std::find(kColumns.begin(), kColumns.end(), header[i]) == kColumns.end()) {
      const auto close = nearest(header[i], kColumns);
      throw ConfigError(fmt::format("{}: there is no column '{}'{} (allowed: {})", where, header[i],
                                    close ? "; did you mean '" + *close + "'?" : "",
                                    join(kColumns)));
    }
    if (!columns.emplace(header[i], i).second)
      throw ConfigError(fmt::format("{}: the column '{}' stands twice", where, header[i]));
  }
  for (const char* needed : {"scenario", "metric", "value"})
    if (!columns.contains(needed))
      throw ConfigError(fmt::format("{}: the column '{}' is missing", where, needed));
  return columns;
}

double parse_value(const std::string& text, Metric metric, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value > kLargestMeasured)
    throw ConfigError(fmt::format("{}: value: must be a number, found {}", where,
                                  describe(Json(shorten(text, 40)))));
  if (const std::string fault = value_fault(metric, value); !fault.empty())
    throw ConfigError(fmt::format("{}: value: {}", where, fault));
  return value;
}

Metric parse_metric(const std::string& text, const std::string& where) {
  const std::vector<std::string>& names = metric_names();
  if (std::find(names.begin(), names.end(), text) == names.end())
    throw ConfigError(fmt::format("{}: metric: must be one of {}, found {}", where, join(names),
                                  describe(Json(shorten(text, 40)))));
  return metric_of(text);
}

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& path)
      : lines_(text, path), folder_(std::filesystem::path(path).parent_path()) {
    set_.name = std::filesystem::path(path).filename().string();
    set_.title = "measured by you";
    set_.sources = {path};
  }

  MeasuredSet read() {
    const auto header = lines_.next();
    if (!header) throw ConfigError(lines_.where() + ": the table is empty");
    columns_ = read_header(*header, lines_.where());
    width_ = header->size();
    while (const auto cells = lines_.next()) set_.rows.push_back(read_row(*cells));
    if (set_.rows.empty()) throw ConfigError(lines_.where() + ": the table has no rows");
    return std::move(set_);
  }

 private:
  MeasuredRow read_row(const std::vector<std::string>& cells) {
    if (cells.size() != width_)
      throw ConfigError(
          fmt::format("{}: has {} cells under {} columns", lines_.where(), cells.size(), width_));
    const auto cell = [&](const char* column) {
      const auto at = columns_.find(column);
      return at == columns_.end() ? std::string() : cells[at->second];
    };
    for (const std::string& text : cells)
      if (utf8_error(text) != std::string::npos)
        throw ConfigError(lines_.where() + ": is no UTF-8");
    MeasuredRow row;
    const std::string scenario = cell("scenario");
    if (scenario.empty()) throw ConfigError(lines_.where() + ": scenario: is missing");
    row.base = base(scenario);
    row.overrides = split_overrides(cell("overrides"));
    row.metric = parse_metric(cell("metric"), lines_.where());
    row.value = parse_value(cell("value"), row.metric, lines_.where());
    row.note = cell("note");
    row.doubtful = cell("doubtful");
    row.name = cell("name");
    if (row.name.empty())
      row.name = std::filesystem::path(scenario).stem().string() +
                 (row.overrides.empty() ? "" : " " + join(row.overrides, " "));
    return row;
  }

  std::size_t base(const std::string& scenario) {
    const auto [at, is_new] = bases_.emplace(scenario, set_.bases.size());
    if (!is_new) return at->second;
    BaseScenario base{(folder_ / scenario).string(), {}, ""};
    try {
      base.json = read_json_file(base.file);
    } catch (const ConfigError& error) {
      base.fault = error.what();
    }
    set_.bases.push_back(std::move(base));
    return at->second;
  }

  CsvLines lines_;
  std::filesystem::path folder_;
  MeasuredSet set_;
  std::map<std::string, std::size_t> columns_, bases_;
  std::size_t width_ = 0;
};

}  // namespace

MeasuredSet read_measured_csv(std::string_view text, const std::string& path) {
  return CsvReader(text, path).read();
}

}  // namespace amsp
