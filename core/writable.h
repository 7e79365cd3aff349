#pragma once

#include <string>
#include <string_view>

namespace amsp {

inline constexpr const char* kCannotWrite = "cannot be written";

/// Where write_file() (core/json/json.h) puts a file.
struct WritePlaces {
  std::string target;     // through a symbolic link: what it points to
  std::string temporary;  // beside it; empty for what a rename must not replace: a device, a pipe
};
WritePlaces write_places(const std::string& path);

/// Returns 0, or the errno of what failed.
int write_all(const std::string& path, std::string_view content);

/// Throws what write_file() would throw now for a file of no bytes, and changes nothing. (A pipe
/// or device is not opened, only asked for permission.)
void check_writable(const std::string& path);

}  // namespace amsp
