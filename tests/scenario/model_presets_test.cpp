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
//   L (2 h q + 2 h k + 3 h f + 2 h [+ q + 2 k biases]) + h + V h [+ V h without tying]
TEST_P(ModelPreset, HasThePublishedNumberOfParameters) {
  const ModelSpec model = model_preset(GetParam().name);
  EXPECT_EQ(model.name, GetParam().name);
  EXPECT_EQ(parameter_count(model), GetParam().parameters);
  EXPECT_FALSE(model.source.empty());
}

constexpr PresetCase kPresets[] = {
    {"llama-7b", 6'738'415'616},       {"llama-13b", 13'015'864'320},
    {"llama-30b", 27'573'049'344},     {"llama-tiny", 3'676'416},
    {"tinyllama-1.1b", 1'100'048'384}, {"llama3.2-1b", 1'235'814'400},
    {"llama2-70b", 68'976'648'192},    {"llama3-8b", 8'030'261'248},
    {"mistral-7b", 7'248'023'552},     {"qwen2-0.5b", 494'032'768},
    {"qwen2-7b", 7'615'616'512},
};
INSTANTIATE_TEST_SUITE_P(, ModelPreset, testing::ValuesIn(kPresets), [](const auto& test) {
  std::string name = test.param.name;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
});

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
