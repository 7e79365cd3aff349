#include "planner/report/pareto_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/quantity.h"
#include "core/text_lines.h"
#include "core/text_table.h"
#include "planner/report/report.h"
#include "planner/search/ranking.h"

namespace amsp {

namespace {

struct Point {
  const Entry* entry;
  double memory_gib;
  double tgs;
  bool front = false;
};

std::vector<Point> points_of(const SearchResult& result) {
  std::vector<Point> points;
  std::vector<Rated> rated;
  for (const std::size_t i : result.by_step_time) {
    const Entry& entry = result.entries[i];
    points.push_back({&entry, static_cast<double>(entry.memory.value) / (1 << 30),
                      throughput(entry.candidate.training, *entry.step.step_time)});
    rated.push_back({*entry.step.step_time, entry.memory});
  }
  for (const std::size_t i : pareto_front(rated)) points[i].front = true;
  return points;
}

/// Round numbers that cover a range: low, low + step, ... high.
struct Axis {
  double low = 0, high = 1, step = 1;

  Axis(double least, double most) {
    const double span = most > least ? most - least : std::max(1e-9, std::abs(most) * 0.1);
    const double rough = span / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    step = 10 * power;
    for (const double round : {5.0, 2.0, 1.0})
      if (round * power >= rough) step = round * power;
    low = std::floor(least / step) * step;
    high = std::max(low + step, std::ceil(most / step) * step);
  }
  double at(double value) const { return (value - low) / (high - low); }
};

Axis axis_over(const std::vector<Point>& points, double Point::*value) {
  const auto [least, most] =
      std::minmax_element(points.begin(), points.end(),
                          [&](const Point& a, const Point& b) { return a.*value < b.*value; });
  return {*least.*value, *most.*value};
}

std::string plan_text(const Candidate& candidate) {
  return fmt::format("{}, {} x {}{}", meshes_of(candidate.plan), candidate.training.micro_batches,
                     candidate.training.micro_batch,
                     candidate.training.recompute == Recompute::kFull ? ", full recompute" : "");
}

std::string front_table(const std::vector<Point>& points) {
  TextTable table({"Pareto front", "TGS", "memory", "known as"});
  table.align_left(3);
  std::vector<Point> front;
  for (const Point& point : points)
    if (point.front) front.push_back(point);
  std::stable_sort(front.begin(), front.end(),
                   [](const Point& a, const Point& b) { return a.tgs > b.tgs; });
  for (const Point& point : front)
    table.add({plan_text(point.entry->candidate), fmt::format("{:.0f}", point.tgs),
               format_bytes_binary(point.entry->memory),
               fmt::format("{}", fmt::join(point.entry->names, ", "))});
  return table.str();
}

}  // namespace

std::string pareto_text(const PlanningCase&, const SearchResult& result) {
  constexpr int kColumns = 66, kRows = 18;
  const std::vector<Point> points = points_of(result);
  if (points.empty()) return "nothing to plot\n";
  const Axis x = axis_over(points, &Point::memory_gib), y = axis_over(points, &Point::tgs);
  std::vector<std::string> rows(kRows + 1, std::string(kColumns + 1, ' '));
  for (const bool front : {false, true})
    for (const Point& point : points)
      if (point.front == front) {
        const auto column =
            static_cast<std::size_t>(std::lround(kColumns * x.at(point.memory_gib)));
        const auto row = static_cast<std::size_t>(std::lround(kRows * (1 - y.at(point.tgs))));
        rows[row][column] = front ? 'o' : '.';
      }
  std::string text = "tokens per GPU and second, against GiB per GPU; o: Pareto front\n";
  for (int row = 0; row <= kRows; ++row) {
    const bool labelled = row == 0 || row == kRows || row == kRows / 2;
    const double value = y.high - (y.high - y.low) * row / kRows;
    std::string line = fmt::format("{:>8} |{}", labelled ? fmt::format("{:.0f}", value) : "",
                                   rows[static_cast<std::size_t>(row)]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  text += fmt::format("{:>8} +{}\n", "", std::string(kColumns + 1, '-'));
  text += fmt::format("{:>10}{:<33g}{:<29g}{:>5g}\n\n", "", x.low, (x.low + x.high) / 2, x.high);
  return text + front_table(points);
}

namespace {

class Svg {
 public:
  Svg(const PlanningCase& question, const SearchResult& result)
      : question_(question),
        capacity_gib_(static_cast<double>(result.capacity.value) / (1 << 30)),
        points_(points_of(result)),
        x_(axis_over(points_, &Point::memory_gib)),
        y_(axis_over(points_, &Point::tgs)) {}

  std::string str() {
    svg_.line(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" font-family="sans-serif" font-size="13">)",
        kWidth, kHeight);
    svg_.line(R"(<rect width="{}" height="{}" fill="white"/>)", kWidth, kHeight);
    svg_.line(R"(<text x="{}" y="24" font-size="16">{}: memory against throughput</text>)", kLeft,
              escaped_markup(question_.scenario.name));
    add_axes();
    add_front();
    add_dots();
    svg_.line("</svg>");
    return svg_.take();
  }

 private:
  static constexpr double kWidth = 820, kHeight = 520;
  static constexpr double kLeft = 80, kRight = 800, kTop = 40, kBottom = 460;

  double px(double memory) const { return kLeft + (kRight - kLeft) * x_.at(memory); }
  double py(double tgs) const { return kBottom - (kBottom - kTop) * y_.at(tgs); }

  void add_axes() {
    for (double value = x_.low; value <= x_.high + x_.step / 2; value += x_.step) {
      svg_.line(R"(<path d="M{:.1f} {}V{}" stroke="#ddd"/>)", px(value), kTop, kBottom);
      svg_.line(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{:g}</text>)", px(value),
                kBottom + 20, value);
    }
    for (double value = y_.low; value <= y_.high + y_.step / 2; value += y_.step) {
      svg_.line(R"(<path d="M{} {:.1f}H{}" stroke="#ddd"/>)", kLeft, py(value), kRight);
      svg_.line(R"(<text x="{}" y="{:.1f}" text-anchor="end">{:g}</text>)", kLeft - 8,
                py(value) + 4, value);
    }
    svg_.line(R"(<text x="{}" y="{}" text-anchor="middle">GiB per GPU (of {:g})</text>)",
              (kLeft + kRight) / 2, kBottom + 44, capacity_gib_);
    svg_.line(
        R"_(<text transform="translate(22 {}) rotate(-90)" text-anchor="middle">tokens per GPU and second</text>)_",
        (kTop + kBottom) / 2);
  }

  /// Whatever lies right of or below the line is beaten.
  void add_front() {
    std::vector<Point> front;
    for (const Point& point : points_)
      if (point.front) front.push_back(point);
    std::sort(front.begin(), front.end(),
              [](const Point& a, const Point& b) { return a.memory_gib < b.memory_gib; });
    std::string path = fmt::format("M{:.1f} {:.1f}", px(front[0].memory_gib), py(front[0].tgs));
    for (std::size_t i = 1; i < front.size(); ++i)
      path += fmt::format("H{:.1f}V{:.1f}", px(front[i].memory_gib), py(front[i].tgs));
    svg_.line(R"(<path d="{}" fill="none" stroke="#c33" stroke-width="1.5"/>)", path);
  }

  void add_dots() {
    for (const Point& point : points_) {
      const std::string names = fmt::format("{}", fmt::join(point.entry->names, ", "));
      svg_.line(
          R"(<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}"><title>{}{}: {:.0f} tokens per GPU and second, {}</title></circle>)",
          px(point.memory_gib), py(point.tgs), point.front ? 5 : 3.5, point.front ? "#c33" : "#369",
          plan_text(point.entry->candidate),
          names.empty() ? "" : " (" + escaped_markup(names) + ")", point.tgs,
          format_bytes_binary(point.entry->memory));
      if (!names.empty())
        svg_.line(R"(<text x="{:.1f}" y="{:.1f}" font-size="11">{}</text>)",
                  px(point.memory_gib) + 7, py(point.tgs) - 5, escaped_markup(names));
    }
  }

  const PlanningCase& question_;
  double capacity_gib_;
  std::vector<Point> points_;
  Axis x_, y_;
  TextLines svg_;
};

}  // namespace

std::string pareto_svg(const PlanningCase& question, const SearchResult& result) {
  AMSP_CHECK(!result.by_step_time.empty(), "nothing to plot");
  return Svg(question, result).str();
}

}  // namespace amsp
