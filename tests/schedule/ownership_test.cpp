#include "training/ownership.h"

#include <gtest/gtest.h>

#include <map>

namespace amsp {
namespace {

std::vector<Tensor> sized(const std::vector<std::int64_t>& sizes) {
  std::vector<Tensor> tensors;
  for (const std::int64_t size : sizes) tensors.push_back({"t", size, 0, Module::kNone});
  return tensors;
}

ShardingPlan plan_of(Mesh p, Mesh os) {
  return {p, p, os, os, {}};
}

TEST(Ownership, GreedyTakesTheLargestFirst) {
  // 7 -> owner 0; 5 -> 1; 4 -> 1 (5 < 7); 3 -> 0 (7 < 9): both 10 and 9.
  const Ownership owners =
      assign_owners(sized({3, 5, 7, 4}), plan_of({1, 1}, {2, 1}), OsSharding::kTensor);
  EXPECT_EQ(owners.elements, (std::vector<std::int64_t>{10, 9}));
  EXPECT_EQ(owners.largest, 10);
  EXPECT_DOUBLE_EQ(owners.imbalance, 10 / 9.5);
}

TEST(Ownership, SlicesAreRoundedUp) {
  const Ownership owners = assign_owners(sized({10}), plan_of({4, 1}, {4, 1}), OsSharding::kTensor);
  EXPECT_EQ(owners.elements, (std::vector<std::int64_t>{3}));
}

TEST(Ownership, FlatCutsThroughTensors) {
  const Ownership owners =
      assign_owners(sized({3, 5, 2}), plan_of({1, 1}, {4, 1}), OsSharding::kFlat);
  EXPECT_EQ(owners.elements, (std::vector<std::int64_t>{3, 3, 3, 1}));  // ceil(10 / 4) = 3
  ASSERT_EQ(owners.parts[2].size(), 1U + 1U);  // 2 of tensor 1's last, 1 of tensor 2
}

TEST(Ownership, EveryElementHasExactlyOneOwner) {
  const std::vector<std::int64_t> sizes = {160, 8, 64, 64, 64, 64, 8, 96, 96, 96, 8, 160};
  for (const OsSharding sharding : {OsSharding::kTensor, OsSharding::kFlat})
    for (const int owners_count : {1, 2, 3, 5, 8, 16}) {
      const Ownership owners =
          assign_owners(sized(sizes), plan_of({1, 1}, {owners_count, 1}), sharding);
      std::map<TensorId, std::int64_t> owned;
      for (const auto& parts : owners.parts)
        for (const OwnedPart& part : parts) owned[part.tensor] += part.elements;
      for (std::size_t i = 0; i < sizes.size(); ++i)
        EXPECT_EQ(owned[static_cast<TensorId>(i)], sizes[i]) << owners_count;
    }
}

TEST(Ownership, ManyOwnersOfFewTensorsAreUneven) {
  const auto tensors = model_tensors(model_preset("llama-7b"));
  const Ownership owners = assign_owners(tensors, plan_of({1, 1}, {8, 128}), OsSharding::kTensor);
  EXPECT_EQ(owners.largest, 4096 * 32000);  // the embedding, alone
  EXPECT_NEAR(owners.imbalance, 20, 0.5);
}

}  // namespace
}  // namespace amsp
