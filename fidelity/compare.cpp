#include "fidelity/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/process_pool.h"

namespace amsp {
namespace {

/// What workers send back of a prediction.
struct Told {
  double step_time, tgs, mfu, memory_gib, serial, fits, low, high;
};

std::vector<double> tell(const Prediction& prediction) {
  return {prediction.step_time.value,
          prediction.tokens_per_gpu_second,
          prediction.mfu,
          static_cast<double>(prediction.memory.reserved.value) / (1 << 30),
          prediction.exact.total.value,
          prediction.memory.fits() ? 1.0 : 0.0,
          prediction.band.low.value,
          prediction.band.high.value};
}

Told hear(const std::vector<double>& values) {
  AMSP_CHECK(values.size() == 8, "{} values of a prediction", values.size());
  return {values[0], values[1], values[2], values[3], values[4], values[5], values[6], values[7]};
}

/// A scenario to predict, and its rows.
struct Job {
  Scenario scenario;
  std::vector<std::pair<std::size_t, std::size_t>> rows;  // set, row
};

/// Between the metrics of speed of one scenario.
class Conversion {
 public:
  explicit Conversion(const Scenario& scenario)
      : tokens_(static_cast<double>(scenario.training.tokens()) * scenario.training.micro_batches),
        mfu_of_tgs_(
            training_flop_per_token(scenario.model, scenario.training.sequence_length).value /
            matrix_peak(scenario).rate.value) {}

  Speed at_tgs(double tgs) const { return {tgs, tgs * mfu_of_tgs_}; }
  Speed at_mfu(double mfu) const { return {mfu / mfu_of_tgs_, mfu}; }
  Speed speed(Metric metric, double value) const {
    switch (metric) {
      case Metric::kStepTime:
        return at_tgs(tokens_ / value);
      case Metric::kTgs:
        return at_tgs(value);
      case Metric::kMfu:
        return at_mfu(value);
      case Metric::kMemory:
        return {};
    }
    throw InternalError("an unknown metric");
  }
  double value(Metric metric, const Speed& speed) const {
    switch (metric) {
      case Metric::kStepTime:
        return tokens_ / speed.tgs;
      case Metric::kTgs:
        return speed.tgs;
      case Metric::kMfu:
        return speed.mfu;
      case Metric::kMemory:
        break;
    }
    throw InternalError("memory is no speed");
  }

 private:
  double tokens_;      // of a GPU and step
  double mfu_of_tgs_;  // per token and second
};

class Comparison {
 public:
  Comparison(std::vector<MeasuredSet> sets, const ComparisonOptions& options) {
    for (MeasuredSet& set : sets) {
      sets_.push_back({std::move(set), {}, {}});
      ComparedSet& compared = sets_.back();
      compared.rows.resize(compared.set.rows.size());
      for (std::size_t row = 0; row < compared.rows.size(); ++row)
        add_row(sets_.size() - 1, row, options.overrides);
    }
  }

  void predict(const Predictor& predictor, const ComparisonOptions& options) {
    run_jobs(
        jobs_.size(), options.workers,
        [&](std::size_t job) { return tell(predictor(jobs_[job].scenario)); },
        [&](std::size_t job, const JobOutcome& outcome) { take(jobs_[job], outcome); },
        [&](std::size_t done) {
          options.progress(done, jobs_.size());
          return true;
        });
  }

  std::vector<ComparedSet> result() {
    for (std::size_t set = 0; set < sets_.size(); ++set) summarise(set);
    return std::move(sets_);
  }

 private:
  void add_row(std::size_t set, std::size_t row, const std::vector<std::string>& overrides) {
    const MeasuredRow& measured = sets_[set].set.rows[row];
    std::string& skipped = sets_[set].rows[row].skipped;
    const BaseScenario& base = sets_[set].set.bases[measured.base];
    skipped = !measured.skipped.empty() ? measured.skipped : base.fault;
    if (!skipped.empty()) return;
    try {
      Json json = base.json;
      for (const auto* list : {&measured.overrides, &overrides})
        for (const std::string& override : *list) apply_override(json, override);
      // the same JSON in two files may name different files inside
      const auto [at, is_new] = job_of_.emplace(base.file + '\n' + json.dump(), jobs_.size());
      if (is_new) jobs_.push_back({read_scenario(json, base.file), {}});
      jobs_[at->second].rows.emplace_back(set, row);
    } catch (const ConfigError& error) {
      skipped = error.what();
    } catch (const InfeasibleError& error) {
      skipped = error.what();
    }
  }

  void take(const Job& job, const JobOutcome& outcome) {
    for (const auto& [set, row] : job.rows) {
      ComparedRow& compared = sets_[set].rows[row];
      if (outcome.kind == JobOutcome::Kind::kValues) {
        fill(compared, sets_[set].set.rows[row], job.scenario, hear(outcome.values));
      } else {
        compared.skipped = outcome.message;
        compared.internal = outcome.kind == JobOutcome::Kind::kInternal;
      }
    }
  }

