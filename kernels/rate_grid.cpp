#include "kernels/rate_grid.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace amsp {
namespace {

struct Place {
  std::size_t low = 0;
  double above = 0;  // weight of low + 1
};

Place place(const std::vector<double>& axis, double size) {
  if (size >= axis.back()) return {axis.size() - 1, 0};
  if (size <= axis.front()) return {0, 0};
  const auto next = std::upper_bound(axis.begin(), axis.end(), size);
  const double low = *(next - 1);
  return {static_cast<std::size_t>(next - axis.begin()) - 1,
          size == low ? 0 : std::log(size / low) / std::log(*next / low)};
}

}  // namespace

RateGrid::RateGrid(std::array<std::vector<double>, 3> axes, const std::vector<double>& rates)
    : axes_(std::move(axes)) {
  AMSP_CHECK(rates.size() == axes_[0].size() * axes_[1].size() * axes_[2].size(),
             "{} rates for a grid of {} x {} x {}", rates.size(), axes_[0].size(), axes_[1].size(),
             axes_[2].size());
  log_rates_.reserve(rates.size());
  for (const double rate : rates) log_rates_.push_back(std::log(rate));
}

RateGrid::Point RateGrid::inside(Point point) const {
  for (std::size_t i = 0; i < point.size(); ++i) point[i] = std::clamp(point[i], least(i), most(i));
  return point;
}

bool RateGrid::has(const Point& point) const {
  for (std::size_t i = 0; i < point.size(); ++i)
    if (!std::binary_search(axes_[i].begin(), axes_[i].end(), point[i])) return false;
  return true;
}

double RateGrid::rate(const Point& point) const {
  std::array<Place, 3> places;
  for (std::size_t i = 0; i < point.size(); ++i) places[i] = place(axes_[i], point[i]);
  double log_rate = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::size_t index = 0;
    for (std::size_t i = 0; i < point.size(); ++i) {
      const bool up = (corner >> i & 1U) != 0;
      weight *= up ? places[i].above : 1 - places[i].above;
      index = index * axes_[i].size() + places[i].low + (up ? 1 : 0);
    }
    if (weight > 0) log_rate += weight * log_rates_[index];
  }
  return std::exp(log_rate);
}

double growth(double time, double time_at_double, double fixed, double highest) {
  if (time_at_double <= time) return 0;
  return std::min(highest, std::log2((time_at_double - fixed) / (time - fixed)));
}

}  // namespace amsp
