#pragma once

#include <span>
#include <string_view>

namespace amsp {

/// What cmake/embed_data.cmake generates; use data/embedded.h.
struct EmbeddedFile {
  std::string_view name;
  std::span<const std::string_view> pieces;  // in order; literals are limited in length
};
std::span<const EmbeddedFile> embedded_files();

}  // namespace amsp
