#pragma once

#include <vector>

namespace amsp {

/// A rate as a function of x: linear between points, constant before the first and after the last.
class RateCurve {
 public:
  struct Point {
    double x;
    double rate;
  };

  RateCurve() = default;
  /// Points in any order; those of equal x become their mean.
  explicit RateCurve(std::vector<Point> points);

  /// The non-decreasing curve closest to this one in least squares (pool adjacent violators): a
  /// run of points that breaks the order takes its mean.
  RateCurve made_monotone() const;

  bool empty() const { return points_.empty(); }
  /// Requires !empty().
  double at(double x) const;

 private:
  std::vector<Point> points_;  // ascending x, no two alike
};

}  // namespace amsp
