#include "tests/scenario/bad_scenario.h"

namespace amsp {
namespace {

class BadModel : public testing::TestWithParam<BadScenario> {};

TEST_P(BadModel, IsRefusedWithItsMessage) {
  expect_refused(GetParam());
}

constexpr BadScenario kModels[] = {
    {"NoObject", R"({"model": "llama-7b"})",
     "s.json#/model: must be an object, found \"llama-7b\""},
    {"UnknownPreset", R"({"model": {"preset": "lama-7b"}})",
     "s.json#/model/preset: must be one of llama-7b, llama-13b, llama-30b, llama-tiny, "
     "tinyllama-1.1b, llama3.2-1b, llama2-7b, llama2-13b, llama2-34b, llama2-70b, llama3-8b, "
     "llama3-70b, mistral-7b, qwen2-0.5b, qwen2-7b, qwen3-8b, gpt2, gpt2-xl, mpt-125m, mpt-350m, "
     "mpt-760m, mpt-1b, mpt-3b, mpt-7b, mpt-13b, mpt-30b, mpt-70b; found \"lama-7b\"; did you mean "
     "'llama-7b'?"},
    {"PresetWithUnknownKey", R"({"model": {"hiden": 4096}})",
     "s.json#/model/hiden: is not a known key; did you mean 'hidden'? (allowed: ffn, "
     "fused_gate_up, fused_qkv, gated, head_dim, heads, hf_config, hidden, kv_heads, layers, "
     "max_positions, mlp_bias, name, norm, norm_bias, output_bias, positions, preset, qk_norm, "
     "qkv_bias, tied_embeddings, vocab)"},
    {"EmptyName", R"({"model": {"name": ""}})", "s.json#/model/name: must not be empty"},
    {"PresetAndConfig", R"({"model": {"hf_config": "hf/qwen2-7b.json"}})",
     "s.json#/model: gives both 'preset' and 'hf_config'; only one can hold"},
    {"KvHeadsDontDivide", R"({"model": {"kv_heads": 5}})",
     "s.json#/model/kv_heads: 5 key-value heads don't divide 32 heads"},
    {"HeadsDontDivideHidden", R"({"model": {"heads": 24}})",
     "s.json#/model/heads: 24 heads don't divide the hidden size 4096; give head_dim, or a number "
     "of heads that divides it"},
    {"NegativeLayers", R"({"model": {"layers": -32}})",
     "s.json#/model/layers: must be a whole number from 1 to 4096, found -32"},
    {"TooManyLayers", R"({"model": {"layers": 1000000000000}})",
     "s.json#/model/layers: must be a whole number from 1 to 4096, found 1000000000000"},
    {"HalfALayer", R"({"model": {"layers": 0.5}})",
     "s.json#/model/layers: must be a whole number from 1 to 4096, found 0.5"},
    {"LayersAsText", R"({"model": {"layers": "32"}})",
     "s.json#/model/layers: must be a whole number from 1 to 4096, found \"32\""},
    {"FlagAsNumber", R"({"model": {"fused_qkv": 1}})",
     "s.json#/model/fused_qkv: must be true or false, found 1"},
    {"MissingDimension", R"({"model": {"preset": null, "hidden": 512, "layers": 2, "heads": 8}})",
     "s.json#/model/ffn: is missing"},
    {"MissingDimensionMisspelt",
     R"({"model": {"preset": null, "hidden": 512, "layers": 2, "heads": 8, "vocabs": 1000,
                   "ffn": 1376}})",
     "s.json#/model/vocab: is missing; is 'vocabs' a misspelling of it?"},
    {"OtherNorm", R"({"model": {"norm": "layernorm"}})",
     "s.json#/model/norm: must be one of rms_norm, layer_norm; found \"layernorm\"; did you mean "
     "'layer_norm'?"},
    {"BiasOfAnRmsNorm", R"({"model": {"norm_bias": false}})",
     "s.json#/model/norm_bias: must not be given: only a layer_norm has a bias"},
    {"OtherPositions", R"({"model": {"positions": "absolute"}})",
     "s.json#/model/positions: must be one of rotary, learned, alibi, none; found \"absolute\""},
    {"LearnedPositionsWithoutATable", R"({"model": {"positions": "learned"}})",
     "s.json#/model/max_positions: is missing"},
    {"TableOfRotaryPositions", R"({"model": {"max_positions": 4096}})",
     "s.json#/model/max_positions: must not be given: only learned positions have a table"},
    {"TableOfReplacedPositions",
     R"({"model": {"preset": "mpt-7b", "positions": "alibi", "max_positions": 4096}})",
     "s.json#/model/max_positions: must not be given: only learned positions have a table"},
    {"SequenceBeyondTheTable", R"({"model": {"preset": "mpt-7b"}})",
     "s.json#/training/sequence_length: 4096 tokens exceed the model's table of 2048 learned "
     "positions"},
    {"FusedGateWithoutAGate", R"({"model": {"gated": false, "fused_gate_up": true}})",
     "s.json#/model/fused_gate_up: must be false: the model's feed-forward network has no gate"},
};
INSTANTIATE_TEST_SUITE_P(, BadModel, testing::ValuesIn(kModels), test_name);

