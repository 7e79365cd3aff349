#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

/// The candidate with the smallest edit distance (insert, delete, replace, swap of neighbours;
/// case ignored), if it is close enough to be what was meant: at most 1/3 of the longer length,
/// rounded up. Ties go to the first.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// "a, b, c".
std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");

}  // namespace amsp
