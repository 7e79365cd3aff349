#include <gtest/gtest.h>

#include "tests/prediction/predicted.h"

namespace amsp {
namespace {

double communication_s(const Predicted& p, const std::string& name) {
  const auto found = p.prediction.exact.communication.find(name);
  return found == p.prediction.exact.communication.end() ? 0 : found->second.value;
}

/// time = alpha + beta / bandwidth: equal steps of 1/bandwidth give equal steps of time. With
/// rings: NCCL's choice of a protocol depends on the bandwidth.
TEST(Laws, DoublingTheBottleneckHalvesTheBandwidthTerm) {
  const auto reduce = [](const char* nic) {
    return communication_s(
        predict(tiny_scenario({"cluster.nodes=4", "plan=ddp", "cluster.collectives.model=rings",
                               "cluster.node.pcie.bandwidth=500GBps",
                               "cluster.node.pcie.capacity=500GBps",
                               std::string("cluster.node.nics.bandwidth=") + nic,
                               std::string("cluster.node.nics.capacity=") + nic})),
        "grad_reduce");
  };
  const double t50 = reduce("50Gbps");
  const double t100 = reduce("100Gbps");
  const double t200 = reduce("200Gbps");
  EXPECT_GT(t50, t100);
  EXPECT_NEAR((t50 - t100) / (t100 - t200), 2, 1e-6);
}

TEST(Laws, ASlowLinkThatNothingCrossesChangesNothing) {
  const auto step = [](const char* conditions) {
    return step_s(predict(tiny_scenario({"plan=zero3", conditions})));
  };
  EXPECT_DOUBLE_EQ(step(R"(conditions={"slow_links":[{"at":"node0/nic[0-7]","capacity":0.01}]})"),
                   step("conditions={}"));
}

TEST(Laws, HalfTheCapacityOfTheBottleneckIsHalfTheBandwidth) {
  // Large messages over one NIC each: time alone is all bandwidth.
  const auto reduce = [](const char* share) {
    return communication_s(
        predict(tiny_scenario(
            {"cluster.nodes=2", "plan=ddp", "cluster.collectives.model=rings",
             std::string(R"(conditions={"slow_links":[{"at":"node1/nic0 -> leaf0","capacity":)") +
                 share + "}]}"})),
        "grad_reduce");
  };
  const double quarter = reduce("0.25"), eighth = reduce("0.125");
  EXPECT_GT(quarter, reduce("1"));
  EXPECT_NEAR(eighth / quarter, 2, 0.01);
}

TEST(Laws, ASlowGpuTakesItsTimeAndTheOthersWait) {
  const std::vector<std::string> none = {"plan=ddp", "engine.overlap.all_reduce=false"};
  auto slow = none;
  slow.push_back(R"(conditions={"slow_gpus":[{"at":"node0/gpu3","speed":0.5}]})");
  const Predicted usual = predict(tiny_scenario(none)), straggler = predict(tiny_scenario(slow));
  EXPECT_EQ(straggler.prediction.rank, 3);
  EXPECT_NEAR(step_s(straggler) - step_s(usual), usual.prediction.exact.compute.value,
              1e-3 * step_s(usual));
  EXPECT_NEAR(straggler.prediction.exact.total.value, step_s(straggler), 1e-6);
}

TEST(Laws, AnUnusedLinkChangesNothing) {
  // On one node nothing crosses NICs or the fabric.
  const auto step = [](const char* spines) {
    return step_s(
        predict(tiny_scenario({"plan=zero3", std::string("cluster.fabric.spines=") + spines})));
  };
  EXPECT_DOUBLE_EQ(step("2"), step("8"));
}

TEST(Laws, TheSameGroupInsideANodeIsFasterThanOverNodes) {
  // A plan's groups span the fewest nodes, because NVLink is faster than the network.
  const auto gather = [](const char* overrides) {
    return communication_s(predict(tiny_scenario({"cluster.nodes=8", overrides})), "param_gather");
  };
  const double inside = gather(R"(plan={"p":"8x1","g":"8x1","os":"8x1"})");
  const double across = communication_s(
      predict(tiny_scenario(
          {"cluster.nodes=8", R"(plan={"p":"1x8","g":"1x8","os":"1x8","dp":"1x8"})"})),
      "param_gather");
  EXPECT_LT(inside, across);
}

TEST(Laws, MoreOverlapNeverHurtsOnThePapersTestbed) {
  for (const char* model : {"llama-7b", "llama-13b", "llama-30b"}) {
    const double full = step_s(predict(paper_scenario(model, 8, 1)));
    const std::vector<std::string> no_bc = {"engine.preset=amsp", "engine.overlap.broadcast=false"};
    const double without_bc = step_s(predict(paper_scenario(model, 8, 1, no_bc)));
    const double without_ar = step_s(predict(paper_scenario(
        model, 8, 1, no_bc + std::vector<std::string>{"engine.overlap.all_reduce=false"})));
    const double none = step_s(predict(paper_scenario(model, 8, 1, kNoOverlap)));
    EXPECT_LT(full, without_bc) << model;
    EXPECT_LT(without_bc, without_ar) << model;
    EXPECT_LE(without_ar, none) << model;
  }
}

TEST(Laws, ProductsRunAtThePeakOfTheirType) {
  const auto in = [](const char* precision) {
    return predict(tiny_scenario({"model.preset=llama-7b", "training.sequence_length=2048",
                                  std::string("training.precision=") + precision}));
  };
  const Predicted bf16 = in(R"({"parameters":"bf16"})"), fp32 = in(R"({"parameters":"fp32"})"),
                  tf32 = in(R"({"parameters":"fp32","products":"tf32"})");
  // A100: 312, 156 and 19.5 TFLOP/s.
  EXPECT_GT(step_s(tf32), 1.5 * step_s(bf16));
  EXPECT_GT(step_s(fp32), 4.5 * step_s(tf32));
  const auto flop_rate = [](const Predicted& p) {
    return p.prediction.tokens_per_gpu_second * p.prediction.flop_per_token.value;
  };
  EXPECT_DOUBLE_EQ(fp32.prediction.mfu, flop_rate(fp32) / 19.5e12);
  EXPECT_DOUBLE_EQ(tf32.prediction.mfu, flop_rate(tf32) / 156e12);
  EXPECT_EQ(fp32.prediction.kernel_source,
            "kernels in fp32 at its peak and the description's efficiencies (unmeasured: error "
            "unknown)");
}

TEST(Laws, AnOwnPowerLimitIsACeilingOfProducts) {
  const auto compute = [](const char* limit) {
    return predict(tiny_scenario({"model.preset=llama-7b", "training.sequence_length=8192", limit}))
        .prediction.exact.compute.value;
  };
  const double usual = compute("training.micro_batch=1");
  EXPECT_DOUBLE_EQ(compute(R"(cluster.gpu={"sustained":"250TFLOPS"})"), usual);  // A100's own
  EXPECT_LT(compute(R"(cluster.gpu={"sustained":"312TFLOPS"})"), usual);
  const double at125 = compute(R"(cluster.gpu={"sustained":"125TFLOPS"})");
  const double at62 = compute(R"(cluster.gpu={"sustained":"62.5TFLOPS"})");
  // Below the rate of every product their times double and the rest stays.
  EXPECT_GT(at62 - at125, 0.4 * at62);
  EXPECT_GT(at125, 1.4 * usual);
}

TEST(Laws, HalvingTheGpuDoublesComputeAlone) {
  const auto compute = [](const char* peak, const char* hbm) {
    return predict(tiny_scenario({"training.sequence_length=4096", "model.hidden=4096",
                                  "model.heads=32", "model.kv_heads=32", "model.ffn=11008",
                                  "model.head_dim=128",
                                  std::string(R"(cluster.gpu={"name":"x","peak_bf16":")") + peak +
                                      R"(","memory":"80GiB","hbm_bandwidth":")" + hbm +
                                      R"(","hbm_efficiency":0.8,"gemm_efficiency":0.8,)" +
                                      R"("attention_efficiency":0.5,"sms":108})"}))
        .prediction.exact.compute.value;
  };
  // All but the gaps between kernels.
  EXPECT_NEAR(compute("156TFLOPS", "1000GBps") / compute("312TFLOPS", "2000GBps"), 2, 6e-3);
}

}  // namespace
}  // namespace amsp
