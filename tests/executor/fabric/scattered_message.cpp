#include "scattered_message.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "executor/host/host_stream.h"

namespace amsp {
namespace {

constexpr std::byte kGap{0xa5};

double read(DType type, const std::byte* from) {
  if (type == DType::kF64) {
    double value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::uint32_t bits = 0;
  if (type == DType::kBf16) {
    std::uint16_t high;
    std::memcpy(&high, from, sizeof high);
    bits = static_cast<std::uint32_t>(high) << 16;
  } else {
    std::memcpy(&bits, from, sizeof bits);
  }
  if (type == DType::kI32) return std::bit_cast<std::int32_t>(bits);
  return std::bit_cast<float>(bits);
}

/// bf16 by truncation: the values of these tests are exact, or any will do.
void write(DType type, std::byte* to, double value) {
  if (type == DType::kF64) {
    std::memcpy(to, &value, sizeof value);
    return;
  }
  const auto bits = type == DType::kI32
                        ? std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(value))
                        : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const auto high = static_cast<std::uint16_t>(bits >> 16);
  if (type == DType::kBf16) {
    std::memcpy(to, &high, sizeof high);
  } else {
    std::memcpy(to, &bits, sizeof bits);
  }
}

double value_of(int member, std::size_t part, std::int64_t i) {
  return static_cast<double>((member * 7 + static_cast<int>(part) * 5 + i * 3) % 13) - 6;
}

double sum_of(int members, std::size_t part, std::int64_t i) {
  double sum = 0;
  for (int m = 0; m < members; ++m) sum += value_of(m, part, i);
  return sum;
}

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
}

}  // namespace

ScatteredMessage::ScatteredMessage(CollectiveKind kind, DType type,
                                   std::vector<std::int64_t> counts, int pieces)
    : counts_(std::move(counts)) {
  const std::int64_t bytes = size_of(type);
  std::vector<std::vector<std::int64_t>> cuts;
  std::int64_t total = 1;
  for (const std::int64_t count : counts_) {
    std::vector<std::int64_t> sizes;
    std::int64_t left = count;
    for (int k = pieces; k > 1; --k) {
      sizes.push_back(k % 3 == 2 ? 0 : left / (k + 1));
      left -= sizes.back();
    }
    sizes.push_back(left);
    total += count + pieces;
    cuts.push_back(sizes);
  }
  memory_.assign(static_cast<std::size_t>(total * bytes), kGap);
  gap_.assign(memory_.size(), true);
  message_ = {kind, type, {}};
  auto next = static_cast<std::size_t>(bytes);
  for (const auto& sizes : cuts) {
    std::vector<Segment> part;
    for (const std::int64_t size : sizes) {
      part.push_back({memory_.data() + next, size});
      for (std::int64_t i = 0; i < size * bytes; ++i) gap_[next++] = false;
      next += static_cast<std::size_t>(bytes);
    }
    message_.parts.push_back(part);
  }
}

std::byte* ScatteredMessage::address(std::size_t part, std::int64_t i) const {
  for (const Segment& segment : message_.parts[part]) {
    if (i < segment.count) {
      return static_cast<std::byte*>(segment.data) + i * size_of(message_.type);
    }
    i -= segment.count;
  }
  return nullptr;
}

void ScatteredMessage::fill(std::size_t part, const std::function<double(std::int64_t)>& value) {
  for (std::int64_t i = 0; i < count(part); ++i) write(message_.type, address(part, i), value(i));
}

double ScatteredMessage::at(std::size_t part, std::int64_t i) const {
  return read(message_.type, address(part, i));
}

std::vector<std::byte> ScatteredMessage::bytes(std::size_t part) const {
  std::vector<std::byte> all;
  for (const Segment& segment : message_.parts[part]) {
    const auto* data = static_cast<const std::byte*>(segment.data);
    all.insert(all.end(), data, data + segment.count * size_of(message_.type));
  }
  return all;
}

bool ScatteredMessage::gaps_are_whole() const {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (gap_[i] && memory_[i] != kGap) return false;
  }
  return true;
}

std::vector<Sizes> all_sizes() {
  using Counts = std::vector<std::int64_t>;
  return {
      {"Even", [](int n) { return Counts(static_cast<std::size_t>(n), 12); }},
      {"OneElement",
       [](int n) {
         Counts counts(static_cast<std::size_t>(n));
         counts.back() = 1;
         return counts;
       }},
      {"None", [](int n) { return Counts(static_cast<std::size_t>(n)); }},
      {"Uneven",
       [](int n) {
         Counts counts;
         for (int i = 0; i < n; ++i) counts.push_back(i * i * 37 % 101);
         return counts;
       }},
      {"AllInOneMember",
       [](int n) {
         Counts counts(static_cast<std::size_t>(n));
         counts[static_cast<std::size_t>(n / 2)] = 40'009;
         return counts;
       }},
      {"LargeUneven",
       [](int n) {
         Counts counts;
         for (int i = 0; i < n; ++i) counts.push_back(i % 3 == 1 ? 0 : 12'003 + i * 3'001);
         return counts;
       }},
  };
}

