#include "core/json/json.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/json/json_syntax.h"
#include "core/json/sax_tree.h"
#include "core/utf8.h"
#include "core/writable.h"

namespace amsp {
namespace {

/// Refuses what nlohmann's tree builder would let pass: duplicate keys and deep nesting.
class TreeBuilder : public SaxTree {
 public:
  TreeBuilder(std::string_view text, const std::string& file) : SaxTree(text), file_(file) {}

  Json take() { return std::move(root_); }

  bool key(string_t& key) override {
    if (open_.back()->contains(key))
      throw ConfigError(
          fmt::format("{}#{}: the key stands twice in its object", file_, pointer_to(key)));
    return SaxTree::key(key);
  }

 private:
  bool fail(const std::string& reason, bool has_place) override {
    throw ConfigError(file_ + (has_place ? ":" : ": ") + reason);
  }

  /// To a key of the innermost container.
  std::string pointer_to(const std::string& key) const {
    Json::json_pointer path;
    for (std::size_t i = 1; i < open_.size(); ++i)
      for (const auto& [name, value] : open_[i - 1]->items())
        if (&value == open_[i]) path.push_back(name);
    path.push_back(key);
    return path.to_string();
  }

  const std::string& file_;
};

/// nlohmann takes a NUL byte for the end of the text, and reports bad UTF-8 only inside strings.
void check_characters(std::string_view text, const std::string& file) {
  const std::size_t bad = std::min(utf8_error(text), text.find('\0'));
  if (bad == std::string_view::npos) return;
  const std::string place = line_and_column(text, bad);
  if (text[bad] == '\0') throw ConfigError(fmt::format("{}:{}: found a NUL byte", file, place));
  throw ConfigError(fmt::format("{}:{}: byte 0x{:02X} is not valid UTF-8", file, place,
                                static_cast<unsigned char>(text[bad])));
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_file(const std::string& path, const char* mode) {
  return {std::fopen(path.c_str(), mode), std::fclose};
}

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw ConfigError(fmt::format("{}: {}: {}", path, what, std::generic_category().message(error)));
}

}  // namespace

Json parse_json(std::string_view text, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  check_characters(text, file);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw ConfigError(file + ": is empty");
  TreeBuilder builder(text, file);
  const bool complete = Json::sax_parse(text, &builder);
  AMSP_CHECK(complete, "{}: the parser stopped without an error", file);
  return builder.take();
}

std::string read_file(const std::string& path) {
  constexpr const char* kWhat = "cannot be read";
  const File file = open_file(path, "rb");
  if (!file) fail(path, kWhat, errno);
  std::string content;
  char buffer[1 << 16];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, file.get()))
    content.append(buffer, count);
  if (std::ferror(file.get()) != 0) fail(path, kWhat, errno);
  return content;
}

Json read_json_file(const std::string& path) {
  return parse_json(read_file(path), path);
}

void write_file(const std::string& path, std::string_view content) {
  const auto [target, temporary] = write_places(path);
  if (temporary.empty()) {
    if (const int error = write_all(path, content)) fail(path, kCannotWrite, error);
    return;
  }
  int error = write_all(temporary, content);
  if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return;
  std::remove(temporary.c_str());
  fail(path, kCannotWrite, error);
}

}  // namespace amsp
