#include "executor/run/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>

#include "core/error.h"
#include "core/nearest.h"
#include "core/statistics.h"
#include "executor/interface/host_identity.h"
#include "executor/program/initial_values.h"
#include "executor/program/rank_program.h"

namespace amsp {

namespace {

template <class T>
std::string pack(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::vector<T> unpack(const std::string& text) {
  std::vector<T> values(text.size() / sizeof(T));
  std::memcpy(values.data(), text.data(), values.size() * sizeof(T));
  return values;
}

Nanoseconds now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return {std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec};
}

/// Values of a wide buffer, as doubles.
std::vector<double> download_wide(Device& device, Stream& stream, const void* from,
                                  std::int64_t count, DType wide_type) {
  std::vector<double> values(static_cast<std::size_t>(count));
  if (wide_type == DType::kF64) {
    device.download(stream, values.data(), from, values.size() * 8);
    stream.synchronize();
    return values;
  }
  std::vector<float> narrow(values.size());
  device.download(stream, narrow.data(), from, narrow.size() * 4);
  stream.synchronize();
  std::copy(narrow.begin(), narrow.end(), values.begin());
  return values;
}

void upload_masters(const RankProgram& program) {
  const ProgramContext& context = program.context();
  const std::unique_ptr<Stream> stream = context.device.make_stream("compute");
  std::vector<double> values;
  std::vector<float> narrow;
  for (const OptimizerLauncher::Part& part : program.owned()) {
    values.resize(static_cast<std::size_t>(part.count));
    initial_values(context.tensor(part.tensor), part.tensor, context.hyper.seed,
                   context.hyper.initial_deviation, part.offset, values);
    const bool wide64 = wide(context.type) == DType::kF64;
    narrow.assign(values.begin(), values.end());
    context.device.upload(*stream, program.at()(part.master),
                          wide64 ? static_cast<const void*>(values.data()) : narrow.data(),
                          static_cast<std::size_t>(context.wide_bytes(part.count)));
    stream->synchronize();
  }
}

/// What of the model there are no kernels for.
std::vector<std::string> beyond_llama(const ModelSpec& model) {
  std::vector<std::string> parts;
  if (model.norm == NormKind::kLayer) parts.emplace_back("LayerNorm");
  if (model.qk_norm) parts.emplace_back("norms of q and k");
  switch (model.positions) {
    case Positions::kRotary:
      break;
    case Positions::kLearned:
      parts.emplace_back("learned positions");
      break;
    case Positions::kAlibi:
      parts.emplace_back("ALiBi");
      break;
    case Positions::kNone:
      parts.emplace_back("no positions");
      break;
  }
  if (!model.gated) parts.emplace_back("GELU without a gate");
  return parts;
}

}  // namespace

Seconds Execution::quantile(double p) const {
  return amsp::quantile(step_times, p);
}

void check_executable(const Scenario& scenario, int ranks) {
  if (scenario.plan.dp.size() != ranks)
    throw InfeasibleError(fmt::format(
        "{}: the plan is for {} ranks (dp {}), {} {} started; start it with: mpirun -n {}",
        scenario.file, scenario.plan.dp.size(), to_string(scenario.plan.dp), ranks,
        ranks == 1 ? "was" : "were", scenario.plan.dp.size()));
  if (scenario.training.optimizer.name != "adam")
    throw ConfigError(fmt::format(
        "{}#/training/optimizer: '{}' can't be executed yet, only simulated; allowed: adam",
        scenario.file, scenario.training.optimizer.name));
  if (const std::vector<std::string> strange = beyond_llama(scenario.model); !strange.empty())
    throw ConfigError(fmt::format(
        "{}#/model: {} can't be executed yet, only simulated; allowed: RMSNorm, rotary positions, "
        "a gated feed-forward network",
        scenario.file, join(strange)));
}

void check_vocabulary(const Scenario& scenario, const TokenSource& tokens) {
  if (tokens.vocab() > scenario.model.vocab)
    throw ConfigError(
        fmt::format("{}#/model/vocab: {} has tokens up to {}; the model's vocabulary has {}",
                    scenario.file, tokens.description(), tokens.vocab() - 1, scenario.model.vocab));
}

Executor::Executor(const Scenario& scenario, const TaskGraph& graph, World& world, Fabric& fabric,
                   Device& device, const ExecutionOptions& options)
    : scenario_(scenario), graph_(graph), world_(world), device_(device), options_(options) {
  check_executable(scenario, world.size());
  for (const StreamSpec& stream : graph.streams())
    communicators_.push_back(communicators_.empty() ? nullptr : fabric.open(stream.mesh, graph.dp));
  program_ = std::make_unique<RankProgram>(scenario.model, scenario.training, scenario.plan,
                                           scenario.engine, graph, options_.hyper, world.rank(),
                                           device, scenario.cluster.gpu.memory, communicators_);
  upload_masters(*program_);
  if (options.kernels) device.start_recording_kernels();
}

Execution Executor::run(const TokenSource& tokens,
                        const std::function<void(std::int64_t, double)>& progress) {
  const TrainingSpec& training = scenario_.training;
  check_vocabulary(scenario_, tokens);
  Execution result;
  result.memory = {};
  const std::int64_t ranks = world_.size();
  std::vector<std::int32_t> sequence(static_cast<std::size_t>(training.sequence_length) + 1);
  const auto fill = [&](std::int64_t step, std::span<std::int32_t> slot) {
    const auto batch = static_cast<std::size_t>(training.tokens());
    for (std::int64_t m = 0; m < training.micro_batches; ++m)
      for (std::int64_t j = 0; j < training.micro_batch; ++j) {
        const std::int64_t micro_batch = ((step - 1) * training.micro_batches + m) * ranks;
        tokens.fill((micro_batch + world_.rank()) * training.micro_batch + j, sequence);
        const auto inputs =
            slot.begin() +
            static_cast<std::ptrdiff_t>(static_cast<std::size_t>(m) * 2 * batch +
                                        static_cast<std::size_t>(j) *
                                            static_cast<std::size_t>(training.sequence_length));
        std::copy(sequence.begin(), sequence.end() - 1, inputs);
        std::copy(sequence.begin() + 1, sequence.end(),
                  inputs + static_cast<std::ptrdiff_t>(batch));
      }
  };
  steps_.clear();
  std::vector<double> losses;
  KernelLog log(graph_, options_.warm_up);
  Runtime runtime(*program_);
  world_.exchange("");  // all begin together
  runtime.run(options_.steps, fill, [&](const StepResult& step) {
    double sum = 0;
    for (const double loss : step.losses) sum += loss;
    losses.push_back(sum / training.micro_batches);
    if (step.step > options_.warm_up) steps_.push_back(step);
    if (options_.kernels) log.add(device_.take_kernels());
    if (progress) progress(step.step, losses.back());
  });

  result.losses.assign(losses.size(), 0);
  for (const std::string& text : world_.exchange(pack(losses))) {
    const std::vector<double> of_rank = unpack<double>(text);
    for (std::size_t i = 0; i < losses.size(); ++i)
      result.losses[i] += of_rank[i] / static_cast<double>(ranks);
  }
  measure_clocks(result);
  choose_step(result);
  build_timeline(result);
  if (options_.kernels) {
    log.add(device_.take_kernels());  // of all ranks, where they share a profiler: all are done
    build_kernels(result, log);
  }
  if (options_.keep_parameters) gather_parameters(result);
  return result;
}

/// Step times over all ranks as Timeline::step_time has them, memory, and the median step.
void Executor::choose_step(Execution& result) {
  std::vector<Nanoseconds> mine;
  for (const StepResult& step : steps_) {
    mine.push_back(step.spans[index(graph_.window_begin)].end);
    mine.push_back(step.spans[index(graph_.window_end)].end);
  }
  std::vector<Nanoseconds> latest(mine.size());
  const std::vector<std::string> texts = world_.exchange(pack(mine));
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const auto marks = unpack<Nanoseconds>(texts[rank]);
    for (std::size_t i = 0; i < marks.size(); ++i)
      latest[i] = std::max(latest[i], marks[i] - result.clocks[rank].offset);
  }
  for (std::size_t i = 0; i < latest.size(); i += 2)
    result.step_times.push_back(to_seconds(latest[i + 1] - latest[i]));
  if (!steps_.empty()) {
    const Seconds median = result.quantile(0.5);
    const auto found = std::ranges::find(result.step_times, median);
    result.traced_step = steps_[static_cast<std::size_t>(found - result.step_times.begin())].step;
  }
  std::vector<std::int64_t> peaks(kMemoryUses + 1, 0);
  for (const auto& [use, bytes] : program_->memory().peaks)
    peaks[static_cast<std::size_t>(use)] = bytes.value;
  peaks[kMemoryUses] = program_->memory().total;
  for (const std::string& text : world_.exchange(pack(peaks))) {
    const auto of_rank = unpack<std::int64_t>(text);
    for (int use = 0; use < kMemoryUses; ++use)
      if (of_rank[static_cast<std::size_t>(use)] > 0) {
        Bytes& most = result.memory[static_cast<MemoryUse>(use)];
        most = std::max(most, Bytes{of_rank[static_cast<std::size_t>(use)]});
      }
    result.arena = std::max(result.arena, Bytes{of_rank[kMemoryUses]});
  }
}

