#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

/// Reads names as Slurm writes them: "gpu[001-004,009],login1" is gpu001 to gpu004, gpu009 and
/// login1. A range keeps the width of its first number. std::nullopt for anything else, for an
/// empty name and for more than `most`.
std::optional<std::vector<std::string>> expand_hosts(std::string_view text, std::size_t most);

/// The same the other way round, in the order given; what follows each other with one prefix and
/// one width shares brackets.
std::string compress_hosts(const std::vector<std::string>& hosts);

}  // namespace amsp
