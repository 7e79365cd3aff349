#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace amsp {

/// A rate by three sizes: log(rate) is linear in the log of each size between grid points, and
/// constant outside the grid.
class RateGrid {
 public:
  using Point = std::array<double, 3>;

  RateGrid() = default;
  /// Axes ascend; rates are above 0, the last axis runs fastest. As many rates as grid points.
  RateGrid(std::array<std::vector<double>, 3> axes, const std::vector<double>& rates);

  bool empty() const { return log_rates_.empty(); }
  double least(std::size_t axis) const { return axes_[axis].front(); }
  double most(std::size_t axis) const { return axes_[axis].back(); }
  /// Each size moved to the nearest border if it lies outside.
  Point inside(Point point) const;
  bool has(const Point& point) const;
  /// Requires !empty().
  double rate(const Point& point) const;

 private:
  std::array<std::vector<double>, 3> axes_;
  std::vector<double> log_rates_;
};

/// The power with which a time grows with a size, from `time` at a border and `time_at_double` at
/// twice the size: at most `highest`, at least 0. `fixed` is the part of time that doesn't grow.
double growth(double time, double time_at_double, double fixed, double highest);

}  // namespace amsp