class BadHfConfig : public testing::TestWithParam<BadScenario> {};

TEST_P(BadHfConfig, IsRefusedWithItsMessage) {
  expect_refused(GetParam());
}

#define HF_CONFIG(path, rest) R"({"model": {"preset": null, "hf_config": ")" path "\"" rest "}}"

constexpr BadScenario kConfigs[] = {
    {"NotThere", HF_CONFIG("hf/nothing.json", ""),
     "s.json#/model/hf_config: hf/nothing.json: cannot be read: No such file or directory"},
    {"Folder", HF_CONFIG("hf", ""), "s.json#/model/hf_config: hf: cannot be read: Is a directory"},
    {"NotJson", HF_CONFIG("hf/broken.json", ""),
     "s.json#/model/hf_config: hf/broken.json:2:22: expected a key in double quotes, found ','"},
    {"OtherFamily", HF_CONFIG("hf/bloom.json", ""),
     "hf/bloom.json#/model_type: 'bloom' is not a family that can be read (allowed: llama, "
     "mistral, qwen2, qwen3, gpt2, mpt)"},
    {"FamilyWithAnotherStructure", HF_CONFIG("hf/olmo2.json", ""),
     "hf/olmo2.json#/model_type: 'olmo2' is not a family that can be read: it normalises what "
     "attention and feed-forward put out, not what they take in (allowed: llama, mistral, qwen2, "
     "qwen3, gpt2, mpt)"},
    {"FusedGateWithoutAGate", HF_CONFIG("hf/gpt2.json", R"(, "fused_gate_up": true)"),
     "s.json#/model/fused_gate_up: must be false: the model's feed-forward network has no gate"},
    {"SequenceBeyondTheTable", HF_CONFIG("hf/gpt2.json", ""),
     "s.json#/training/sequence_length: 4096 tokens exceed the model's table of 1024 learned "
     "positions"},
    {"NoConfigAtAll", HF_CONFIG("base.json", ""), "base.json#/model_type: is missing"},
    {"MissingKey", HF_CONFIG("hf/no-heads.json", ""),
     "hf/no-heads.json#/num_attention_heads: is missing"},
    {"WrongType", HF_CONFIG("hf/text-heads.json", ""),
     "hf/text-heads.json#/num_attention_heads: must be a whole number from 1 to 4096, found \"8\""},
    {"KvHeadsMissing", HF_CONFIG("hf/qwen2-no-kv.json", ""),
     "hf/qwen2-no-kv.json#/num_key_value_heads: is missing"},
    {"OtherActivation", HF_CONFIG("hf/gelu.json", ""),
     "hf/gelu.json#/hidden_act: must be \"silu\", found \"gelu\""},
    {"DimensionBesideConfig", HF_CONFIG("hf/qwen2-7b.json", R"(, "layers": 2)"),
     "s.json#/model/layers: is not a known key (allowed: fused_gate_up, fused_qkv, hf_config, "
     "name, preset)"},
    {"AttentionWindow",
     R"({"model": {"preset": null, "hf_config": "hf/mistral-7b-v0.1.json"},
         "training": {"sequence_length": 8192}})",
     "hf/mistral-7b-v0.1.json#/sliding_window: attention over a window of 4096 tokens is not "
     "modelled, and the sequence length 8192 exceeds it"},
};
INSTANTIATE_TEST_SUITE_P(, BadHfConfig, testing::ValuesIn(kConfigs), test_name);

}  // namespace
}  // namespace amsp
