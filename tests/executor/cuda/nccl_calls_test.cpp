#include "executor/cuda/fabric/nccl_calls.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace amsp::cuda {
namespace {

/// 100 elements of fp32; segments are named by first element and count.
class NcclCalls : public testing::Test {
 protected:
  using Cut = std::array<int, 2>;
  Message message(CollectiveKind kind, const std::vector<std::vector<Cut>>& parts) {
    Message made{kind, DType::kF32, {}};
    for (const auto& part : parts) {
      made.parts.emplace_back();
      for (const Cut& cut : part) made.parts.back().push_back({&memory_[cut[0]], cut[1]});
    }
    return made;
  }
  /// "all_gather 0+10; broadcast 20+3 from 1".
  std::string calls(CollectiveKind kind, const std::vector<std::vector<Cut>>& parts) {
    constexpr const char* kNames[] = {"all_gather", "reduce_scatter", "all_reduce", "broadcast",
                                      "reduce"};
    std::string text;
    for (const NcclCall& call : nccl_calls(message(kind, parts), static_cast<int>(parts.size()))) {
      if (!text.empty()) text += "; ";
      text += std::string(kNames[static_cast<int>(call.kind)]) + " " +
              std::to_string(static_cast<float*>(call.data) - memory_.data()) + "+" +
              std::to_string(call.count);
      if (call.root >= 0) text += " root " + std::to_string(call.root);
    }
    return text;
  }

  std::array<float, 100> memory_;
};

TEST_F(NcclCalls, EvenContiguousPartsAreOneCall) {
  EXPECT_EQ(calls(CollectiveKind::kAllGather, {{{0, 10}}, {{10, 10}}, {{20, 10}}}),
            "all_gather 0+10");
  EXPECT_EQ(calls(CollectiveKind::kReduceScatter, {{{0, 10}}, {{10, 10}}, {{20, 10}}}),
            "reduce_scatter 0+10");
}

TEST_F(NcclCalls, NeighbouringSegmentsOfAPartAreOne) {
  EXPECT_EQ(calls(CollectiveKind::kAllGather, {{{0, 4}, {4, 6}}, {{10, 10}}}), "all_gather 0+10");
}

TEST_F(NcclCalls, TensorsCutEvenlyAreOneCallEach) {
  EXPECT_EQ(calls(CollectiveKind::kAllGather, {{{0, 5}, {50, 7}}, {{5, 5}, {57, 7}}}),
            "all_gather 0+5; all_gather 50+7");
}

TEST_F(NcclCalls, OnlyTheUnevenTensorGoesPartByPart) {
  EXPECT_EQ(calls(CollectiveKind::kReduceScatter, {{{0, 5}, {50, 4}}, {{5, 5}, {54, 3}}}),
            "reduce_scatter 0+5; reduce 50+4 root 0; reduce 54+3 root 1");
  EXPECT_EQ(calls(CollectiveKind::kAllGather, {{{0, 5}, {50, 4}}, {{5, 5}, {54, 0}}}),
            "all_gather 0+5; broadcast 50+4 root 0");
}

TEST_F(NcclCalls, UnevenPartsGoPartByPart) {
  EXPECT_EQ(calls(CollectiveKind::kAllGather, {{{0, 5}}, {}, {{5, 9}, {30, 1}}}),
            "broadcast 0+5 root 0; broadcast 5+9 root 2; broadcast 30+1 root 2");
}

TEST_F(NcclCalls, EvenPartsApartGoPartByPart) {
  EXPECT_EQ(calls(CollectiveKind::kAllGather, {{{0, 5}}, {{6, 5}}}),
            "broadcast 0+5 root 0; broadcast 6+5 root 1");
}

TEST_F(NcclCalls, AllReduceJoinsRunsOverTheBordersOfParts) {
  EXPECT_EQ(calls(CollectiveKind::kAllReduce, {{{0, 5}, {5, 5}}, {{10, 3}, {40, 2}}, {{42, 0}}}),
            "all_reduce 0+13; all_reduce 40+2");
}

TEST_F(NcclCalls, BroadcastHasTheRootOfEachPart) {
  EXPECT_EQ(calls(CollectiveKind::kBroadcast, {{{0, 5}}, {}, {{5, 5}}}),
            "broadcast 0+5 root 0; broadcast 5+5 root 2");
}

TEST_F(NcclCalls, ALoneMemberHasNothingToDo) {
  EXPECT_EQ(calls(CollectiveKind::kAllReduce, {{{0, 5}}}), "");
}

}  // namespace
}  // namespace amsp::cuda
