#include "planner/search/ranking.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace amsp {

namespace {

std::vector<std::size_t> sorted(const std::vector<Rated>& rated, auto key) {
  std::vector<std::size_t> order(rated.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

}  // namespace

std::vector<std::size_t> rank(const std::vector<Rated>& rated, double tie) {
  std::vector<std::size_t> left =
      sorted(rated, [&](std::size_t i) { return std::tuple(rated[i].time, i); });
  const auto lighter = [&](std::size_t a, std::size_t b) {
    return std::tuple(rated[a].memory, rated[a].time, a) <
           std::tuple(rated[b].memory, rated[b].time, b);
  };
  std::vector<std::size_t> ranking;
  while (!left.empty()) {
    const Seconds limit = (1 + tie) * rated[left.front()].time;
    const auto end = std::find_if(left.begin(), left.end(),
                                  [&](std::size_t i) { return rated[i].time > limit; });
    const auto best = std::min_element(left.begin(), end, lighter);
    ranking.push_back(*best);
    left.erase(best);
  }
  return ranking;
}

std::vector<std::size_t> pareto_front(const std::vector<Rated>& rated) {
  std::vector<std::size_t> front;
  for (const std::size_t i :
       sorted(rated, [&](std::size_t i) { return std::tuple(rated[i].time, rated[i].memory, i); }))
    if (front.empty() || rated[i].memory < rated[front.back()].memory) front.push_back(i);
  return front;
}

}  // namespace amsp
