#include "topology/nccl/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/nearest.h"
#include "core/quantity.h"
#include "topology/collective/ring_walks.h"
#include "topology/nccl/trees.h"

namespace amsp {
namespace {

using enum NcclAlgorithm;

constexpr int kMostNames = 16;

/// The paragraphs of one call.
class Explainer {
 public:
  Explainer(const NodeSpec& node, const Placement& placement, const CollectiveCall& call,
            const nccl::Choice& choice)
      : call_(call), choice_(choice), gpus_(call.mesh.shape.intra), nodes_(call.mesh.shape.inter) {
    const std::vector<Rank> group = process_groups(call.mesh, placement.dp()).front();
    for (const Rank rank : group) members_.push_back(placement.address(rank));
    std::vector<int> gpus;
    for (int i = 0; i < gpus_; ++i) gpus.push_back(members_[index(i)].gpu);
    if (nodes_ > 1) walks_ = ring_walks(node, gpus);
  }

  std::vector<std::string> run() {
    switch (choice_.algorithm) {
      case kRing:
        ring();
        break;
      case kTree:
        tree();
        break;
      case kNvls:
        nvls();
        break;
      case kNvlsTree:
        nvls_tree();
        break;
      case kCollNetDirect:
        collnet_direct();
        break;
      case kCollNetChain:
        collnet_chain();
        break;
      case kPat:
        pat();
        break;
    }
    protocol();
    return std::move(text_);
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    text_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  int size() const { return gpus_ * nodes_; }
  int channels() const { return std::max(1, static_cast<int>(walks_.size())); }
  bool is(CollectiveKind kind) const { return call_.kind == kind; }
  std::string bytes(double count) const { return format_bytes(Bytes{std::llround(count)}); }
  double whole() const { return static_cast<double>(call_.bytes.value); }
  std::string name(int member) const {
    const GpuAddress at = members_[index(member)];
    return nodes_ > 1 ? fmt::format("{}.{}", at.node, at.gpu) : fmt::format("{}", at.gpu);
  }
  std::string names(const std::vector<int>& way) const {
    std::vector<std::string> parts;
    for (const int member : way) {
      if (parts.size() == kMostNames) {
        parts.emplace_back("...");
        break;
      }
      parts.push_back(name(member));
    }
    return fmt::format("{}", fmt::join(parts, " -> "));
  }

  /// All members in the order of the first channel's ring.
  std::vector<int> first_ring() const {
    std::vector<int> way;
    if (nodes_ == 1) {
      for (int i = 0; i < gpus_; ++i) way.push_back(i);
    } else {
      for (int node = 0; node < nodes_; ++node)
        for (const int member : walks_.front().order) way.push_back(node * gpus_ + member);
    }
    way.push_back(way.front());
    return way;
  }

  void channel_count() {
    if (nodes_ > 1)
      say("There {} {} such channel{}, one for each NIC that the group uses in a node, with {} of "
          "the "
          "message each. GPUs are named node.gpu.",
          channels() == 1 ? "is" : "are", channels(), channels() == 1 ? "" : "s",
          bytes(whole() / channels()));
  }

  void ring() {
    const double part = whole() / channels();
    say("Ring: {}.", names(first_ring()));
    channel_count();
    const int n = size();
    switch (call_.kind) {
      case CollectiveKind::kAllReduce:
        say("The message is cut into {} parts of {}. In each of the first {} steps every GPU sends "
            "one "
            "part on, and adds what it receives to its own: then every GPU has the sum of one "
            "part.",
            n, bytes(part / n), n - 1);
        say("In {} more steps the sums go around once: every GPU has all. Every hop carries {} = "
            "2 (n-1)/n of it.",
            n - 1, bytes(2 * (n - 1) * part / n));
        break;
      case CollectiveKind::kAllGather:
        say("Every GPU starts with one part of {}. In {} steps every GPU sends on what it got "
            "last. "
            "Every hop carries {} = (n-1)/n.",
            bytes(part / n), n - 1, bytes((n - 1) * part / n));
        break;
      case CollectiveKind::kReduceScatter:
        say("The message is cut into {} parts of {}. In {} steps every GPU sends one part on and "
            "adds "
            "what it receives: then it has the sum of its own part. Every hop carries {} = "
            "(n-1)/n.",
            n, bytes(part / n), n - 1, bytes((n - 1) * part / n));
        break;
      case CollectiveKind::kBroadcast:
        say("The root sends {} in pieces to the next GPU, which passes each on at once: all hops "
            "are "
            "busy with different pieces, except the last, into the root.",
            bytes(part));
        break;
    }
  }

  std::vector<int> chain(int node) const {
    std::vector<int> way;
    const auto& order = walks_.front().order;
    for (auto member = order.rbegin(); member != order.rend(); ++member)
      way.push_back(node * gpus_ + *member);
    return way;
  }

  void edges_of_trees(double part) {
    const nccl::DoubleTree trees = nccl::double_tree(nodes_);
    const auto edges = [&](const std::vector<int>& parents) {
      std::vector<std::string> list;
      for (int node = 0; node < nodes_ && node < kMostNames; ++node)
        if (const int parent = parents[index(node)]; parent >= 0)
          list.push_back(fmt::format("{} -> {}", members_[index(node * gpus_)].node,
                                     members_[index(parent * gpus_)].node));
      if (nodes_ > kMostNames) list.emplace_back("...");
      return join(list);
    };
    say("Over nodes two binary trees carry {} each; inner nodes of one are leaves of the other. "
        "First tree: {}. Second tree: {}.",
        bytes(part / 2), edges(trees.first), edges(trees.second));
    say("Sums go up to each root, and results come back down the same edges: {} hops up and as "
        "many "
        "down, where a ring takes {} over nodes.",
        static_cast<int>(std::floor(std::log2(nodes_))), 2 * (nodes_ - 1));
  }

  void tree() {
    if (nodes_ == 1) {
      std::vector<int> way;
      for (int i = 0; i < gpus_; ++i) way.push_back(i);
      say("Chain: the sum grows along {}, and the result comes back the same way. {} chains start "
          "at "
          "different GPUs, each with {}.",
          names(way), gpus_, bytes(whole() / gpus_));
      return;
    }
    if (gpus_ > 1)
      say("Inside each node the sum grows along a chain, in the first node {}; its end is the "
          "head.",
          names(chain(0)));
    channel_count();
    edges_of_trees(whole() / channels());
    if (gpus_ > 1) say("From the head the result runs back along the chain.");
  }

  void switched_inside() {
    say("Inside a node the NVSwitch does the sums: a head asks it for {} and gets the sum over {} "
        "GPUs, which each send it once; what the head writes goes to all GPUs at once.",
        bytes(whole() / (nodes_ > 1 ? channels() : gpus_)), gpus_);
    if (is(CollectiveKind::kAllReduce))
      say("So a GPU's port carries {} out and in, where a ring carries {}.",
          bytes(whole() * (1 + 1.0 / (nodes_ > 1 ? channels() : gpus_))),
          bytes(whole() * 2 * (gpus_ - 1) / gpus_));
  }

  void switch_tree() {
    say("Over nodes the heads send {} each through their NICs; the switches of the fabric add up "
        "what comes from below, so every link of the tree carries it once up, and the result once "
        "down. {} trees, one per NIC of a node.",
        bytes(whole() / channels()), channels());
  }

  void nvls() {
    switched_inside();
    if (nodes_ > 1) switch_tree();
  }

  void nvls_tree() {
    switched_inside();
    channel_count();
    edges_of_trees(whole() / channels());
  }

  void collnet_direct() {
    say("Inside a node every GPU sends each of {} heads its part of {}, and the head adds them up.",
        channels(), bytes(whole() / channels()));
    switch_tree();
    say("Each head sends its result back to the GPUs of its node.");
  }

  void collnet_chain() {
    say("Inside each node the sum grows along a chain, in the first node {}; its end is the head.",
        names(chain(0)));
    switch_tree();
    say("From the head the result runs back along the chain.");
  }

  void pat() {
    const std::vector<int> pieces = nccl::pat_pieces(size());
    say("Every rank's part of {} goes down a binomial tree that starts at the rank, the farthest "
        "hop "
        "first; parts for the same hop travel together.{}",
        bytes(whole() / size()),
        is(CollectiveKind::kReduceScatter) ? " A reduce-scatter runs these trees backwards." : "");
    for (std::size_t step = pieces.size(); step-- > 0;)
      say("To the rank {} further on: {} part{}, {}.", 1 << step, pieces[step],
          pieces[step] == 1 ? "" : "s", bytes(pieces[step] * whole() / size()));
  }

  void protocol() {
    switch (choice_.protocol) {
      case NcclProtocol::kLl:
        return say(
            "Protocol LL: stores of 8 bytes, 4 of them a flag. The receiver sees data and flag "
            "at once, so hops are short, but half of the rate is flags.");
      case NcclProtocol::kLl128:
        return say(
            "Protocol LL128: stores of 128 bytes with one flag of 8: short hops at 120/128 of "
            "the rate.");
      case NcclProtocol::kSimple:
        return say(
            "Protocol Simple: chunks with a signal after each: the full rate, but long hops.");
    }
  }

  const CollectiveCall& call_;
  nccl::Choice choice_;
  int gpus_, nodes_;
  std::vector<GpuAddress> members_;
  std::vector<RingWalk> walks_;
  std::vector<std::string> text_;
};

}  // namespace

std::vector<std::string> explain_steps(const NodeSpec& node, const Placement& placement,
                                       const CollectiveCall& call, const nccl::Choice& choice) {
  return Explainer(node, placement, call, choice).run();
}

}  // namespace amsp
