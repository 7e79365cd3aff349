#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "core/json/json.h"
#include "core/json/object_reader.h"
#include "kernels/kernel_table.h"

namespace amsp {
namespace {

constexpr double kMostRate = 1e18;  // flop/s; above is a wrong unit

[[noreturn]] void fail_at(const std::string& where, const std::string& rule, const Json& found) {
  throw ConfigError(fmt::format("{}: must be {}, found {}", where, rule, describe(found)));
}

const Json& list_at(ObjectReader& object, const std::string& key) {
  const Json& list = object.value(key);
  if (!list.is_array() || list.empty()) fail_at(object.where(key), "a list with entries", list);
  return list;
}

std::vector<ObjectReader> objects_at(ObjectReader& object, const std::string& key) {
  const Json& list = object.value(key);
  if (!list.is_array()) fail_at(object.where(key), "a list", list);
  std::vector<ObjectReader> readers;
  for (std::size_t i = 0; i < list.size(); ++i)
    readers.emplace_back(list[i], fmt::format("{}/{}", object.where(key), i));
  return readers;
}

double number_in(const Json& entry, double most, const std::string& where) {
  const double value = entry.is_number() ? entry.get<double>() : 0;
  if (!(value > 0 && value <= most))
    fail_at(where, fmt::format("a number above 0 and at most {:g}", most), entry);
  return value;
}

/// Whole numbers that ascend.
std::vector<double> axis_at(ObjectReader& axes, const std::string& key) {
  const Json& list = list_at(axes, key);
  std::vector<double> axis;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = fmt::format("{}/{}", axes.where(key), i);
    const double value = number_in(list[i], 1e9, where);
    if (value != std::floor(value)) fail_at(where, "a whole number", list[i]);
    if (i > 0 && value <= axis.back())
      fail_at(where, fmt::format("more than {}", axis.back()), list[i]);
    axis.push_back(value);
  }
  return axis;
}

std::array<std::vector<double>, 3> axes_at(ObjectReader& table,
                                           const std::array<const char*, 3>& names) {
  ObjectReader axes = table.object("axes");
  std::array<std::vector<double>, 3> found;
  for (std::size_t i = 0; i < names.size(); ++i) found[i] = axis_at(axes, names[i]);
  axes.finish();
  return found;
}

/// A row for each pair of the first two axes, in their order, with an entry for each of the third.
RateGrid grid_at(ObjectReader& table, const std::string& key,
                 const std::array<std::vector<double>, 3>& axes, double unit) {
  const Json& rows = list_at(table, key);
  const std::size_t count = axes[0].size() * axes[1].size();
  if (rows.size() != count)
    table.fail(key, fmt::format("must have {} rows, found {}", count, rows.size()));
  std::vector<double> rates;
  rates.reserve(count * axes[2].size());
  for (std::size_t i = 0; i < count; ++i) {
    if (!rows[i].is_array() || rows[i].size() != axes[2].size())
      fail_at(fmt::format("{}/{}", table.where(key), i),
              fmt::format("a row of {} numbers", axes[2].size()), rows[i]);
    for (std::size_t j = 0; j < axes[2].size(); ++j) {
      const Json& entry = rows[i][j];
      const double value = entry.is_number() ? entry.get<double>() : 0;
      if (!(value > 0 && value <= kMostRate / unit))
        number_in(entry, kMostRate / unit, fmt::format("{}/{}/{}", table.where(key), i, j));
      rates.push_back(value * unit);
    }
  }
  return {axes, rates};
}

/// "measured: text" and the like.
Source source_at(ObjectReader& object, const std::string& key) {
  const std::string text = object.string(key);
  for (const Source source : {Source::kMeasured, Source::kDerived, Source::kModelled,
                              Source::kDatasheet, Source::kAssumed})
    if (text.starts_with(std::string(to_string(source)) + ": ")) return source;
  object.fail(key,
              "must start with measured:, derived:, modelled:, datasheet: or assumed: and a space");
}

template <class Enum, std::size_t kSize>
Enum enum_at(ObjectReader& object, const std::string& key, const std::array<Enum, kSize>& values) {
  std::vector<std::string> names;
  names.reserve(kSize);
  for (const Enum value : values) names.emplace_back(to_string(value));
  const std::string name = object.choice(key, names);
  return values[std::size_t(std::find(names.begin(), names.end(), name) - names.begin())];
}

constexpr std::array kTypes{GemmType::kBf16, GemmType::kFp8};
constexpr std::array kAttention{AttentionKernel::kFlash2, AttentionKernel::kFlash3,
                                AttentionKernel::kFlash4, AttentionKernel::kCudnn,
                                AttentionKernel::kTriton};

std::vector<std::pair<double, double>> ratios_at(ObjectReader& object) {
  const Json& rows = list_at(object, "rows");
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string where = fmt::format("{}/{}", object.where("rows"), i);
    if (!rows[i].is_array() || rows[i].size() != 2)
      fail_at(where, "a sequence length and a ratio", rows[i]);
    const double x = std::log(number_in(rows[i][0], 1e9, where + "/0"));
    if (i > 0 && x <= points.back().first)
      fail_at(where + "/0", "more than in the row before", rows[i][0]);
    points.emplace_back(x, number_in(rows[i][1], 100, where + "/1"));
  }
  return points;
}

}  // namespace

