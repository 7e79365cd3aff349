#include "scenario/model_dimensions.h"

#include <fmt/core.h>

namespace amsp {

int read_dimension(ObjectReader& object, const std::string& key, int limit) {
  return static_cast<int>(object.integer(key, 1, limit));
}

int derive_head_dim(const ObjectReader& object, const std::string& heads_key, int hidden,
                    int heads) {
  if (hidden % heads != 0)
    object.fail(heads_key, fmt::format("{} heads don't divide the hidden size {}; give head_dim, "
                                       "or a number of heads that divides it",
                                       heads, hidden));
  return hidden / heads;
}

void check_kv_heads(const ObjectReader& object, const std::string& kv_key, int heads,
                    int kv_heads) {
  if (heads % kv_heads != 0)
    object.fail(kv_key, fmt::format("{} key-value heads don't divide {} heads", kv_heads, heads));
}

}  // namespace amsp