const std::vector<CollectiveKind>& all_kinds() {
  static const std::vector<CollectiveKind> kinds = {
      CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce,
      CollectiveKind::kBroadcast};
  return kinds;
}

void expect_right_collectives(Communicator& communicator, DType type) {
  const int n = communicator.size();
  const int me = communicator.position();
  HostStream stream("collectives");
  for (const CollectiveKind kind : all_kinds()) {
    if (reduces(kind) && type == DType::kI32) continue;
    for (const Sizes& sizes : all_sizes()) {
      for (const int pieces : {1, 5}) {
        ScatteredMessage scattered(kind, type, sizes.counts(n), pieces);
        for (std::size_t part = 0; part < static_cast<std::size_t>(n); ++part) {
          const bool mine = reduces(kind) || static_cast<int>(part) == me;
          scattered.fill(part, [&](std::int64_t i) { return mine ? value_of(me, part, i) : -77; });
        }
        communicator.enqueue(stream, scattered.message());
        stream.synchronize();

        std::int64_t wrong = 0;
        for (std::size_t part = 0; part < static_cast<std::size_t>(n); ++part) {
          if (kind == CollectiveKind::kReduceScatter && static_cast<int>(part) != me) continue;
          for (std::int64_t i = 0; i < scattered.count(part); ++i) {
            const double right =
                reduces(kind) ? sum_of(n, part, i) : value_of(static_cast<int>(part), part, i);
            wrong += scattered.at(part, i) != right;
          }
        }
        EXPECT_EQ(wrong, 0) << to_string(kind) << " of " << to_string(type) << ", " << sizes.name
                            << " in " << pieces << " pieces, member " << me << " of " << n;
        EXPECT_TRUE(scattered.gaps_are_whole()) << to_string(kind) << ", " << sizes.name;
      }
    }
  }
}

std::vector<std::byte> random_reductions(Communicator& communicator, DType type) {
  const int n = communicator.size();
  const int me = communicator.position();
  HostStream stream("reductions");
  std::mt19937_64 random(static_cast<std::uint64_t>(me));
  std::vector<std::byte> result;
  for (const CollectiveKind kind : {CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce}) {
    for (const Sizes& sizes : all_sizes()) {
      ScatteredMessage scattered(kind, type, sizes.counts(n), 3);
      for (std::size_t part = 0; part < static_cast<std::size_t>(n); ++part) {
        scattered.fill(part, [&](std::int64_t) {
          return static_cast<double>(static_cast<std::int64_t>(random())) * 1e-18;
        });
      }
      communicator.enqueue(stream, scattered.message());
      stream.synchronize();
      for (std::size_t part = 0; part < static_cast<std::size_t>(n); ++part) {
        if (kind == CollectiveKind::kReduceScatter && static_cast<int>(part) != me) continue;
        const auto bytes = scattered.bytes(part);
        result.insert(result.end(), bytes.begin(), bytes.end());
      }
    }
  }
  return result;
}

void expect_independent_communicators(Fabric& fabric) {
  const Mesh dp{2, 2};
  std::vector<std::unique_ptr<HostStream>> streams;
  std::vector<std::unique_ptr<Communicator>> communicators;
  std::vector<std::vector<float>> data;
  const std::vector<SubMesh> meshes = {sub_mesh(dp), sub_mesh({2, 1}), quotient(dp, {2, 1})};
  for (const SubMesh& mesh : meshes) {
    streams.push_back(std::make_unique<HostStream>(to_string(mesh)));
    communicators.push_back(fabric.open(mesh, dp));
    data.emplace_back(50'000, 1.0F);
  }
  constexpr int kTimes = 10;
  for (int i = 0; i < kTimes; ++i) {
    for (std::size_t c = 0; c < meshes.size(); ++c) {
      Message message{CollectiveKind::kAllReduce, DType::kF32, {}};
      message.parts.resize(static_cast<std::size_t>(meshes[c].size()));
      message.parts[0] = {{data[c].data(), static_cast<std::int64_t>(data[c].size())}};
      communicators[c]->enqueue(*streams[c], message);
    }
  }
  for (std::size_t c = 0; c < meshes.size(); ++c) {
    streams[c]->synchronize();
    const auto power = static_cast<float>(std::pow(meshes[c].size(), kTimes));
    EXPECT_EQ(data[c], std::vector<float>(50'000, power));
  }
}

}  // namespace amsp
