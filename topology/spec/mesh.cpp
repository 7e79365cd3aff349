#include "topology/spec/mesh.h"

#include <fmt/core.h>

#include <charconv>
#include <limits>

#include "core/error.h"

namespace amsp {
namespace {

/// A positive decimal number without sign or leading zeros.
std::optional<int> parse_extent(std::string_view digits) {
  if (digits.empty() || digits.front() < '1' || digits.front() > '9') return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// One axis of a family: groups take every stride-th index of a block of shape * stride.
struct Axis {
  int shape;
  int stride;

  int groups(int extent) const { return extent / shape; }
  int first(int group) const { return group / stride * shape * stride + group % stride; }
  int group(int index) const { return index / (shape * stride) * stride + index % stride; }
  int position(int index) const { return index / stride % shape; }
};

struct Axes {
  Axis intra;
  Axis inter;
};

Axes axes(const SubMesh& mesh, Mesh dp) {
  const Mesh extent{mesh.shape.intra * mesh.stride.intra, mesh.shape.inter * mesh.stride.inter};
  AMSP_CHECK(extent.intra > 0 && extent.inter > 0 && divides(extent, dp), "{} does not tile {}",
             to_string(mesh), to_string(dp));
  return {{mesh.shape.intra, mesh.stride.intra}, {mesh.shape.inter, mesh.stride.inter}};
}

}  // namespace

std::string to_string(Mesh mesh) {
  return fmt::format("{}x{}", mesh.intra, mesh.inter);
}

std::optional<Mesh> parse_mesh(std::string_view text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return std::nullopt;
  const std::optional<int> intra = parse_extent(text.substr(0, cross));
  const std::optional<int> inter = parse_extent(text.substr(cross + 1));
  if (!intra || !inter) return std::nullopt;
  if (*intra > std::numeric_limits<int>::max() / *inter) return std::nullopt;
  return Mesh{*intra, *inter};
}

SubMesh sub_mesh(Mesh a) {
  return {a, Mesh{1, 1}};
}

SubMesh quotient(Mesh a, Mesh b) {
  AMSP_CHECK(divides(b, a), "{} does not divide {}", to_string(b), to_string(a));
  return {Mesh{a.intra / b.intra, a.inter / b.inter}, b};
}

std::string to_string(const SubMesh& mesh) {
  if (mesh.stride == Mesh{1, 1}) return to_string(mesh.shape);
  return to_string(mesh.shape) + "/" + to_string(mesh.stride);
}

std::vector<std::vector<Rank>> process_groups(const SubMesh& mesh, Mesh dp) {
  const auto [intra, inter] = axes(mesh, dp);
  std::vector<std::vector<Rank>> groups;
  groups.reserve(static_cast<std::size_t>(dp.size() / mesh.size()));
  for (int j = 0; j < inter.groups(dp.inter); ++j) {
    for (int i = 0; i < intra.groups(dp.intra); ++i) {
      std::vector<Rank>& ranks = groups.emplace_back();
      ranks.reserve(static_cast<std::size_t>(mesh.size()));
      for (int n = 0; n < inter.shape; ++n)
        for (int g = 0; g < intra.shape; ++g)
          ranks.push_back((inter.first(j) + n * inter.stride) * dp.intra +  //
                          intra.first(i) + g * intra.stride);
    }
  }
  return groups;
}

GroupPosition group_position(const SubMesh& mesh, Mesh dp, Rank rank) {
  const auto [intra, inter] = axes(mesh, dp);
  AMSP_CHECK(rank >= 0 && rank < dp.size(), "rank {} is outside {}", rank, to_string(dp));
  const int gpu = rank % dp.intra;
  const int node = rank / dp.intra;
  return {inter.group(node) * intra.groups(dp.intra) + intra.group(gpu),
          inter.position(node) * intra.shape + intra.position(gpu)};
}

}  // namespace amsp
