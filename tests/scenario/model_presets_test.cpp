#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "core/error.h"
#include "training/model.h"

namespace amsp {
namespace {

struct PresetCase {
  const char* name;
  std::int64_t parameters;
};
void PrintTo(const PresetCase& test, std::ostream* out) {
  *out << test.name;
}
class ModelPreset : public testing::TestWithParam<PresetCase> {};

// The published counts, to the last parameter. With q = a d, k = a_kv d:
//   L (2 h q + 2 h k + 3 h f + 2 h [+ q + 2 k biases, 2 d norms of q and k]) + h + V h [+ V h
//   without tying]
// and of GPT-2 and MPT, f = 4 h, all biases, S positions: L (12 h^2 + 13 h) + 2 h + V h + S h.
TEST_P(ModelPreset, HasThePublishedNumberOfParameters) {
  const ModelSpec model = model_preset(GetParam().name);
  EXPECT_EQ(model.name, GetParam().name);
  EXPECT_EQ(parameter_count(model), GetParam().parameters);
  EXPECT_FALSE(model.source.empty());
}

constexpr PresetCase kPresets[] = {
    {"llama-7b", 6'738'415'616},
    {"llama-13b", 13'015'864'320},
    {"llama-30b", 27'573'049'344},
    {"llama-tiny", 3'676'416},
    {"tinyllama-1.1b", 1'100'048'384},
    {"llama3.2-1b", 1'235'814'400},
    {"llama2-7b", 6'738'415'616},
    {"llama2-13b", 13'015'864'320},
    {"llama2-34b", 33'743'970'304},
    {"llama2-70b", 68'976'648'192},
    {"llama3-8b", 8'030'261'248},
    {"llama3-70b", 70'553'706'496},
    {"mistral-7b", 7'248'023'552},
    {"qwen2-0.5b", 494'032'768},
    {"qwen2-7b", 7'615'616'512},
    {"qwen3-8b", 8'190'735'360},
    {"gpt2", 124'439'808},
    {"gpt2-xl", 1'557'611'200},
    {"mpt-125m", 125'311'488},
    {"mpt-350m", 355'985'408},
    {"mpt-760m", 760'470'528},
    {"mpt-1b", 1'315'950'592},
    {"mpt-3b", 2'651'837'440},
    {"mpt-7b", 6'658'859'008},
    {"mpt-13b", 12'853'954'560},
    {"mpt-30b", 29'975'214'080},
    {"mpt-70b", 64'862'437'376},
};
INSTANTIATE_TEST_SUITE_P(, ModelPreset, testing::ValuesIn(kPresets), [](const auto& test) {
  std::string name = test.param.name;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
});

/// NumParams of llm-foundry's published throughputs (scripts/train/benchmarking/README.md, July
/// 2023), whose models are as long as the sequences that they train on.
struct MptCase {
  const char* model;
  int sequence_length;
  std::int64_t parameters;
};

TEST(MptPresets, HaveTheParametersOfLlmFoundryAtEveryLength) {
  constexpr MptCase kCases[] = {
      {"125m", 512, 124'131'840},     {"125m", 65536, 174'070'272},  {"350m", 8192, 362'276'864},
      {"760m", 32768, 807'656'448},   {"1b", 1024, 1'313'853'440},   {"3b", 16384, 2'688'537'600},
      {"7b", 4096, 6'667'247'616},    {"7b", 65536, 6'918'905'856},  {"13b", 512, 12'846'090'240},
      {"13b", 32768, 13'011'240'960}, {"30b", 8192, 30'019'254'272},
  };
  for (const MptCase& test : kCases) {
    ModelSpec model = model_preset(std::string("mpt-") + test.model);
    model.max_positions = test.sequence_length;
    EXPECT_EQ(parameter_count(model), test.parameters)
        << test.model << ", " << test.sequence_length << " tokens";
  }
}

TEST(ModelPresetNames, ListsThemThePapersFirst) {
  std::vector<std::string> names;
  for (const PresetCase& preset : kPresets) names.emplace_back(preset.name);
  EXPECT_EQ(model_preset_names(), names);
}

TEST(ModelPresetNames, KnowsNoOther) {
  EXPECT_THROW(model_preset("llama-33b"), InternalError);
}

}  // namespace
}  // namespace amsp
