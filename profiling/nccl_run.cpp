#include "profiling/nccl_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "profiling/nccl_line.h"

namespace amsp {
namespace {

using Process = std::pair<std::string, std::int64_t>;  // host, pid

/// Whether the numbers of `ranks` are 0, step, 2 * step, ...
bool are_consecutive(const std::vector<NcclRank>& ranks, int step) {
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i].rank != static_cast<int>(i) * step) return false;
  return true;
}

/// Two ranks on one GPU, in words; empty if there are none.
std::string shared_gpu(const std::vector<NcclRank>& ranks) {
  // Until 2.14 the bus stands without its domain, and virtual machines give each GPU a domain.
  std::map<std::tuple<std::string, std::string, int>, int> users;
  for (const NcclRank& rank : ranks) {
    if (rank.bus.empty()) continue;
    const bool is_whole = rank.bus.find(':') != std::string::npos;
    const auto [user, is_first] =
        users.try_emplace({rank.host, rank.bus, is_whole ? 0 : rank.device}, rank.rank);
    if (!is_first)
      return fmt::format("lists ranks {} and {} on the same GPU [{}] of host '{}'", user->second,
                         rank.rank, rank.bus, rank.host);
  }
  return "";
}

RunMesh by_hosts(const std::vector<NcclRank>& ranks, int ranks_per_line) {
  std::map<std::string, int> of_host;
  for (const NcclRank& rank : ranks) of_host[rank.host] += ranks_per_line;
  const auto [least, most] =
      std::minmax_element(of_host.begin(), of_host.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
  if (least->second != most->second)
    return {{},
            "",
            fmt::format("ran {} ranks on host '{}' and {} on '{}': no mesh", least->second,
                        least->first, most->second, most->first)};
  return {Mesh{least->second, static_cast<int>(of_host.size())}, "", ""};
}

/// Several processes that each list all ranks: nccl-tests built without MPI.
RunMesh of_copies(const std::vector<NcclRank>& ranks) {
  std::map<Process, std::vector<NcclRank>> copies;
  for (const NcclRank& rank : ranks) copies[{rank.host, rank.pid}].push_back(rank);
  std::set<std::string> hosts;
  const std::size_t size = copies.begin()->second.size();
  for (const auto& [process, own] : copies) {
    if (own.size() != size || !are_consecutive(own, 1))
      return {{}, "lists ranks that don't go together", ""};
    hosts.insert(process.first);
  }
  if (hosts.size() < copies.size())
    return {{},
            "",
            fmt::format("are {} tests at the same time on host '{}', which didn't know of each "
                        "other (nccl-tests without MPI=1)",
                        copies.size(), copies.begin()->first.first)};
  return {Mesh{static_cast<int>(size), 1}, "", ""};
}

std::string gbps(double rate) {
  return fmt::format("{:.8g} GB/s", rate / 1e9);
}

/// Whether `printed` can be amount / time for a time that was printed as `time`.
bool is_rate(const Printed& printed, double amount, const Printed& time) {
  constexpr double kSlack = 1e-9;  // of the arithmetic
  const double least = amount / (time.value + time.unit);
  const bool too_much =
      time.value > time.unit &&
      printed.value - printed.unit > amount / (time.value - time.unit) * (1 + kSlack);
  return printed.value + printed.unit >= least * (1 - kSlack) && !too_much;
}

bool has_parts(CollectiveKind kind) {
  return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter;
}

}  // namespace

std::optional<std::string> test_of(const NcclRun& run) {
  std::set<std::string> tests;
  for (const std::string& title : run.titles) {
    const std::string test = test_of_program(title);
    tests.insert(test.empty() ? title : test);
  }
  if (tests.empty())
    if (std::string test = test_of_program(run.command); !test.empty()) tests.insert(test);
  if (tests.size() != 1) return std::nullopt;
  return *tests.begin();
}

std::optional<CollectiveKind> kind_of_test(const std::string& test) {
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                    CollectiveKind::kAllReduce, CollectiveKind::kBroadcast})
    if (test == to_string(kind)) return kind;
  return std::nullopt;
}

RunMesh mesh_of(const NcclRun& run) {
  std::vector<NcclRank> ranks = run.ranks;
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const NcclRank& a, const NcclRank& b) { return a.rank < b.rank; });
  if (ranks.empty()) return {{}, "lists no ranks", ""};
  std::set<int> groups;
  for (const NcclRank& rank : ranks) groups.insert(rank.group);
  if (groups.size() > 1)
    return {{},
            "",
            fmt::format("ran in {} groups at once (NCCL_TESTS_SPLIT); a profile holds groups that "
                        "run alone",
                        groups.size())};
  const int step = run.ranks_per_process;
  if (run.one_line_per_process && step > 1 && are_consecutive(ranks, step))
    return by_hosts(ranks, step);
  if (ranks.size() > 1 && ranks[0].rank == ranks[1].rank) return of_copies(ranks);
  if (!are_consecutive(ranks, 1))
    return {{}, fmt::format("lists {} ranks, not 0 to {}", ranks.size(), ranks.size() - 1), ""};
  if (step > 0 && ranks.size() % static_cast<std::size_t>(step) != 0)
    return {{}, fmt::format("lists {} ranks, of processes with {} each", ranks.size(), step), ""};
  if (std::string shared = shared_gpu(ranks); !shared.empty()) return {{}, std::move(shared), ""};
  return by_hosts(ranks, 1);
}

std::string contradiction(const NcclRow& row, const NcclTimes& times, CollectiveKind kind,
                          int ranks) {
  const char* const op = to_string(kind);
  if (times.wrong.value_or(0) != 0)
    return fmt::format("has wrong results (#wrong {:.6g}), not to be trusted", *times.wrong);
  const std::int64_t parts = has_parts(kind) ? ranks : 1;
  const int width = bytes_of_type(row.type).value_or(0);
  const std::int64_t step = width * parts;  // bytes for each of `count`
  if (step > 0 && row.count > 0 && (row.bytes % step != 0 || row.bytes / step != row.count))
    return fmt::format("{} bytes are not {} x {} of {} bytes{}, as {} on {} ranks has", row.bytes,
                       row.count, row.type, width,
                       parts > 1 ? fmt::format(" x {} ranks", parts) : "", op, ranks);
  if (times.time.value <= 0) return "has no time";
  const auto bytes = static_cast<double>(row.bytes);
  const double rate = bytes / times.time.value;
  const double bus = hop_share(kind, ranks);
  const bool is_old = has_parts(kind) && is_rate(times.algbw, bus * bytes, times.time);
  if (!is_old && !is_rate(times.algbw, bytes, times.time))
    return fmt::format("has an algbw of {}, but {} bytes in {:.9g} us are {}",
                       gbps(times.algbw.value), row.bytes, times.time.value * 1e6, gbps(rate));
  if (!is_rate(times.busbw, bus * bytes, times.time))
    return fmt::format("has a busbw of {}, {:.4g} times {}; {} on {} ranks has {:.4g}",
                       gbps(times.busbw.value), times.busbw.value / rate, gbps(rate), op, ranks,
                       bus);
  return "";
}

}  // namespace amsp
