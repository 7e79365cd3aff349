#include "core/writable.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/error.h"

namespace amsp {

namespace fs = std::filesystem;

WritePlaces write_places(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) return {path, ""};
  const fs::path resolved = fs::canonical(path, ignored);
  std::string target = resolved.empty() ? path : resolved.string();
  std::string temporary = fmt::format("{}.tmp.{}", target, ::getpid());
  return {std::move(target), std::move(temporary)};
}

int write_all(const std::string& path, std::string_view content) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (!file) return errno;
  if (std::fwrite(content.data(), 1, content.size(), file.get()) != content.size()) return errno;
  return std::fclose(file.release()) == 0 ? 0 : errno;  // what is buffered may fail only here
}

void check_writable(const std::string& path) {
  const auto [target, temporary] = write_places(path);
  int error = 0;
  if (path.empty()) {
    error = ENOENT;
  } else if (!temporary.empty()) {
    error = write_all(temporary, "");
    std::remove(temporary.c_str());
  } else if (fs::is_directory(path)) {
    error = EISDIR;
  } else if (::access(path.c_str(), W_OK) != 0) {
    error = errno;
  }
  if (error != 0)
    throw ConfigError(
        fmt::format("{}: {}: {}", path, kCannotWrite, std::generic_category().message(error)));
}

}  // namespace amsp
