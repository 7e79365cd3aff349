#include "training/gradient_buckets.h"

#include <gtest/gtest.h>

namespace amsp {
namespace {

struct BucketCase {
  const char* name;
  std::vector<std::int64_t> elements;  // in backward order
  int gradient_bytes;
  int ways;
  std::int64_t limit;
  std::vector<std::int64_t> expected;  // bytes of each bucket
};
std::ostream& operator<<(std::ostream& out, const BucketCase& c) {
  return out << c.name;
}

class GradientBuckets : public testing::TestWithParam<BucketCase> {};

TEST_P(GradientBuckets, MatchHandCount) {
  const BucketCase& c = GetParam();
  std::vector<Tensor> tensors;
  std::vector<TensorId> order;
  for (const std::int64_t elements : c.elements) {
    order.push_back(static_cast<TensorId>(tensors.size()));
    tensors.push_back({"t", elements, 0, Module::kNone});
  }
  std::vector<std::int64_t> bytes;
  for (const Bucket& bucket :
       gradient_buckets(tensors, order, c.gradient_bytes, c.ways, Bytes{c.limit}))
    bytes.push_back(bucket.bytes.value);
  EXPECT_EQ(bytes, c.expected);
}

INSTANTIATE_TEST_SUITE_P(
    , GradientBuckets,
    testing::Values(BucketCase{"ClosesAtLimit", {5, 5, 5}, 2, 1, 20, {20, 10}},
                    BucketCase{"LastMayBePartial", {5}, 2, 1, 100, {10}},
                    BucketCase{"MayExceedLimit", {6, 7, 1}, 2, 1, 20, {26, 2}},
                    BucketCase{"OversizedGoesAlone", {3, 50, 4}, 2, 1, 20, {6, 100, 8}},
                    BucketCase{"ExactlyTheLimitGoesAlone", {3, 10, 4}, 2, 1, 20, {6, 20, 8}},
                    BucketCase{"LocalShardCounts", {10, 10, 10}, 4, 4, 20, {24, 12}},
                    BucketCase{"None", {}, 2, 1, 20, {}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace amsp