void Executor::build_timeline(Execution& result) {
  if (result.traced_step == 0) return;
  const auto step = std::ranges::find(steps_, result.traced_step, &StepResult::step);
  const std::vector<std::string> texts = world_.exchange(pack(step->spans));
  std::vector<std::vector<TaskSpan>> spans;
  Nanoseconds origin = std::numeric_limits<Nanoseconds>::max();
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    spans.push_back(unpack<TaskSpan>(texts[rank]));
    for (TaskSpan& span : spans.back()) {
      span.start -= result.clocks[rank].offset;
      span.end -= result.clocks[rank].offset;
      origin = std::min(origin, span.start);
    }
  }
  origin_ = origin;
  LaneMap lanes(spans.size());
  for (std::size_t rank = 0; rank < lanes.size(); ++rank) lanes[rank] = static_cast<int>(rank);
  const auto shared = std::make_shared<const LaneMap>(lanes);
  timeline_ = std::make_unique<Timeline>(graph_);
  for (int i = 0; i < graph_.size(); ++i) {
    const auto id = static_cast<TaskId>(i);
    timeline_->add_task(shared, static_cast<int>(spans.size()));
    std::vector<Nanoseconds> starts;
    starts.reserve(spans.size());
    for (const auto& of_rank : spans) starts.push_back(of_rank[index(id)].start);
    if (graph_[id].kind == WorkKind::kCollective)
      // A collective starts when its last member is there.
      for (const auto& group : process_groups(graph_.collective(graph_[id]).call.mesh, graph_.dp)) {
        Nanoseconds last = std::numeric_limits<Nanoseconds>::min();
        for (const Rank rank : group)
          last = std::max(last, spans[static_cast<std::size_t>(rank)][index(id)].start);
        for (const Rank rank : group) starts[static_cast<std::size_t>(rank)] = last;
      }
    for (std::size_t rank = 0; rank < spans.size(); ++rank) {
      const Nanoseconds end = spans[rank][index(id)].end;
      timeline_->lane(id, static_cast<int>(rank)) = {
          to_seconds(std::min(starts[rank], end) - origin), to_seconds(end - origin)};
    }
  }
}

