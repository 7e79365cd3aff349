#include "lowering/rate_curve.h"

#include <algorithm>

#include "core/error.h"

namespace amsp {

RateCurve::RateCurve(std::vector<Point> points) {
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.x < b.x; });
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    double sum = 0;
    for (end = begin; end < points.size() && points[end].x == points[begin].x; ++end)
      sum += points[end].rate;
    points_.push_back({points[begin].x, sum / static_cast<double>(end - begin)});
  }
}

RateCurve RateCurve::made_monotone() const {
  struct Run {
    double sum;
    std::size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Run> runs;
  for (const Point& point : points_) {
    runs.push_back({point.rate, 1});
    while (runs.size() > 1 && runs[runs.size() - 2].mean() > runs.back().mean()) {
      const Run last = runs.back();
      runs.pop_back();
      runs.back().sum += last.sum;
      runs.back().count += last.count;
    }
  }
  RateCurve result = *this;
  auto point = result.points_.begin();
  for (const Run& run : runs)
    for (std::size_t i = 0; i < run.count; ++i) (point++)->rate = run.mean();
  return result;
}

double RateCurve::at(double x) const {
  AMSP_CHECK(!empty(), "a curve without points has no rate");
  if (x <= points_.front().x) return points_.front().rate;
  if (x >= points_.back().x) return points_.back().rate;
  const auto above = std::upper_bound(points_.begin(), points_.end(), x,
                                      [](double value, const Point& p) { return value < p.x; });
  const Point& below = *std::prev(above);
  return below.rate + (above->rate - below.rate) * (x - below.x) / (above->x - below.x);
}

}  // namespace amsp
