#include "sim/fluid_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <simgrid/s4u.hpp>
#include <utility>

#include "core/error.h"
#include "sim/isolated.h"

namespace amsp {

namespace {

namespace sg4 = simgrid::s4u;

/// Payload units per second at pace 1: times keep 15 digits as whole "bytes".
constexpr double kPace = 1e15;

/// SimGrid's settings must precede its first zone; see docs/architecture.md for each.
void configure() {
  xbt_log_control_set("root.thres:critical");
  for (const char* setting :
       {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0",
        "surf/precision:1e-12", "maxmin/precision:1e-9", "network/optim:Full"})
    sg4::Engine::set_config(setting);
}

class Player {
 public:
  Player(const Workload& workload, const std::function<std::string(int)>& name)
      : workload_(workload), name_(name) {
    const std::size_t count = workload.activities.size();
    times_s_.assign(count, -1);
    end_s_.assign(count, -1);
    waiting_for_.assign(count, 0);
    running_.resize(count);
    index_successors();
    make_platform();
  }

  /// Start times of all activities, then end times.
  std::vector<double> run() {
    sg4::Activity::on_completion_cb([this](sg4::Activity const& activity) {
      // Comm::get_data is not const, though it only reads.
      auto& comm = const_cast<sg4::Comm&>(dynamic_cast<const sg4::Comm&>(activity));
      completed(static_cast<int>(reinterpret_cast<std::intptr_t>(comm.get_data<void>())));
    });
    for (int i = 0; i < static_cast<int>(workload_.activities.size()); ++i)
      if (waiting_for_[static_cast<std::size_t>(i)] == 0) ready_.push_back(i);
    start_ready();
    sg4::Engine::get_instance()->run();
    if (finished_ != workload_.activities.size()) throw InternalError(stuck());
    times_s_.insert(times_s_.end(), end_s_.begin(), end_s_.end());
    return std::move(times_s_);
  }

 private:
  static double now() { return sg4::Engine::get_clock(); }

  void index_successors() {
    const std::size_t count = workload_.activities.size();
    first_successor_.assign(count + 1, 0);
    for (const int pred : workload_.preds) ++first_successor_[static_cast<std::size_t>(pred) + 1];
    for (std::size_t i = 0; i < count; ++i) first_successor_[i + 1] += first_successor_[i];
    successors_.resize(workload_.preds.size());
    std::vector<std::size_t> next(first_successor_.begin(), first_successor_.end() - 1);
    for (std::size_t i = 0; i < count; ++i)
      for (const int pred : workload_.predecessors(static_cast<int>(i))) {
        successors_[next[static_cast<std::size_t>(pred)]++] = static_cast<int>(i);
        ++waiting_for_[i];
      }
  }