/// This rank's runs on the clock of the timeline.
void Executor::build_kernels(Execution& result, const KernelLog& log) {
  result.kernels.emplace();
  const std::vector<std::int64_t> mine = {log.lost(), log.without_task()};
  for (const std::string& text : world_.exchange(pack(mine))) {
    const auto of_rank = unpack<std::int64_t>(text);
    result.kernels->lost += of_rank[0];
    result.kernels->without_task += of_rank[1];
  }
  kernels_.assign(static_cast<std::size_t>(graph_.size()), {});
  if (result.traced_step == 0) return;
  const Nanoseconds offset =
      result.clocks[static_cast<std::size_t>(world_.rank())].offset + origin_;
  std::map<std::string, KernelTotal> totals;
  const auto tasks = log.window(result.traced_step);
  for (std::size_t task = 0; task < tasks.size(); ++task)
    for (const KernelLog::Entry& run : tasks[task]) {
      const Nanoseconds duration = run.end - run.start;
      kernels_[task].push_back({*run.name, run.start - offset, duration});
      if (task < index(graph_.window_begin)) continue;  // of the step before
      KernelTotal& total = totals[*run.name];
      total.name = *run.name;
      ++total.runs;
      total.total += to_seconds(duration);
    }
  for (auto& [name, total] : totals) result.kernels->by_name.push_back(std::move(total));
  std::ranges::stable_sort(result.kernels->by_name, std::ranges::greater{},
                           [](const KernelTotal& total) { return total.total; });
}

