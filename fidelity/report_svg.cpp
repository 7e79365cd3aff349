#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/text_lines.h"
#include "fidelity/report.h"

namespace amsp {
namespace {

struct Point {
  std::size_t set;
  double measured, predicted;
  const MeasuredRow* row;
};

/// Of all rows of speed as tokens per GPU and second, or of all of memory.
std::vector<Point> points_of(const std::vector<ComparedSet>& sets, bool memory) {
  std::vector<Point> points;
  for (std::size_t set = 0; set < sets.size(); ++set)
    for (std::size_t i = 0; i < sets[set].rows.size(); ++i) {
      const ComparedRow& row = sets[set].rows[i];
      const MeasuredRow& measured = sets[set].set.rows[i];
      if (!row.compared() || (measured.metric == Metric::kMemory) != memory) continue;
      if (memory)
        points.push_back({set, measured.value, row.predicted, &measured});
      else
        points.push_back({set, row.measured_speed.tgs, row.predicted_speed.tgs, &measured});
    }
  return points;
}

class Picture {
 public:
  Picture(const std::vector<ComparedSet>& sets, std::vector<Point> points, bool memory)
      : sets_(sets), points_(std::move(points)), memory_(memory) {
    double least = std::numeric_limits<double>::max(), most = 0;
    for (const Point& point : points_)
      for (const double value : {point.measured, point.predicted}) {
        least = std::min(least, value);
        most = std::max(most, value);
      }
    low_ = std::log10(least) - 0.08;
    high_ = std::log10(most) + 0.08;
  }

  std::string str() {
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" font-family="sans-serif" font-size="13">)",
        kWidth, kHeight);
    add(R"(<rect width="{}" height="{}" fill="white"/>)", kWidth, kHeight);
    add_grid();
    for (const double factor : {0.9, 1.0, 1.1}) add_line(factor);
    for (const Point& point : points_) add_point(point);
    add_legend();
    text_ += "</svg>\n";
    return std::move(text_);
  }

 private:
  static constexpr double kLeft = 80, kTop = 24, kSide = 560;
  static constexpr double kBottom = kTop + kSide, kRight = kLeft + kSide;
  static constexpr double kWidth = kRight + 240, kHeight = kBottom + 60;

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  double at(double value) const { return (std::log10(value) - low_) / (high_ - low_); }
  double x(double value) const { return kLeft + kSide * at(value); }
  double y(double value) const { return kBottom - kSide * at(value); }

  void add_grid() {
    for (int power = static_cast<int>(std::floor(low_)); power <= high_; ++power)
      for (const double digit : {1.0, 2.0, 5.0}) {
        const double value = digit * std::pow(10, power);
        if (at(value) < 0 || at(value) > 1) continue;
        add(R"(<path d="M{:.1f} {}V{}M{} {:.1f}H{}" stroke="#ddd"/>)", x(value), kTop, kBottom,
            kLeft, y(value), kRight);
        add(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{:g}</text>)", x(value), kBottom + 18,
            value);
        add(R"(<text x="{}" y="{:.1f}" text-anchor="end">{:g}</text>)", kLeft - 8, y(value) + 4,
            value);
      }
    const char* what = memory_ ? "GiB per GPU" : "tokens per GPU and second";
    add(R"(<text x="{}" y="{}" text-anchor="middle">measured {}</text>)", (kLeft + kRight) / 2,
        kBottom + 44, what);
    add(R"_(<text transform="translate(22 {}) rotate(-90)" text-anchor="middle">predicted {}</text>)_",
        (kTop + kBottom) / 2, what);
  }

  /// Predicted = factor x measured, inside the frame.
  void add_line(double factor) {
    const double shift = std::log10(factor);
    const double from = std::pow(10, std::max(low_, low_ - shift));
    const double to = std::pow(10, std::min(high_, high_ - shift));
    add(R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}" stroke="#888"{}/>)", x(from), y(factor * from),
        x(to), y(factor * to), factor == 1 ? "" : R"( stroke-dasharray="4 4")");
  }

  static const char* colour(std::size_t set) {
    static constexpr const char* kColours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd",
                                               "#ff7f0e", "#8c564b", "#17becf", "#e377c2"};
    return kColours[set % std::size(kColours)];
  }

  void add_point(const Point& point) {
    add(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.5" fill="{}" fill-opacity="0.7"><title>{}, {}: measured {:.4g}, predicted {:.4g}, {:+.1f} %</title></circle>)",
        x(point.measured), y(point.predicted), colour(point.set),
        escaped_markup(sets_[point.set].set.name), escaped_markup(point.row->name), point.measured,
        point.predicted, 100 * signed_error(point.predicted, point.measured));
  }

  void add_legend() {
    double line = kTop + 10;
    for (std::size_t set = 0; set < sets_.size(); ++set) {
      const auto count = std::count_if(points_.begin(), points_.end(),
                                       [&](const Point& point) { return point.set == set; });
      if (count == 0) continue;
      add(R"(<circle cx="{}" cy="{}" r="5" fill="{}"/>)", kRight + 20, line - 4, colour(set));
      add(R"(<text x="{}" y="{}">{} ({})</text>)", kRight + 32, line,
          escaped_markup(sets_[set].set.name), count);
      line += 20;
    }
    add(R"(<text x="{}" y="{}" fill="#666">dashed: 10 % off</text>)", kRight + 20, line + 6);
  }

  const std::vector<ComparedSet>& sets_;
  std::vector<Point> points_;
  bool memory_;
  double low_ = 0, high_ = 1;  // powers of 10
  std::string text_;
};

}  // namespace

std::string fidelity_svg(const std::vector<ComparedSet>& sets) {
  std::vector<Point> points = points_of(sets, false);
  const bool memory = points.empty();
  if (memory) points = points_of(sets, true);
  if (points.empty()) throw InfeasibleError("--svg: no row could be compared");
  return Picture(sets, std::move(points), memory).str();
}

}  // namespace amsp
