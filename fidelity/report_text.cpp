#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/nearest.h"
#include "core/text_lines.h"
#include "core/text_table.h"
#include "core/utf8.h"
#include "fidelity/report.h"

namespace amsp {
namespace {

constexpr std::size_t kNameColumns = 56;

const char* in_words(Metric metric) {
  switch (metric) {
    case Metric::kStepTime:
      return "step time, seconds";
    case Metric::kTgs:
      return "tokens per GPU and second";
    case Metric::kMfu:
      return "MFU, %";
    case Metric::kMemory:
      return "memory of a GPU, GiB";
  }
  return "";
}

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", 100 * fraction);
}
std::string signed_percent(double fraction) {
  return fmt::format("{:+.1f} %", 100 * fraction);
}
std::string percent_or(const std::optional<double>& fraction) {
  return fraction ? signed_percent(*fraction) : "-";
}
std::string correlation(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "-";
}

/// Four digits, or as many as stand before the point.
std::string number(Metric metric, double value) {
  if (metric == Metric::kMfu) value *= 100;
  const int digits = static_cast<int>(std::floor(std::log10(value))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(4 - digits, 0, 6));
}

std::string worst_of(const ErrorStatistics& of, const ComparedSet& set) {
  return fmt::format("{} ({})", signed_percent(of.worst),
                     shorten(set.set.rows[of.worst_row].name, 24));
}

class SetText {
 public:
  SetText(const ComparedSet& set, bool rows) : set_(set), rows_(rows) {}

  std::string str() {
    text_.line("{}", set_.set.name);
    text_.add(wrapped(set_.set.title, "  ", "  "));
    for (const std::string& source : set_.set.sources)
      text_.add(wrapped(source, "  source   ", "           "));
    for (const std::string& assumption : set_.set.assumptions)
      text_.add(wrapped(assumption, "  assumed  ", "           "));
    for (const MetricSummary& summary : set_.summaries) add_metric(summary);
    add_skipped();
    return text_.take();
  }

 private:
  void add_metric(const MetricSummary& summary) {
    if (rows_) add_rows(summary.metric);
    add_statistics(summary);
    const auto line = [&](const std::string& text) { text_.add(wrapped(text, "", "  ")); };
    const std::string of_mfu = summary.metric == Metric::kMemory || summary.metric == Metric::kMfu
                                   ? ""
                                   : "; of their MFUs " + correlation(summary.mfu_rank_correlation);
    line(fmt::format("rank correlation of predicted with measured {}{}",
                     correlation(summary.rank_correlation), of_mfu));
    line(fmt::format("error by doubling of  sequence length {}, parameters {}, GPUs {}",
                     percent_or(summary.by_sequence_length), percent_or(summary.by_parameters),
                     percent_or(summary.by_gpus)));
    if (summary.guess)
      line(fmt::format("{} of {} rows lie inside the prediction's 80 % band", summary.in_band,
                       summary.predicted.rows));
    if (summary.misfits > 0)
      line(fmt::format("{} of these runs don't fit into memory, says the memory model",
                       summary.misfits));
  }

  void add_rows(Metric metric) {
    std::vector<std::vector<std::string>> lines;
    std::vector<std::string> notes;
    bool marked = false;
    for (std::size_t i = 0; i < set_.rows.size(); ++i) {
      const ComparedRow& row = set_.rows[i];
      const MeasuredRow& measured = set_.set.rows[i];
      if (!row.compared() || measured.metric != metric) continue;
      std::string marks;
      if (!measured.doubtful.empty()) {
        marks = "doubtful ";
        notes.push_back(fmt::format("doubtful: {}: {}", measured.name, measured.doubtful));
      }
      if (!row.fits) marks += "doesn't fit";
      marked = marked || !marks.empty();
      lines.push_back({shorten(measured.name, kNameColumns), number(metric, row.predicted),
                       number(metric, measured.value),
                       signed_percent(signed_error(row.predicted, measured.value)), marks});
    }
    TextTable table({in_words(metric), "predicted", "measured", "error", marked ? "remark" : ""});
    table.align_left(4);
    for (std::vector<std::string>& line : lines) table.add(std::move(line));
    text_.line("");
    text_.add(table.str());
    for (const std::string& note : notes) text_.add(wrapped(note, "", "  "));
  }

