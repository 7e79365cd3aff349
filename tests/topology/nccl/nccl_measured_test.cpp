#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>

#include "core/error.h"
#include "core/json/json.h"
#include "core/quantity.h"
#include "tests/topology/a800_cluster.h"
#include "tests/topology/nccl/nccl_clusters.h"
#include "topology/collective/collective_ring.h"
#include "topology/nccl/collectives.h"
#include "topology/profile/collective_profile.h"

namespace amsp {
namespace {

using enum NcclAlgorithm;
using Row = std::map<std::string, std::string>;

/// A comma-separated file with a header line; fields may be quoted.
std::vector<Row> read_rows(const std::string& name) {
  std::ifstream file(AMSP_SOURCE_DIR "/data/nccl/" + name);
  const auto fields = [](const std::string& line) {
    std::vector<std::string> result(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"')
        quoted = !quoted;
      else if (c == ',' && !quoted)
        result.emplace_back();
      else
        result.back() += c;
    }
    return result;
  };
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = fields(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> values = fields(line);
    EXPECT_EQ(values.size(), header.size()) << line;
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = values[i];
  }
  EXPECT_GT(rows.size(), 100U) << name;
  return rows;
}

CollectiveKind kind_of(const std::string& op) {
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                    CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast})
    if (op == to_string(kind)) return kind;
  throw InternalError("unknown operation " + op);
}

/// One measurement and the cluster that it was made on, with its settings.
struct Measured {
  std::string family;
  ClusterSpec cluster;
  CollectiveCall call;
  double seconds;
};

void allow(ClusterSpec& cluster, const std::string& op, std::vector<NcclAlgorithm> algorithms) {
  cluster.nccl.algorithms[op] = std::move(algorithms);
}

bool starts_with(const std::string& text, const char* begin) {
  return text.rfind(begin, 0) == 0;
}

/// Row of measured.csv.
Measured public_log(const Row& row) {
  const std::string& log = row.at("log");
  const int nodes = std::stoi(row.at("nodes"));
  const int gpus = std::stoi(row.at("gpus"));
  const auto cluster = [&]() -> std::pair<std::string, ClusterSpec> {
    if (log == "aws_p4de_2n") {
      ClusterSpec spec = a100_cluster(nodes, 4);
      spec.nccl.amd_cpu = false;
      spec.node.nic_bandwidth = {12.5e9};
      spec.node.nic_capacity = {12e9};
      return {"A100, 2 nodes, 4 x 100G EFA", spec};
    }
    if (log == "oci_bmgpub48_2n") return {"A100, 2 nodes, 8 x 200G", a100_cluster(nodes)};
    if (log == "azure_nd_a100_v4" || log == "stas_a100_1n")
      return {"A100, 1 node", a100_cluster(1)};
    if (starts_with(log, "stas_b200")) return {"B200, 1 node", b200_cluster(1)};
    const char* gpu = starts_with(log, "stas_h200") ? "H200" : "H100";
    return {fmt::format("{}, {} node{}", gpu, nodes, nodes > 1 ? "s, 8 x 400G" : ""),
            h100_cluster(nodes)};
  }();
  Measured result{cluster.first, cluster.second, {}, std::stod(row.at("time_us")) * 1e-6};
  const std::string& variant = row.at("variant");
  if (variant.find("NCCL_NVLS_ENABLE=0") != std::string::npos ||
      variant.find("NVLS off") != std::string::npos)
    result.cluster.nccl.nvls = false;
  if (starts_with(variant, "NCCL_ALGO=Ring")) allow(result.cluster, row.at("op"), {kRing});
  if (starts_with(variant, "NCCL_ALGO=NVLSTree")) allow(result.cluster, row.at("op"), {kNvlsTree});
  result.call = {kind_of(row.at("op")),
                 sub_mesh({gpus / nodes, nodes}),
                 Bytes{std::stoll(row.at("bytes"))},
                 {}};
  return result;
}

/// Row of b200_sharp.csv.
Measured b200(const Row& row) {
  const int nodes = std::stoi(row.at("nodes"));
  const std::string &op = row.at("op"), &algorithm = row.at("algorithm");
  Measured result{"", b200_cluster(nodes), {}, 0};
  NcclSpec& nccl = result.cluster.nccl;
  if (row.at("cluster") == "flapping-airplanes") nccl.qps_per_connection = 2;
  nccl.sharp = row.at("sharp") != "n/a";
  const bool active = row.at("sharp") == "active";
  std::string label = algorithm;
  if (algorithm == "ring" || row.at("sharp") == "fallback") allow(result.cluster, op, {kRing});
  if (algorithm == "tree") allow(result.cluster, op, {kTree});
  if (algorithm == "nvlstree") allow(result.cluster, op, {kNvlsTree});
  if (algorithm == "collnetchain") allow(result.cluster, op, {kCollNetChain});
  if (algorithm == "collnetdirect") allow(result.cluster, op, {kCollNetDirect});
  if (algorithm == "collnet" && active && op == "all_reduce")
    allow(result.cluster, op, {kCollNetDirect, kCollNetChain});
  if (algorithm == "collnet" && active && op != "all_reduce")
    allow(result.cluster, op, {kRing, kCollNetDirect});
  if (algorithm == "collnet") label = active ? "SHARP active" : "SHARP fell back";
  if (algorithm == "nvls") label = "default";
  result.family = fmt::format("B200, {} node{}, {}, {}", nodes, nodes > 1 ? "s" : "", op, label);
  result.call = {kind_of(op), sub_mesh({8, nodes}), Bytes{std::stoll(row.at("bytes"))}, {}};
  result.seconds = hop_share(result.call.kind, 8 * nodes) *
                   static_cast<double>(result.call.bytes.value) /
                   (std::stod(row.at("busbw_GBps")) * 1e9);
  return result;
}