void Executor::gather_parameters(Execution& result) {
  const ProgramContext& context = program_->context();
  const std::unique_ptr<Stream> stream = device_.make_stream("results");
  for (TensorId id = 0; id < static_cast<TensorId>(context.tensors.size()); ++id) {
    std::vector<double> mine;  // offset, count, values; once or not at all
    for (const OptimizerLauncher::Part& part : program_->owned()) {
      if (part.tensor != id) continue;
      mine = download_wide(device_, *stream, program_->at()(part.master), part.count,
                           wide(context.type));
      mine.insert(mine.begin(), static_cast<double>(part.offset));
    }
    const std::int64_t elements = context.tensor(id).elements;
    std::vector<double> whole(static_cast<std::size_t>(elements),
                              std::numeric_limits<double>::quiet_NaN());
    for (const std::string& text : world_.exchange(pack(mine))) {
      const std::vector<double> part = unpack<double>(text);
      for (std::size_t i = 1; i < part.size(); ++i) {
        const std::int64_t at =
            static_cast<std::int64_t>(part[0]) + static_cast<std::int64_t>(i) - 1;
        if (at >= elements) continue;
        double& value = whole[static_cast<std::size_t>(at)];
        AMSP_CHECK(std::isnan(value) || value == part[i], "replicas of {} differ at {}: {} and {}",
                   context.tensor(id).name, at, value, part[i]);
        value = part[i];
      }
    }
    result.parameters.push_back(std::move(whole));
  }
}

/// Ranks of one host read one clock. For the others: every rank notes when a barrier lets it go;
/// the offset is the median over barriers, its uncertainty half of their spread.
void Executor::measure_clocks(Execution& result) {
  constexpr int kBarriers = 21;
  const std::vector<std::string> hosts = world_.exchange(clock_domain());
  result.clocks.assign(hosts.size(), {});
  if (std::ranges::all_of(hosts, [&](const std::string& host) { return host == hosts[0]; })) return;
  std::vector<Nanoseconds> times;
  for (int i = 0; i < kBarriers; ++i) {
    world_.exchange("");
    times.push_back(now());
  }
  std::vector<std::vector<Nanoseconds>> by_rank;
  for (const std::string& text : world_.exchange(pack(times)))
    by_rank.push_back(unpack<Nanoseconds>(text));
  for (std::size_t rank = 1; rank < hosts.size(); ++rank) {
    if (hosts[rank] == hosts[0]) continue;
    std::vector<Nanoseconds> offsets;
    for (std::size_t i = 0; i < kBarriers; ++i) offsets.push_back(by_rank[rank][i] - by_rank[0][i]);
    std::sort(offsets.begin(), offsets.end());
    result.clocks[rank] = {offsets[kBarriers / 2], (offsets.back() - offsets.front() + 1_ns) / 2};
  }
}

}  // namespace amsp
