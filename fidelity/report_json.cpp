#include "core/json/json.h"
#include "fidelity/report.h"

namespace amsp {
namespace {

OrderedJson or_null(const std::optional<double>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson statistics_json(const ErrorStatistics& of, const ComparedSet& set) {
  return {{"median_absolute_error", of.median},
          {"mean_absolute_error", of.mean},
          {"p90_absolute_error", of.p90},
          {"worst_error", of.worst},
          {"worst_row", set.set.rows[of.worst_row].name},
          {"mean_error", of.bias_mean},
          {"median_error", of.bias_median}};
}

OrderedJson summary_json(const MetricSummary& summary, const ComparedSet& set) {
  OrderedJson json;
  json["metric"] = to_string(summary.metric);
  json["rows"] = summary.predicted.rows;
  json["predicted"] = statistics_json(summary.predicted, set);
  if (summary.guess) {
    json["median_mfu"] = *summary.median_mfu;
    json["at_median_mfu"] = statistics_json(*summary.guess, set);
    json["one_after_the_other"] = statistics_json(*summary.serial, set);
  }
  json["rank_correlation"] = or_null(summary.rank_correlation);
  if (summary.guess) json["mfu_rank_correlation"] = or_null(summary.mfu_rank_correlation);
  json["error_by_doubling"] = {{"sequence_length", or_null(summary.by_sequence_length)},
                               {"parameters", or_null(summary.by_parameters)},
                               {"gpus", or_null(summary.by_gpus)}};
  if (summary.guess) json["rows_in_band"] = summary.in_band;
  json["rows_that_do_not_fit"] = summary.misfits;
  return json;
}

OrderedJson row_json(const ComparedRow& row, const MeasuredRow& measured) {
  OrderedJson json;
  json["name"] = measured.name;
  json["overrides"] = measured.overrides;
  json["metric"] = to_string(measured.metric);
  json["measured"] = measured.value;
  if (row.compared()) {
    json["predicted"] = row.predicted;
    json["error"] = signed_error(row.predicted, measured.value);
    if (row.guess) json["in_band"] = row.in_band;
    if (row.guess) json["at_median_mfu"] = *row.guess;
    if (row.serial) json["one_after_the_other"] = *row.serial;
    json["fits"] = row.fits;
    json["sequence_length"] = row.sequence_length;
    json["parameters"] = row.parameters;
    json["gpus"] = row.gpus;
  } else {
    json["skipped"] = row.skipped;
  }
  if (!measured.doubtful.empty()) json["doubtful"] = measured.doubtful;
  if (!measured.note.empty()) json["note"] = measured.note;
  return json;
}

}  // namespace

OrderedJson fidelity_json(const std::vector<ComparedSet>& sets) {
  OrderedJson json;
  json["schema"] = "amsp.fidelity/1";
  json["sets"] = OrderedJson::array();
  for (const ComparedSet& set : sets) {
    OrderedJson one;
    one["name"] = set.set.name;
    one["title"] = set.set.title;
    one["sources"] = set.set.sources;
    one["assumptions"] = set.set.assumptions;
    one["compared"] = set.compared();
    one["skipped"] = set.rows.size() - set.compared();
    one["metrics"] = OrderedJson::array();
    for (const MetricSummary& summary : set.summaries)
      one["metrics"].push_back(summary_json(summary, set));
    one["rows"] = OrderedJson::array();
    for (std::size_t i = 0; i < set.rows.size(); ++i)
      one["rows"].push_back(row_json(set.rows[i], set.set.rows[i]));
    json["sets"].push_back(std::move(one));
  }
  return json;
}

}  // namespace amsp
