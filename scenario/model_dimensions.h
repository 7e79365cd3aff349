#pragma once

#include <string>

#include "core/json/object_reader.h"

namespace amsp {

/// Upper limits of a model's dimensions. They are far above any model trained so far, and keep
/// every product of them (parameters x bytes, tokens x vocabulary) inside 64 bits.
namespace dimension_limit {
constexpr int kHidden = 1 << 18;
constexpr int kLayers = 4096;
constexpr int kHeads = 4096;
constexpr int kHeadDim = 4096;
constexpr int kFfn = 1 << 20;
constexpr int kVocab = 1 << 24;
constexpr int kPositions = 1 << 24;  // as the limit of a sequence's length
}  // namespace dimension_limit

/// A required dimension from 1 to `limit`.
int read_dimension(ObjectReader& object, const std::string& key, int limit);

/// hidden / heads. Fails at `heads_key` where that is no whole number: then the size of a head
/// has to be given.
int derive_head_dim(const ObjectReader& object, const std::string& heads_key, int hidden,
                    int heads);

/// Every key-value head serves the same number of heads; otherwise fails at `kv_key`.
void check_kv_heads(const ObjectReader& object, const std::string& kv_key, int heads, int kv_heads);

}  // namespace amsp