KernelTable read_kernel_table(const Json& json, const std::string& file) {
  ObjectReader reader(json, file + "#");
  reader.choice("schema", {"amsp.kernels/1"});
  KernelTable table;
  table.name_ = reader.string("name");
  const double unit = reader.number("rate_unit", 1, 1e15);

  ObjectReader launch = reader.object("launch");
  table.fixed_ = {launch.number("fixed_s", 0, 1e-3)};
  table.gap_ = {launch.number("gap_s", 0, 1e-3)};
  ObjectReader sources = launch.object("sources");
  source_at(sources, "fixed_s");
  source_at(sources, "gap_s");
  sources.finish();
  launch.finish();

  const auto spread_of = [](ObjectReader& object, bool outside) {
    ObjectReader spread = object.object("spread");
    const KernelTable::Spread found{.grid = spread.number("grid", 0, 10),
                                    .between = spread.number("between", 0, 10),
                                    .outside = outside ? spread.number("outside", 0, 10) : 0};
    spread.finish();
    object.allow("left_out");
    return found;
  };
  for (ObjectReader& entry : objects_at(reader, "gemm")) {
    const GemmType type = enum_at(entry, "type", kTypes);
    source_at(entry, "source");
    KernelTable::Gemm gemm{.rates = grid_at(entry, "rates", axes_at(entry, {"m", "n", "k"}), unit),
                           .fixed = entry.number("fixed_s", 0, 1e-3),
                           .spread = spread_of(entry, true),
                           .sustained = std::nullopt};
    if (entry.has("sustained")) {
      ObjectReader sustained = entry.object("sustained");
      gemm.sustained = FlopPerSec{sustained.number("flops", 1, kMostRate)};
      source_at(sustained, "source");
      sustained.finish();
    }
    entry.finish();
    if (!table.gemms_.try_emplace(type, std::move(gemm)).second)
      entry.fail("type", "stands twice: " + std::string(to_string(type)));
  }

  const auto known = [&](AttentionKernel kernel) {
    return table.attention_.contains(kernel) || table.scaled_.contains(kernel);
  };
  const auto new_kernel = [&](ObjectReader& entry) {
    const AttentionKernel kernel = enum_at(entry, "kernel", kAttention);
    if (known(kernel)) entry.fail("kernel", "stands twice: " + std::string(to_string(kernel)));
    return kernel;
  };
  for (ObjectReader& entry : objects_at(reader, "attention")) {
    const AttentionKernel kernel = new_kernel(entry);
    source_at(entry, "source");
    const auto axes = axes_at(entry, {"head_dim", "seq", "batch_heads"});
    table.attention_[kernel] = {.rates = grid_at(entry, "rates", axes, unit),
                                .spread = spread_of(entry, false)};
    entry.finish();
  }
  for (ObjectReader& entry : objects_at(reader, "attention_scaled")) {
    const AttentionKernel kernel = new_kernel(entry);
    const AttentionKernel of = enum_at(entry, "of", kAttention);
    if (!known(of))
      entry.fail("of", "has no rates before this entry: " + std::string(to_string(of)));
    table.scaled_[kernel] = {.of = of, .ratios = {source_at(entry, "source"), ratios_at(entry)}};
    entry.finish();
  }
  for (ObjectReader& entry : objects_at(reader, "attention_backward")) {
    const AttentionKernel kernel = enum_at(entry, "kernel", kAttention);
    if (!known(kernel))
      entry.fail("kernel", "has no forward rates: " + std::string(to_string(kernel)));
    KernelTable::Ratios ratios{source_at(entry, "source"), ratios_at(entry)};
    if (!table.backward_.try_emplace(kernel, std::move(ratios)).second)
      entry.fail("kernel", "stands twice: " + std::string(to_string(kernel)));
    entry.finish();
  }
  for (const char* key : {"provenance", "clocks"}) reader.string(key);
  reader.finish();
  return table;
}

}  // namespace amsp
