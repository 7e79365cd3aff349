#include "topology/spec/vertex.h"

#include <fmt/core.h>

#include <array>
#include <charconv>

#include "core/error.h"

namespace amsp {
namespace {

constexpr std::array<const char*, kVertexKinds> kNames = {
    "gpu", "nvswitch", "pcie", "cpu", "nic", "leaf", "spine", "core", "switch"};

/// Takes the names apart from left to right.
class NameParser {
 public:
  NameParser(std::string_view text, std::size_t most) : text_(text), most_(most) {}

  bool take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  /// "3" or "[0-3,7]".
  std::optional<std::vector<int>> numbers() {
    std::vector<int> list;
    if (!take("[")) {
      const auto only = number();
      if (!only) return std::nullopt;
      list.push_back(*only);
      return list;
    }
    do {
      const auto first = number();
      const auto last = first && take("-") ? number() : first;
      if (!last || *last < *first) return std::nullopt;
      if (list.size() + static_cast<std::size_t>(*last - *first) >= most_) return std::nullopt;
      for (int i = *first; i <= *last; ++i) list.push_back(i);
    } while (take(","));
    if (!take("]")) return std::nullopt;
    return list;
  }

  bool is_done() const { return text_.empty(); }

 private:
  std::optional<int> number() {
    int value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [next, error] = std::from_chars(text_.data(), end, value);
    if (error != std::errc{} || value < 0) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(next - text_.data()));
    return value;
  }

  std::string_view text_;
  std::size_t most_;
};

}  // namespace

const char* to_string(VertexKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  AMSP_CHECK(index < kNames.size(), "a VertexKind outside its enumeration");
  return kNames[index];
}

bool is_inside_node(VertexKind kind) {
  return kind <= VertexKind::kNic;
}

std::string to_string(const Vertex& vertex) {
  const std::string name = fmt::format("{}{}", to_string(vertex.kind), vertex.index);
  return vertex.node < 0 ? name : fmt::format("node{}/{}", vertex.node, name);
}

std::optional<std::vector<Vertex>> parse_vertices(std::string_view text, std::size_t most) {
  NameParser parser(text, most);
  std::vector<int> nodes{-1};
  const bool has_node = parser.take("node");
  if (has_node) {
    const auto list = parser.numbers();
    if (!list || !parser.take("/")) return std::nullopt;
    nodes = *list;
  }
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto kind = static_cast<VertexKind>(i);
    if (has_node && !is_inside_node(kind)) continue;
    if (!parser.take(kNames[i])) continue;
    const auto indices = parser.numbers();
    if (!indices || !parser.is_done() || nodes.size() * indices->size() > most) return std::nullopt;
    std::vector<Vertex> vertices;
    for (const int node : nodes)
      for (const int index : *indices) vertices.push_back({kind, node, index});
    return vertices;
  }
  return std::nullopt;
}

}  // namespace amsp
