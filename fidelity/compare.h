#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fidelity/measured_set.h"
#include "fidelity/statistics.h"
#include "prediction/predict.h"

namespace amsp {

/// Predicts a scenario: by simulation, or anything else in tests.
using Predictor = std::function<Prediction(const Scenario&)>;

/// A speed, which is as good as a step time or an MFU: tokens per GPU and second, and the MFU.
struct Speed {
  double tgs = 0, mfu = 0;
};

/// A measured row beside what we make of it.
struct ComparedRow {
  std::string skipped;    // why there is no prediction; empty: there is one, and the rest counts
  bool internal = false;  // and that is a bug
  double predicted = 0;   // in the row's metric, as are the next two
  bool in_band = false;   // of the prediction's ErrorBand; not for memory
  std::optional<double> guess;            // at the median MFU of the set; not for memory
  std::optional<double> serial;           // all tasks one after the other; not for memory
  Speed measured_speed, predicted_speed;  // zero for memory
  bool fits = true;                       // what ran didn't fit, says the memory model
  double sequence_length = 0, parameters = 0, gpus = 0;

  bool compared() const { return skipped.empty(); }
};

/// Predicted over measured, less 1.
inline double signed_error(double predicted, double measured) {
  return predicted / measured - 1;
}

/// The compared rows of a set that measured the same.
struct MetricSummary {
  Metric metric = Metric::kTgs;
  ErrorStatistics predicted;  // worst_row is an index into the set's rows
  std::optional<ErrorStatistics> guess, serial;
  std::optional<double> median_mfu;
  /// Of predicted with measured values, and of their MFUs: by size alone small models are faster
  /// than large ones.
  std::optional<double> rank_correlation, mfu_rank_correlation;
  /// Change of the signed error per doubling, the other two held.
  std::optional<double> by_sequence_length, by_parameters, by_gpus;
  std::size_t in_band = 0;  // rows inside the prediction's 80 % band; none for memory
  std::size_t misfits = 0;  // rows that don't fit into memory, says the memory model
};

struct ComparedSet {
  MeasuredSet set;
  std::vector<ComparedRow> rows;  // of set.rows
  std::vector<MetricSummary> summaries;

  std::size_t compared() const;
};

struct ComparisonOptions {
  std::vector<std::string> overrides;  // on top of every row's
  int workers = 1;                     // processes
  /// Called several times a second with how many of how many predictions are done.
  std::function<void(std::size_t, std::size_t)> progress = [](std::size_t, std::size_t) {};
};

/// Predicts every row, equal scenarios once, and summarises. A row whose scenario can't be read, or
/// can't be predicted, is skipped with the reason.
std::vector<ComparedSet> compare(std::vector<MeasuredSet> sets, const Predictor& predictor,
                                 const ComparisonOptions& options);

}  // namespace amsp
