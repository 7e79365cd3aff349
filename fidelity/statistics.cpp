#include "fidelity/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/statistics.h"

namespace amsp {
namespace {

using Column = std::vector<double>;

double mean(const Column& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double dot(const Column& a, const Column& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Column centred(Column values) {
  const double middle = mean(values);
  for (double& value : values) value -= middle;
  return values;
}

Column ranks(const Column& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  Column result(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i)
      result[order[i]] = static_cast<double>(begin + end - 1) / 2;
    begin = end;
  }
  return result;
}

void subtract_projection(Column& from, const Column& direction) {
  const double factor = dot(from, direction) / dot(direction, direction);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= factor * direction[i];
}

/// What of `column` the others don't explain; all are centred.
Column unexplained(Column column, const std::vector<Column>& others) {
  constexpr double kNothing = 1e-9;  // of a column's square
  std::vector<Column> directions;    // orthogonal
  for (const Column& other : others) {
    Column direction = other;
    for (int pass = 0; pass < 2; ++pass)  // twice for the sake of rounding
      for (const Column& known : directions) subtract_projection(direction, known);
    if (dot(direction, direction) > kNothing * dot(other, other))
      directions.push_back(std::move(direction));
  }
  const double whole = dot(column, column);
  for (int pass = 0; pass < 2; ++pass)
    for (const Column& known : directions) subtract_projection(column, known);
  if (dot(column, column) <= kNothing * whole) return {};
  return column;
}

}  // namespace

double median(std::vector<double> values) {
  AMSP_CHECK(!values.empty(), "the median of nothing");
  const std::size_t half = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  AMSP_CHECK(a.size() == b.size(), "{} values against {}", a.size(), b.size());
  if (a.size() < 3) return std::nullopt;
  const Column x = centred(ranks(a)), y = centred(ranks(b));
  const double scale = dot(x, x) * dot(y, y);
  if (scale == 0) return std::nullopt;
  return dot(x, y) / std::sqrt(scale);
}

std::vector<std::optional<double>> least_squares_slopes(const std::vector<double>& y,
                                                        const std::vector<std::vector<double>>& x,
                                                        double span) {
  std::vector<std::optional<double>> slopes(x.size());
  std::vector<Column> columns(x.size());
  std::size_t varying = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    AMSP_CHECK(x[i].size() == y.size(), "{} values against {}", x[i].size(), y.size());
    if (y.empty()) continue;
    const auto [least, most] = std::minmax_element(x[i].begin(), x[i].end());
    if (*most - *least < span) continue;
    columns[i] = centred(x[i]);
    ++varying;
  }
  if (y.size() < varying + 2) return slopes;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (columns[i].empty()) continue;
    std::vector<Column> others;
    for (std::size_t j = 0; j < x.size(); ++j)
      if (j != i && !columns[j].empty()) others.push_back(columns[j]);
    const Column own = unexplained(columns[i], others);
    if (!own.empty()) slopes[i] = dot(own, y) / dot(own, own);
  }
  return slopes;
}

ErrorStatistics error_statistics(const std::vector<double>& errors,
                                 const std::vector<bool>& doubtful) {
  AMSP_CHECK(!errors.empty() && errors.size() == doubtful.size(), "{} errors, {} verdicts",
             errors.size(), doubtful.size());
  std::vector<double> absolute(errors.size());
  std::transform(errors.begin(), errors.end(), absolute.begin(),
                 [](double error) { return std::abs(error); });
  ErrorStatistics result;
  result.rows = errors.size();
  result.median = median(absolute);
  result.mean = mean(absolute);
  result.p90 = quantile(absolute, 0.9);
  result.bias_mean = mean(errors);
  result.bias_median = median(errors);
  const bool all = std::find(doubtful.begin(), doubtful.end(), false) == doubtful.end();
  for (std::size_t i = 0; i < errors.size(); ++i)
    if ((all || !doubtful[i]) && absolute[i] > std::abs(result.worst)) {
      result.worst = errors[i];
      result.worst_row = i;
    }
  return result;
}

}  // namespace amsp
