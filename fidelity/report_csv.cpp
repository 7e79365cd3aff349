#include <fmt/format.h>

#include "core/nearest.h"
#include "fidelity/report.h"

namespace amsp {
namespace {

/// In quotes where it has to be.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos && !text.starts_with('#')) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string number_or(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "";
}

}  // namespace

std::string fidelity_csv(const std::vector<ComparedSet>& sets) {
  std::string text =
      "set,name,metric,measured,predicted,error,in_band,at_median_mfu,one_after_the_other,sequence_"
      "length,"
      "parameters,gpus,fits,overrides,doubtful,skipped,note\n";
  for (const ComparedSet& set : sets)
    for (std::size_t i = 0; i < set.rows.size(); ++i) {
      const ComparedRow& row = set.rows[i];
      const MeasuredRow& measured = set.set.rows[i];
      std::vector<std::string> cells = {cell(set.set.name), cell(measured.name),
                                        to_string(measured.metric), number_or(measured.value)};
      if (row.compared())
        for (const std::string& text_of :
             {number_or(row.predicted), number_or(signed_error(row.predicted, measured.value)),
              std::string(row.in_band ? "yes" : "no"), number_or(row.guess), number_or(row.serial),
              fmt::format("{:.0f}", row.sequence_length), fmt::format("{:.0f}", row.parameters),
              fmt::format("{:.0f}", row.gpus), std::string(row.fits ? "yes" : "no")})
          cells.push_back(text_of);
      else
        cells.resize(cells.size() + 9);
      for (const std::string& text_of :
           {join(measured.overrides, " "), measured.doubtful, row.skipped, measured.note})
        cells.push_back(cell(text_of));
      text += join(cells, ",") + '\n';
    }
  return text;
}

}  // namespace amsp
