#include "executor/program/token_source.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/error.h"
#include "core/mix.h"

namespace amsp {

namespace {

class TextTokens : public TokenSource {
 public:
  TextTokens(std::string path, std::string text, std::uint64_t seed)
      : path_(std::move(path)), text_(std::move(text)), seed_(mix(seed)) {}

  void fill(std::int64_t number, std::span<std::int32_t> tokens) const override {
    const std::uint64_t places = text_.size() - tokens.size() + 1;
    const std::uint64_t begin = mix(seed_ ^ static_cast<std::uint64_t>(number)) % places;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = static_cast<unsigned char>(text_[begin + i]);
  }
  int vocab() const override { return 256; }
  std::string description() const override {
    return fmt::format("{} ({} bytes)", path_, text_.size());
  }

 private:
  std::string path_, text_;
  std::uint64_t seed_;
};

class SyntheticTokens : public TokenSource {
 public:
  SyntheticTokens(int vocab, std::uint64_t seed) : vocab_(vocab), seed_(seed) {}

  void fill(std::int64_t number, std::span<std::int32_t> tokens) const override {
    const auto vocab = static_cast<std::uint64_t>(vocab_);
    const std::uint64_t sequence = mix(mix(seed_) + static_cast<std::uint64_t>(number));
    std::uint64_t token = sequence % vocab;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] = static_cast<std::int32_t>(token);
      const std::uint64_t draw = mix(sequence + i);
      token = draw % 8 != 0 ? mix(seed_ ^ (token << 20)) % vocab : (draw >> 8) % vocab;
    }
  }
  int vocab() const override { return vocab_; }
  std::string description() const override { return fmt::format("synthetic (seed {})", seed_); }

 private:
  int vocab_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<TokenSource> text_tokens(const std::string& path, int sequence_length,
                                         std::uint64_t seed) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw ConfigError(path + ": is a folder, not a text");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ConfigError(path + ": can't be read");
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw ConfigError(path + ": can't be read");
  const std::size_t needed = static_cast<std::size_t>(sequence_length) + 1;
  if (text.size() < needed)
    throw ConfigError(fmt::format("{}: has {} bytes; a sequence of {} tokens needs {}", path,
                                  text.size(), sequence_length, needed));
  return std::make_unique<TextTokens>(path, std::move(text), seed);
}

std::unique_ptr<TokenSource> synthetic_tokens(int vocab, std::uint64_t seed) {
  return std::make_unique<SyntheticTokens>(vocab, seed);
}

}  // namespace amsp