  /// Every shape is a route between its own ordered pair of hosts: a private cap that holds pace
  /// at 1, then each resource as often as its weight.
  void make_platform() {
    sg4::NetZone* zone = sg4::create_full_zone("cluster");
    std::vector<sg4::Link*> links(workload_.scales.size(), nullptr);
    for (const Workload::Shape& shape : workload_.shapes)
      for (const Workload::Use& use : shape.uses) {
        sg4::Link*& link = links[static_cast<std::size_t>(use.resource)];
        if (link != nullptr) continue;
        link = zone->create_link(fmt::format("r{}", use.resource),
                                 kPace * workload_.scales[static_cast<std::size_t>(use.resource)]);
        link->seal();
      }
    const auto shapes = workload_.shapes.size() + 1;  // the last uses nothing shared
    const auto side =
        static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(shapes)))) + 1;
    std::vector<sg4::Host*> hosts;
    for (std::size_t i = 0; i < side; ++i)
      hosts.push_back(zone->create_host(fmt::format("h{}", i), 1.0)->seal());
    std::size_t from = 0;
    std::size_t to = 0;
    for (std::size_t i = 0; i < shapes; ++i) {
      if (++to == side) ++from, to = 0;
      if (from == to) ++to;
      if (to == side) ++from, to = 0;
      std::vector<const sg4::Link*> route;
      auto* cap = zone->create_link(fmt::format("c{}", i), kPace);
      cap->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE);
      cap->seal();
      route.push_back(cap);
      if (i + 1 < shapes)
        for (const Workload::Use& use : by_weight(workload_.shapes[i].uses))
          route.insert(route.end(), static_cast<std::size_t>(use.weight),
                       links[static_cast<std::size_t>(use.resource)]);
      zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr,
                      to_routes(route), false);
      ends_.emplace_back(hosts[from], hosts[to]);
    }
    zone->seal();
  }

  /// SimGrid searches a route's links from the front for every repetition: the most repeated first.
  static std::vector<Workload::Use> by_weight(std::vector<Workload::Use> uses) {
    std::stable_sort(uses.begin(), uses.end(),
                     [](const auto& a, const auto& b) { return a.weight > b.weight; });
    return uses;
  }

  static std::vector<sg4::LinkInRoute> to_routes(const std::vector<const sg4::Link*>& links) {
    std::vector<sg4::LinkInRoute> result;
    result.reserve(links.size());
    for (const sg4::Link* link : links) result.emplace_back(link);
    return result;
  }

  void start_ready() {
    while (!ready_.empty()) {
      const int i = ready_.back();
      ready_.pop_back();
      const Workload::Activity& activity = workload_.activities[static_cast<std::size_t>(i)];
      times_s_[static_cast<std::size_t>(i)] = now();
      if (activity.nominal_s <= 0) {
        finish(i);
        continue;
      }
      const auto& [from, to] =
          ends_[activity.shape < 0 ? ends_.size() - 1 : static_cast<std::size_t>(activity.shape)];
      sg4::CommPtr comm = sg4::Comm::sendto_init(from, to);
      comm->set_payload_size(static_cast<std::uint64_t>(std::llround(activity.nominal_s * kPace)));
      // SimGrid keeps a pointer for us; the number of the activity is all we need.
      // NOLINTNEXTLINE(performance-no-int-to-ptr)
      comm->set_data(reinterpret_cast<void*>(static_cast<std::intptr_t>(i)));
      running_[static_cast<std::size_t>(i)] = comm;
      comm->vetoable_start();
    }
  }

  void finish(int i) {
    ++finished_;
    end_s_[static_cast<std::size_t>(i)] = now();
    for (std::size_t s = first_successor_[static_cast<std::size_t>(i)];
         s < first_successor_[static_cast<std::size_t>(i) + 1]; ++s)
      if (--waiting_for_[static_cast<std::size_t>(successors_[s])] == 0)
        ready_.push_back(successors_[s]);
  }

  /// SimGrid still uses the activity until this callback has returned, so it is dropped at the
  /// next one.
  void completed(int i) {
    if (last_completed_ >= 0) running_[static_cast<std::size_t>(last_completed_)].reset();
    last_completed_ = i;
    finish(i);
    start_ready();
  }

  std::string stuck() const {
    constexpr int kListed = 10;
    std::string text =
        fmt::format("the simulation is stuck: {} of {} activities never ran; who waits for what:",
                    workload_.activities.size() - finished_, workload_.activities.size());
    int listed = 0;
    for (int i = 0; i < static_cast<int>(workload_.activities.size()); ++i) {
      if (end_s_[static_cast<std::size_t>(i)] >= 0) continue;
      if (++listed > kListed) break;
      std::string blockers;
      for (const int pred : workload_.predecessors(i))
        if (end_s_[static_cast<std::size_t>(pred)] < 0)
          blockers += (blockers.empty() ? "" : ", ") + name_(pred);
      text += fmt::format("\n  {} waits for {}", name_(i), blockers.empty() ? "nothing" : blockers);
    }
    return text;
  }

  const Workload& workload_;
  const std::function<std::string(int)>& name_;
  std::vector<double> times_s_;   // by activity: start
  std::vector<double> end_s_;     // by activity; -1: not ended
  std::vector<int> waiting_for_;  // by activity: predecessors that haven't ended
  std::vector<std::size_t> first_successor_;
  std::vector<int> successors_;
  std::vector<std::pair<sg4::Host*, sg4::Host*>> ends_;  // by shape
  std::vector<sg4::CommPtr> running_;                    // by activity
  std::vector<int> ready_;
  std::size_t finished_ = 0;
  int last_completed_ = -1;
};

}  // namespace

ActivityTimes play(const Workload& workload, const std::function<std::string(int)>& name) {
  std::vector<double> times = run_isolated([&] {
    int argc = 1;
    char program[] = "amsp";
    char* argv[] = {program, nullptr};
    sg4::Engine engine(&argc, argv);
    configure();
    return Player(workload, name).run();
  });
  const auto half = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  ActivityTimes result;
  result.end_s.assign(half, times.end());
  times.erase(half, times.end());
  result.start_s = std::move(times);
  return result;
}

}  // namespace amsp
