#include <fmt/format.h>

#include "core/error.h"
#include "core/json/json.h"
#include "core/json/object_reader.h"
#include "profiling/nccl_line.h"

namespace amsp {
namespace {

/// A number as C's %lf prints it.
Printed six_decimals(double value) {
  return {value, 1e-6};
}

Printed scaled(Printed number, double factor) {
  return {number.value * factor, number.unit * factor};
}

double number(ObjectReader& reader, const char* key) {
  const Json& value = reader.value(key);
  if (!value.is_number()) reader.fail(key, "must be a number, found " + describe(value));
  return value.get<double>();
}

/// The file's schema isn't ours: keys that it has beyond these are no mistake.
NcclTimes read_times(ObjectReader reader, NcclRun& run) {
  NcclTimes times;
  if (reader.has("cpu_time")) run.cpu_time = true;
  const Printed time = six_decimals(number(reader, run.cpu_time ? "cpu_time" : "time"));
  times.time = {time.value / 1e6, time.unit / 1e6};
  times.algbw = scaled(six_decimals(number(reader, "alg_bw")), 1e9);
  times.busbw = scaled(six_decimals(number(reader, "bus_bw")), 1e9);
  if (reader.has("nwrong") && reader.value("nwrong").is_number())
    times.wrong = number(reader, "nwrong");
  return times;
}

NcclRow read_row(ObjectReader reader, NcclRun& run) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  NcclRow row;
  row.place = reader.where();
  row.bytes = reader.integer("size", 0, kMost);
  row.count = reader.integer("count", 0, kMost);
  row.type = reader.string("type");
  for (const char* key : {"out_of_place", "in_place"}) {
    if (!reader.has(key) || reader.value(key).is_null()) continue;
    (key[0] == 'o' ? row.out_of_place : row.in_place) = read_times(reader.object(key), run);
  }
  return row;
}

NcclRank read_device(ObjectReader reader) {
  constexpr int kMost = 1 << 24;
  NcclRank rank;
  rank.rank = static_cast<int>(reader.integer("rank", 0, kMost));
  rank.group = static_cast<int>(reader.integer_or("group", -1, kMost, 0));
  rank.pid = reader.integer_or("pid", -1, std::int64_t{1} << 40, -1);
  rank.host = reader.string("hostname");
  rank.device = static_cast<int>(reader.integer("device", -1, kMost));
  rank.bus = reader.string_or("device_hex", "");
  rank.gpu = reader.string_or("device_info", "");
  return rank;
}

void read_config(ObjectReader config, NcclRun& run) {
  const auto threads = config.integer("nthreads", 1, 1024), gpus = config.integer("ngpus", 1, 1024);
  run.ranks_per_process = static_cast<int>(threads * gpus);
  run.aggregated = static_cast<int>(config.integer_or("aggregated_iterations", 1, 1 << 30, 1));
  if (config.has("blocking_collectives")) {
    const Json& blocking = config.value("blocking_collectives");  // a string, not a boolean
    run.blocking = blocking == "true" || blocking == true;
  }
  if (!config.has("devices")) return;
  const Json& devices = config.value("devices");
  if (!devices.is_array()) config.fail("devices", "must be a list, found " + describe(devices));
  for (std::size_t i = 0; i < devices.size(); ++i)
    run.ranks.push_back(
        read_device({devices[i], fmt::format("{}/{}", config.where("devices"), i)}));
}

std::string version_text(std::int64_t code) {
  // 2.8.4 is 2804, 2.9.6 is 20906
  const std::int64_t major = code < 10000 ? code / 1000 : code / 10000;
  const std::int64_t minor = code < 10000 ? code / 100 % 10 : code / 100 % 100;
  return fmt::format("{}.{}.{}", major, minor, code % 100);
}

}  // namespace

NcclLog read_nccl_json(std::string_view text, const std::string& file) {
  const Json json = parse_json(text, file);
  ObjectReader root(json, file + "#");
  if (!root.has("results"))
    root.fail("has no 'results': neither nccl-tests' text nor its JSON (-J)");
  root.integer("version", 1, 3);
  NcclLog log;
  log.file = file;
  NcclRun run;
  run.place = file;
  run.one_line_per_process = true;
  if (root.has("args")) {
    const Json& arguments = root.value("args");
    if (arguments.is_array() && !arguments.empty() && arguments[0].is_string())
      run.command = arguments[0].get<std::string>();
  }
  if (root.has("nccl_version"))
    run.nccl_version = version_text(root.integer("nccl_version", 0, 10'000'000));
  if (root.has("config")) read_config(root.object("config"), run);
  const Json& results = root.value("results");
  if (!results.is_array()) root.fail("results", "must be a list, found " + describe(results));
  for (std::size_t i = 0; i < results.size(); ++i) {
    NcclRow row = read_row({results[i], fmt::format("{}/{}", root.where("results"), i)}, run);
    if (row.bytes == 0)
      ++run.empty_rows;
    else
      run.rows.push_back(std::move(row));
  }
  if (run.rows.empty()) root.fail("results", "has no rows");
  if (root.has("out_of_bounds") && root.value("out_of_bounds").is_object()) {
    ObjectReader bounds = root.object("out_of_bounds");
    if (const double count = number(bounds, "count"); count > 0)
      run.failed = fmt::format("{}: {} values are out of bounds", bounds.where(), count);
  }
  log.runs.push_back(std::move(run));
  return log;
}

}  // namespace amsp