  void add_statistics(const MetricSummary& summary) {
    TextTable table({fmt::format("{} rows: {}", summary.predicted.rows, in_words(summary.metric)),
                     "median", "mean", "p90", "bias", "median bias", "worst"});
    table.align_left(6);
    const auto add = [&](const std::string& name, const std::optional<ErrorStatistics>& of) {
      if (of)
        table.add({name, percent(of->median), percent(of->mean), percent(of->p90),
                   signed_percent(of->bias_mean), signed_percent(of->bias_median),
                   signed_percent(of->worst)});
    };
    add("predicted", summary.predicted);
    if (summary.median_mfu)
      add(fmt::format("guessed: all at MFU {}", percent(*summary.median_mfu)), summary.guess);
    add("all tasks one after the other", summary.serial);
    text_.line("");
    text_.add(table.str());
    text_.add(wrapped("worst: " + worst_of(summary.predicted, set_), "", "  "));
  }

  void add_skipped() {
    std::map<std::string, std::vector<std::string>> by_reason;
    std::vector<std::string> reasons;  // in order of the rows
    for (std::size_t i = 0; i < set_.rows.size(); ++i) {
      if (set_.rows[i].compared()) continue;
      std::vector<std::string>& names = by_reason[set_.rows[i].skipped];
      if (names.empty()) reasons.push_back(set_.rows[i].skipped);
      names.push_back(set_.set.rows[i].name);
    }
    for (const std::string& reason : reasons) {
      const std::vector<std::string>& names = by_reason.at(reason);
      text_.line("");
      text_.add(wrapped(
          fmt::format("skipped: {} row{}: {}", names.size(), names.size() == 1 ? "" : "s", reason),
          "", "  "));
      text_.add(wrapped(names_of(names), "  rows: ", "  "));
    }
  }

  static std::string names_of(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 12;
    if (names.size() <= kMost) return join(names);
    return join({names.begin(), names.begin() + kMost}) +
           fmt::format(", and {} more", names.size() - kMost);
  }

  const ComparedSet& set_;
  bool rows_;
  TextLines text_;
};

/// All sets, a line for each metric of each.
std::string overview(const std::vector<ComparedSet>& sets) {
  TextTable table({"median of absolute errors", "rows", "skipped", "predicted", "median bias",
                   "at one MFU", "one by one", "in band"});
  for (const ComparedSet& set : sets) {
    const std::size_t skipped = set.rows.size() - set.compared();
    if (set.summaries.empty())
      table.add({shorten(set.set.name, 40), "0", fmt::format("{}", skipped)});
    for (const MetricSummary& summary : set.summaries)
      table.add(
          {shorten(set.set.name, 40) +
               (set.summaries.size() > 1 ? fmt::format(" {}", to_string(summary.metric)) : ""),
           fmt::format("{}", summary.predicted.rows),
           skipped > 0 && &summary == &set.summaries.front() ? fmt::format("{}", skipped) : "",
           percent(summary.predicted.median), signed_percent(summary.predicted.bias_median),
           summary.guess ? percent(summary.guess->median) : "-",
           summary.serial ? percent(summary.serial->median) : "-",
           summary.serial ? fmt::format("{}", summary.in_band) : "-"});
  }
  return table.str();
}

}  // namespace

std::string fidelity_text(const std::vector<ComparedSet>& sets, bool rows) {
  std::string text;
  for (const ComparedSet& set : sets) text += SetText(set, rows).str() + "\n";
  return text + overview(sets);
}

}  // namespace amsp