/// Model time / measured time.
double ratio(const Measured& row) {
  const ClusterGraph graph(row.cluster);
  const Placement placement(row.cluster, {8, row.cluster.nodes}, 1);
  if (row.call.mesh.shape.intra < 8) {
    const Placement part(row.cluster, {row.call.mesh.shape.intra, 1}, 1);
    return NcclCollectives(graph, part).time(row.call).time.value / row.seconds;
  }
  return NcclCollectives(graph, placement).time(row.call).time.value / row.seconds;
}

struct Errors {
  std::vector<double> ratios;
  double absolute(double quantile) const {
    std::vector<double> errors;
    for (const double r : ratios) errors.push_back(std::abs(r - 1));
    std::sort(errors.begin(), errors.end());
    return errors[static_cast<std::size_t>(quantile * static_cast<double>(errors.size() - 1) + .5)];
  }
  double median_ratio() const {
    std::vector<double> sorted = ratios;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

/// "1 MB to 10 MB".
std::string decade(Bytes bytes) {
  std::int64_t low = 1;
  while (low * 10 <= bytes.value) low *= 10;
  return fmt::format("from {}", format_bytes(Bytes{low}));
}

using Table = std::map<std::pair<std::string, std::int64_t>, Errors>;

void print(const Table& table) {
  for (const auto& [key, errors] : table)
    fmt::print("{:42} {:>12} {:4} rows  ratio {:5.2f}  |error| median {:5.1f} %, p90 {:5.1f} %\n",
               key.first, decade(Bytes{key.second}), errors.ratios.size(), errors.median_ratio(),
               100 * errors.absolute(.5), 100 * errors.absolute(.9));
}

std::int64_t low_of(Bytes bytes) {
  std::int64_t low = 1;
  while (low * 10 <= bytes.value) low *= 10;
  return low;
}

Table errors_of(const char* file, const std::function<Measured(const Row&)>& read) {
  Table table;
  for (const Row& row : read_rows(file)) {
    const Measured measured = read(row);
    table[{measured.family, low_of(measured.call.bytes)}].ratios.push_back(ratio(measured));
  }
  return table;
}

/// Whole nodes of the profile, which was measured on 1 to 64 of them.
Table a800_errors() {
  const std::string path = AMSP_SOURCE_DIR "/data/profiles/a800-4xhdr.json";
  const CollectiveProfile profile = read_collective_profile(read_json_file(path), path);
  Table table;
  for (const CollectiveProfile::Table& rows : profile.tables()) {
    if (rows.nics != 0 && rows.nics != 4) continue;
    ClusterSpec spec = a800_cluster(rows.mesh.inter);
    spec.gpu.architecture = GpuArchitecture::kAmpere;
    if (rows.mesh.intra > 2) spec.node.nvlink_capacity = {160e9};  // the figure is that of pairs
    spec.nccl.amd_cpu = true;
    if (!rows.substituted.empty()) continue;
    const char* nodes = rows.mesh.inter == 1   ? "1 node"
                        : rows.mesh.inter <= 8 ? "2 to 8 nodes"
                                               : "16 to 64 nodes";
    for (const CollectiveProfile::Point& point : rows.points) {
      const Bytes bytes{static_cast<std::int64_t>(point.bytes)};
      const ClusterGraph graph(spec);
      const Placement placement(spec, rows.mesh, 1);
      const CollectiveCall call{rows.kind, sub_mesh(rows.mesh), bytes, {}};
      table[{fmt::format("A800, {}, {}", nodes, to_string(rows.kind)), low_of(bytes)}]
          .ratios.push_back(NcclCollectives(graph, placement).time(call).time.value /
                            point.seconds);
    }
  }
  return table;
}

/// All rows of some families from a size on, together.
Errors together(const Table& table, const std::string& family, std::int64_t least) {
  Errors all;
  for (const auto& [key, errors] : table)
    if (key.first.find(family) != std::string::npos && key.second >= least)
      all.ratios.insert(all.ratios.end(), errors.ratios.begin(), errors.ratios.end());
  return all;
}

/// At most these errors in percent, median and 90th percentile, from a size on.
void expect_errors(const Table& table, const std::string& family, std::int64_t least, double median,
                   double p90) {
  const Errors errors = together(table, family, least);
  ASSERT_FALSE(errors.ratios.empty()) << family;
  EXPECT_LE(100 * errors.absolute(.5), median) << family << " from " << least;
  EXPECT_LE(100 * errors.absolute(.9), p90) << family << " from " << least;
  fmt::print("{:30} from {:>8}: {:3} rows, median {:5.1f} %, p90 {:5.1f} %\n",
             family.empty() ? "all" : family, format_bytes(Bytes{least}), errors.ratios.size(),
             100 * errors.absolute(.5), 100 * errors.absolute(.9));
}

constexpr std::int64_t kMb = 1'000'000;

// The bounds are what docs/collectives.md states, rounded up.

TEST(NcclMeasured, A800Profile) {
  const Table table = a800_errors();
  print(table);
  expect_errors(table, "1 node", 100 * kMb, 6, 28);
  expect_errors(table, "2 to 8 nodes", 100 * kMb, 4, 11);
  expect_errors(table, "16 to 64 nodes", 100 * kMb, 8, 23);
  expect_errors(table, "", 100 * kMb, 6, 21);
  expect_errors(table, "", 10 * kMb, 7, 26);
}

TEST(NcclMeasured, PublicLogs) {
  const Table table = errors_of("measured.csv", public_log);
  print(table);
  expect_errors(table, "A100, 1 node", 100 * kMb, 2, 9);
  expect_errors(table, "A100, 2 nodes, 8", 100 * kMb, 3, 3);
  expect_errors(table, "H100, 1 node", 100 * kMb, 2, 7);
  expect_errors(table, "H100, 2 nodes", 100 * kMb, 1, 5);
  expect_errors(table, "H100, 4 nodes", 100 * kMb, 13, 18);
  expect_errors(table, "H200, 1 node", 100 * kMb, 2, 4);
  expect_errors(table, "B200, 1 node", 100 * kMb, 6, 11);
  expect_errors(table, "", 100 * kMb, 2, 13);
  expect_errors(table, "", 10 * kMb, 4, 16);
}

TEST(NcclMeasured, B200WithAndWithoutSharp) {
  const Table table = errors_of("b200_sharp.csv", b200);
  print(table);
  for (const char* family : {", ring", ", tree", "default", "SHARP active", "SHARP fell back",
                             "collnetchain", "collnetdirect"})
    expect_errors(table, family, 1000 * kMb, 4, 10);
  // two runs on 4 and 8 nodes labelled NVLSTree give a ring's bandwidth, to 0.4 %
  expect_errors(table, "nvlstree", 1000 * kMb, 9, 14);
  expect_errors(table, "", 1000 * kMb, 3, 7);
}

// --- what the measurements teach

double time_of(const ClusterSpec& spec, CollectiveKind kind, Mesh mesh, Bytes bytes) {
  const ClusterGraph graph(spec);
  const Placement placement(spec, mesh, 1);
  return NcclCollectives(graph, placement).time({kind, sub_mesh(mesh), bytes, {}}).time.value;
}

/// H200, 8 GiB: 363, 414, 436, 460, 473 GB/s on 4 to 8 GPUs with NVLS, 363 to 366 without.
TEST(NcclLessons, NvlsEqualsRingUpTo4GpusAndWinsFrom5On) {
  ClusterSpec with = h100_cluster(1), without = with;
  without.nccl.nvls = false;
  for (int gpus = 2; gpus <= 8; ++gpus) {
    const double gain = time_of(without, CollectiveKind::kAllReduce, {gpus, 1}, 8_GiB) /
                        time_of(with, CollectiveKind::kAllReduce, {gpus, 1}, 8_GiB);
    if (gpus <= 4)
      EXPECT_EQ(gain, 1) << gpus;
    else
      EXPECT_GT(gain, 1.1) << gpus;
  }
}

TEST(NcclLessons, SharpHelpsAllReduceOnly) {
  for (ClusterSpec spec : {b200_cluster(4), h100_cluster(8), a100_cluster(4, 4)}) {
    ClusterSpec sharp = spec;
    sharp.nccl.sharp = true;
    // or else SHARP's additional channels help rings as well
    spec.nccl.qps_per_connection = sharp.nccl.qps_per_connection = 2;
    const auto gain = [&](CollectiveKind kind) {
      const Mesh mesh{8, spec.nodes};
      return time_of(spec, kind, mesh, 4_GiB) / time_of(sharp, kind, mesh, 4_GiB);
    };
    EXPECT_GT(gain(CollectiveKind::kAllReduce), 1.05);
    for (const CollectiveKind kind :
         {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast})
      EXPECT_NEAR(gain(kind), 1, .01) << to_string(kind);
  }
}

}  // namespace
}  // namespace amsp
