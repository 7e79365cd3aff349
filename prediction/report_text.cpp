#include <fmt/format.h>

#include <algorithm>

#include "core/quantity.h"
#include "core/text_lines.h"
#include "core/text_table.h"
#include "prediction/predict.h"
#include "topology/models/collective_models.h"

namespace amsp {

namespace {

double ns(Nanoseconds time) {
  return static_cast<double>(time.value);
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

class TextReport : TextLines {
 public:
  TextReport(const Scenario& scenario, const Prediction& prediction, bool colour)
      : scenario_(scenario), prediction_(prediction), colour_(colour) {}

  std::string str() {
    add_head();
    add_step();
    add_time();
    add_memory();
    add_path_and_links();
    add_run();
    add_unmeasured();
    return take();
  }

 private:
  std::string marked(const std::string& text, bool good) const {
    if (!colour_) return text;
    return fmt::format("\x1b[{}m{}\x1b[0m", good ? "32;1" : "31;1", text);
  }

  void add_head() {
    const ModelSpec& model = scenario_.model;
    const TrainingSpec& training = scenario_.training;
    line("{}", scenario_.name);
    line("  model     {}, {:.3g} B parameters", model.name,
         static_cast<double>(parameter_count(model)) / 1e9);
    line("  cluster   {}: {} nodes x {} {}", scenario_.cluster.name, scenario_.cluster.nodes,
         scenario_.cluster.node.gpus, scenario_.cluster.gpu.name);
    add(wrapped(
        scenario_.cluster.profile.empty()
            ? prediction_.kernel_source + "; collectives as " + collectives_model(scenario_.cluster)
            : prediction_.kernel_source,
        "  times     ", std::string(12, ' ')));
    line("  plan      {} ({}), engine {}", scenario_.plan_name, to_string(scenario_.plan),
         scenario_.engine.name);
    line("  stack     {}{}", training.stack.name,
         scenario_.stack_is_assumed ? " (assumed: what most users of the engine run)" : "");
    if (prediction_.gain_of_compiling)
      line("            torch.compile would save {} of compute",
           format_time(*prediction_.gain_of_compiling));
    line(
        "  batch     {} sequences of {} tokens = {} x {} per GPU (micro-batches x sequences) on {} "
        "GPUs",
        scenario_.global_batch(), training.sequence_length, training.micro_batches,
        training.micro_batch, scenario_.plan.dp.size());
    if (training.recompute != Recompute::kNone) line("            {}", recompute_text(training));
    add_conditions();
    if (scenario_.placement.kind != PlacementKind::kPacked)
      line("  placement {}", to_string(scenario_.placement.kind));
    line("");
  }

  void add_conditions() {
    for (const std::string& text : describe(scenario_.conditions))
      add(wrapped(text, "  today     ", std::string(12, ' ')));
  }

  void add_samples() {
    if (!prediction_.samples) return;
    const StepSamples& samples = *prediction_.samples;
    line("jitter      p50 {}, p95 {}, p99 {}, mean {} over {} steps",
         format_time(samples.quantile(0.5)), format_time(samples.quantile(0.95)),
         format_time(samples.quantile(0.99)), format_time(samples.mean()), samples.times.size());
  }

  void add_step() {
    line("step time   {} ({} to {} with a chance of 80 %)", format_time(prediction_.step_time),
         format_time(prediction_.band.low), format_time(prediction_.band.high));
    if (prediction_.batches_played > 0 &&
        prediction_.batches_played < scenario_.training.micro_batches)
      line("            (micro-batches repeat: {} of {} simulated)", prediction_.batches_played,
           scenario_.training.micro_batches);
    add_samples();
    line("TGS         {:.0f} tokens per GPU and second", prediction_.tokens_per_gpu_second);
    const MatrixPeak peak = matrix_peak(scenario_);
    line("MFU         {:.1f} % = TGS x {:.4g} GFLOP per token / {}{}", 100 * prediction_.mfu,
         prediction_.flop_per_token.value / 1e9, format_flop_rate(peak.rate),
         peak.type == "bf16" ? ""
         : peak.given        ? " of " + peak.type
                             : " of bf16: no peak is known of " + peak.type);
    line("            (3 (2 Phi_linear + 4 S a d L) per token; no recompute credit)");
    line("memory      {} of {} per GPU: {}", format_bytes_binary(prediction_.memory.reserved),
         format_bytes_binary(prediction_.memory.capacity),
         prediction_.memory.fits() ? marked("fits", true) : marked("OUT OF MEMORY", false));
    for (const std::string& advice : prediction_.memory_advice)
      add(wrapped(advice, std::string(12, ' ') + "- ", std::string(14, ' ')));
    line("");
  }

  void add_time() {
    const RankBreakdown& parts = prediction_.breakdown;
    const double window = ns(parts.window);
    TextTable table({fmt::format("time of rank {}", prediction_.rank), "in all", "exposed",
                     "hidden", "waiting", "of step"});
    table.add({"compute", format_time(to_seconds(parts.compute)), "", "", "",
               percent(ns(parts.compute), window)});
    for (const auto& [traffic, total] : parts.total_by_class) {
      const auto at = [&name = traffic](const auto& map) {
        const auto found = map.find(name);
        return found == map.end() ? Nanoseconds{0} : found->second;
      };
      const Nanoseconds exposed = at(parts.exposed_by_class);
      table.add({traffic, format_time(to_seconds(total)), format_time(to_seconds(exposed)),
                 format_time(to_seconds(std::max(0_ns, total - exposed))),
                 format_time(to_seconds(at(parts.waiting_by_class))),
                 percent(ns(exposed), window)});
    }
    table.add(
        {"idle", format_time(to_seconds(parts.idle)), "", "", "", percent(ns(parts.idle), window)});
    add(table.str());
    line("exposed communication over all ranks: {} to {}",
         format_time(to_seconds(prediction_.exposed_min)),
         format_time(to_seconds(prediction_.exposed_max)));
    line("alone, one after the other: {} (compute {}); the paper's T_comm, in averages: {}",
         format_time(prediction_.exact.total), format_time(prediction_.exact.compute),
         format_time(prediction_.paper.total()));
    line("");
  }

  void add_memory() {
    TextTable table({"memory per GPU", "", "how"});
    table.align_left(2);
    for (const MemoryPart& part : prediction_.memory.parts)
      table.add({part.name, format_bytes_binary(part.bytes), part.formula});
    table.add({"allocated", format_bytes_binary(prediction_.memory.allocated),
               "sum of each part's own maximum: an upper bound"});
    table.add({"reserved", format_bytes_binary(prediction_.memory.reserved), ""});
    add(table.str());
    line("optimizer shards: the largest is {:.2f} times the mean",
         prediction_.memory.shard_imbalance);
    line("");
  }

  void add_path_and_links() {
    Nanoseconds whole;
    for (const auto& [kind, time] : prediction_.critical_path) whole += time;
    TextTable path({"critical path", "time", "share"});
    for (const auto& [kind, time] : prediction_.critical_path)
      path.add({kind, format_time(to_seconds(time)), percent(ns(time), ns(whole))});
    add(path.str());
    line("");
    if (prediction_.links.empty()) return;
    TextTable links({"busiest link of each kind", "bytes per step", "busy"});
    for (const LinkUsage& usage : prediction_.links)
      links.add({usage.link, format_bytes(Bytes{static_cast<std::int64_t>(usage.bytes)}),
                 fmt::format("{:.1f} %", 100 * usage.utilisation)});
    add(links.str());
    line("");
  }

  void add_run() {
    if (!prediction_.run) return;
    line("{:.3g} tokens: {:.1f} days, {:.0f} GPU-hours{}", *scenario_.report.token_budget,
         prediction_.run->days, prediction_.run->gpu_hours,
         prediction_.run->price
             ? fmt::format(", {:.0f} {}", *prediction_.run->price, scenario_.report.currency)
             : "");
    line("");
  }

  void add_unmeasured() {
    if (prediction_.unmeasured.empty()) return;
    line("not measured as such:");
    for (const std::string& what : prediction_.unmeasured) add(wrapped(what, "  ", "    "));
  }

  const Scenario& scenario_;
  const Prediction& prediction_;
  bool colour_;
};

}  // namespace

std::string text_report(const Scenario& scenario, const Prediction& prediction, bool colour) {
  return TextReport(scenario, prediction, colour).str();
}

}  // namespace amsp
