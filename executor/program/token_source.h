#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace amsp {

/// Training data: an endless list of sequences, the same for every plan.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  /// Sequence `number`: tokens.size() tokens in a row, each below vocab().
  virtual void fill(std::int64_t number, std::span<std::int32_t> tokens) const = 0;
  virtual int vocab() const = 0;
  /// "text.txt (12,345 bytes)", "synthetic (seed 1)".
  virtual std::string description() const = 0;
};

/// The bytes of a file as tokens 0 to 255. Sequences begin at places drawn by `seed`. Throws
/// ConfigError, naming the file, if it can't be read or is not longer than a sequence.
std::unique_ptr<TokenSource> text_tokens(const std::string& path, int sequence_length,
                                         std::uint64_t seed);

/// A random language that can be learnt: after token t most often (7 in 8) comes one that follows
/// from t, else any of the `vocab`, both drawn by `seed`.
std::unique_ptr<TokenSource> synthetic_tokens(int vocab, std::uint64_t seed);

}  // namespace amsp
