#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/json/json.h"
#include "scenario/readers.h"

namespace amsp {

/// Reads a Hugging Face `config.json` of the families llama, mistral, qwen2, qwen3, gpt2 and mpt
/// as it is published. Keys that don't change the cost of a step are not looked at, nor is dropout;
/// a key that is null counts as absent, as it does there. `file` is used in messages and as the
/// model's source. Throws ConfigError for another family, for a structure that ModelSpec can't say,
/// and for a key that is missing or of a wrong type.
ModelPart read_hf_config(const Json& json, const std::string& file);

}  // namespace amsp
