#pragma once

#include <string>

#include "core/json/object_reader.h"
#include "training/model.h"

/// The families of Hugging Face configs whose keys are not llama's: gpt2 and mpt.
namespace amsp::hf {

/// There and not null.
bool given(ObjectReader& config, const std::string& key);
/// `absent` where it isn't given.
bool flag(ObjectReader& config, const std::string& key, bool absent = false);

/// LayerNorm, GELU, learned positions, biases everywhere, q, k, v in one product.
void read_gpt2(ObjectReader& config, ModelSpec& model);

/// LayerNorm and GELU. Positions are learned, unless attn_config asks for alibi or rope. no_bias
/// and alibi have to be given: llm-foundry and transformers take opposite defaults.
void read_mpt(ObjectReader& config, ModelSpec& model);

}  // namespace amsp::hf
