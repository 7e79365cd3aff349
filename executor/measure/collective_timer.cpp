#include "executor/measure/collective_timer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "executor/measure/even_message.h"

namespace amsp {

namespace {

struct Interval {
  std::int64_t start_ns = 0, end_ns = 0;
};

class Timer {
 public:
  Timer(World& world, Fabric& fabric, Device& device, CollectiveKind kind, const SubMesh& mesh,
        Mesh dp, DType type, bool together)
      : world_(world),
        device_(device),
        kind_(kind),
        type_(type),
        groups_(process_groups(mesh, dp)),
        communicator_(fabric.open(mesh, dp)),
        stream_(device.make_stream("timed collective")),
        start_(device.make_event()),
        end_(device.make_event()) {
    if (!together) groups_.resize(1);
    for (const auto& group : groups_)
      takes_part_ = takes_part_ || std::ranges::find(group, world.rank()) != group.end();
  }

  CollectiveTiming time(Bytes bytes, const TimerRules& rules) {
    const EvenMessage message(device_, *communicator_, kind_, type_, bytes.value);
    run(message, rules.warm_up);
    const double once = run(message, 1).front();
    const int repetitions = static_cast<int>(std::clamp(
        std::ceil(rules.enough.value / std::max(once, 1e-9)),
        static_cast<double>(rules.least_repetitions), static_cast<double>(rules.most_repetitions)));
    std::vector<double> seconds = run(message, repetitions);
    std::sort(seconds.begin(), seconds.end());
    const auto quantile = [&](double p) {
      return Seconds{
          seconds[static_cast<std::size_t>(p * static_cast<double>(seconds.size() - 1))]};
    };
    return {Bytes{message.bytes()}, quantile(0.5), quantile(0.1), quantile(0.9), repetitions};
  }

 private:
  /// Seconds of each repetition, the same on all ranks.
  std::vector<double> run(const EvenMessage& message, int repetitions) {
    std::vector<Interval> mine;
    for (int i = 0; i < repetitions; ++i) {
      world_.exchange("");
      if (!takes_part_) continue;
      stream_->record(*start_);
      message.enqueue(*stream_);
      stream_->record(*end_);
      end_->synchronize();
      mine.push_back({start_->time_ns(), end_->time_ns()});
    }
    const std::vector<std::string> texts = world_.exchange(
        {reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(Interval)});
    std::vector<double> seconds(static_cast<std::size_t>(repetitions), 0);
    for (const auto& group : groups_)
      for (std::size_t i = 0; i < seconds.size(); ++i) {
        std::int64_t start = INT64_MIN, end = INT64_MIN;
        for (const Rank rank : group) {
          Interval one;
          std::memcpy(&one, texts[static_cast<std::size_t>(rank)].data() + i * sizeof one,
                      sizeof one);
          start = std::max(start, one.start_ns);
          end = std::max(end, one.end_ns);
        }
        seconds[i] = std::max(seconds[i], static_cast<double>(end - start) / 1e9);
      }
    return seconds;
  }

  World& world_;
  Device& device_;
  CollectiveKind kind_;
  DType type_;
  std::vector<std::vector<Rank>> groups_;  // that are timed
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Event> start_, end_;
  bool takes_part_ = false;
};

}  // namespace

std::vector<CollectiveTiming> time_collective(World& world, Fabric& fabric, Device& device,
                                              CollectiveKind kind, const SubMesh& mesh, Mesh dp,
                                              DType type, bool together,
                                              const std::vector<Bytes>& sizes,
                                              const TimerRules& rules) {
  Timer timer(world, fabric, device, kind, mesh, dp, type, together);
  std::vector<CollectiveTiming> timings;
  for (const Bytes bytes : sizes) timings.push_back(timer.time(bytes, rules));
  return timings;
}

}  // namespace amsp