  static void fill(ComparedRow& compared, const MeasuredRow& measured, const Scenario& scenario,
                   const Told& told) {
    const Conversion conversion(scenario);
    compared.sequence_length = scenario.training.sequence_length;
    compared.parameters = static_cast<double>(parameter_count(scenario.model));
    compared.gpus = scenario.plan.dp.size();
    compared.fits = told.fits != 0;
    if (measured.metric == Metric::kMemory) {
      compared.predicted = told.memory_gib;
      return;
    }
    compared.predicted_speed = {told.tgs, told.mfu};
    compared.measured_speed = conversion.speed(measured.metric, measured.value);
    compared.predicted = conversion.value(measured.metric, compared.predicted_speed);
    const double step = conversion.value(Metric::kStepTime, compared.measured_speed);
    compared.in_band = told.low <= step && step <= told.high;
    compared.serial =
        conversion.value(measured.metric, conversion.speed(Metric::kStepTime, told.serial));
  }

  void summarise(std::size_t set);
  MetricSummary summary(std::size_t set, Metric metric, const std::vector<std::size_t>& rows);
  void guess(std::size_t set, const std::vector<std::size_t>& rows, double mfu);

  std::vector<ComparedSet> sets_;
  std::vector<Job> jobs_;
  std::map<std::string, std::size_t> job_of_;
};

void Comparison::summarise(std::size_t set) {
  for (const Metric metric : {Metric::kStepTime, Metric::kTgs, Metric::kMfu, Metric::kMemory}) {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < sets_[set].rows.size(); ++row)
      if (sets_[set].set.rows[row].metric == metric && sets_[set].rows[row].compared())
        rows.push_back(row);
    if (!rows.empty()) sets_[set].summaries.push_back(summary(set, metric, rows));
  }
}

/// What the median MFU of the rows makes of each: speeds are proportional to MFUs.
void Comparison::guess(std::size_t set, const std::vector<std::size_t>& rows, double mfu) {
  for (const std::size_t row : rows) {
    const MeasuredRow& measured = sets_[set].set.rows[row];
    ComparedRow& compared = sets_[set].rows[row];
    const double faster = mfu / compared.measured_speed.mfu;
    compared.guess =
        measured.metric == Metric::kStepTime ? measured.value / faster : measured.value * faster;
  }
}

MetricSummary Comparison::summary(std::size_t set, Metric metric,
                                  const std::vector<std::size_t>& rows) {
  MetricSummary result;
  result.metric = metric;
  std::vector<double> measured, predicted, measured_mfu, predicted_mfu;
  std::vector<double> errors, sequences, parameters, gpus;
  std::vector<bool> doubtful;
  for (const std::size_t row : rows) {
    const ComparedRow& compared = sets_[set].rows[row];
    measured.push_back(sets_[set].set.rows[row].value);
    predicted.push_back(compared.predicted);
    measured_mfu.push_back(compared.measured_speed.mfu);
    predicted_mfu.push_back(compared.predicted_speed.mfu);
    errors.push_back(signed_error(predicted.back(), measured.back()));
    doubtful.push_back(!sets_[set].set.rows[row].doubtful.empty());
    sequences.push_back(std::log2(compared.sequence_length));
    parameters.push_back(std::log2(compared.parameters));
    gpus.push_back(std::log2(compared.gpus));
    if (compared.in_band) ++result.in_band;
    if (!compared.fits) ++result.misfits;
  }
  const auto statistics = [&](const std::vector<double>& of) {
    ErrorStatistics found = error_statistics(of, doubtful);
    found.worst_row = rows[found.worst_row];
    return found;
  };
  result.predicted = statistics(errors);
  result.rank_correlation = rank_correlation(predicted, measured);
  constexpr double kDoubling = 1 - 1e-9;
  const auto slopes = least_squares_slopes(errors, {sequences, parameters, gpus}, kDoubling);
  result.by_sequence_length = slopes[0];
  result.by_parameters = slopes[1];
  result.by_gpus = slopes[2];
  if (metric == Metric::kMemory) return result;

  result.mfu_rank_correlation = rank_correlation(predicted_mfu, measured_mfu);
  result.median_mfu = median(measured_mfu);
  guess(set, rows, *result.median_mfu);
  std::vector<double> guess_errors, serial_errors;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ComparedRow& compared = sets_[set].rows[rows[i]];
    guess_errors.push_back(signed_error(*compared.guess, measured[i]));
    serial_errors.push_back(signed_error(*compared.serial, measured[i]));
  }
  result.guess = statistics(guess_errors);
  result.serial = statistics(serial_errors);
  return result;
}

}  // namespace

std::size_t ComparedSet::compared() const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [](const ComparedRow& row) { return row.compared(); }));
}

std::vector<ComparedSet> compare(std::vector<MeasuredSet> sets, const Predictor& predictor,
                                 const ComparisonOptions& options) {
  Comparison comparison(std::move(sets), options);
  comparison.predict(predictor, options);
  return comparison.result();
}

}  // namespace amsp
