#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>

#include "local_ranks.h"
#include "parity.h"

namespace amsp {
namespace {

/// Nats per byte of a model that knows how often each byte comes in the text, and nothing else.
double unigram_entropy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::array<double, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  double entropy = 0;
  for (const double count : counts)
    if (count > 0) {
      const double share = count / static_cast<double>(text.size());
      entropy -= share * std::log(share);
    }
  return entropy;
}

TEST(Learning, FallsBelowTheEntropyOfSingleBytes) {
  const std::string text = AMSP_SOURCE_DIR "/LICENSE";
  Scenario scenario = tiny_scenario({2, 1}, 4, "zero3", 1);
  ModelSpec& model = scenario.model;
  model.hidden = 64;
  model.heads = model.kv_heads = 4;
  model.head_dim = 16;
  model.ffn = 172;
  model.vocab = 256;
  scenario.training.sequence_length = 64;
  scenario.training.micro_batch = 4;
  ExecutionOptions options;
  options.steps = 200;
  options.hyper.learning_rate = 3e-3;
  LocalRun how;
  how.tokens = text_tokens(text, scenario.training.sequence_length, 1);
  const std::vector<double> losses = run_local_ranks(scenario, options, how).losses;

  const double entropy = unigram_entropy(text);
  EXPECT_NEAR(entropy, 3.1, 0.3);  // English
  EXPECT_NEAR(losses.front(), std::log(256), 0.1);
  const double last = std::accumulate(losses.end() - 10, losses.end(), 0.0) / 10;
  std::printf("loss %.3f, then %.3f; entropy of single bytes %.3f\n", losses.front(), last,
              entropy);
  EXPECT_LT(last, 0.95 * entropy);
}

}  // namespace
}  // namespace amsp
