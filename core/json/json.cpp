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
#include "core/json/sax_error.h"
#include "core/utf8.h"
#include "core/writable.h"

namespace amsp {
namespace {

constexpr std::size_t kMaxDepth = 64;

/// Builds the value from nlohmann's events (whose parser keeps its own stack, so depth costs no
/// recursion) and refuses what its tree builder would let pass: duplicate keys and deep nesting.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    if (open_.back()->contains(key)) {
      path_.push_back(key);
      throw ConfigError(
          fmt::format("{}#{}: the key stands twice in its object", file_, path_.to_string()));
    }
    key_ = std::move(key);
    after_key_ = true;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const Json* innermost = open_.empty() ? nullptr : open_.back();
    throw ConfigError(file_ + ":" +
                      explain_sax_error(text_, innermost, after_key_, position, error));
  }

 private:
  /// Puts the value where it belongs; the address stays valid until the container is closed.
  Json& place(Json value) {
    after_key_ = false;
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_object()) return parent[key_] = std::move(value);
    parent.push_back(std::move(value));
    return parent.back();
  }

  bool add(Json value) {
    place(std::move(value));
    return true;
  }

  bool open(Json container) {
    if (open_.size() == kMaxDepth)
      throw ConfigError(fmt::format("{}: is nested deeper than {} levels", file_, kMaxDepth));
    if (!open_.empty())
      path_.push_back(open_.back()->is_object() ? key_ : std::to_string(open_.back()->size()));
    open_.push_back(&place(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    if (!open_.empty()) path_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  Json root_;
  std::vector<Json*> open_;  // the containers that are not closed yet, outermost first
  Json::json_pointer path_;  // of open_.back()
  std::string key_;
  bool after_key_ = false;
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
