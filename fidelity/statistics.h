#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace amsp {

/// The middle value, or the mean of both in the middle. Of at least one value.
double median(std::vector<double> values);

/// Spearman's rank correlation; ties share the mean of their ranks. Nothing for fewer than three
/// pairs, or if one side is all alike.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

/// How `y` changes by a unit of each x, all others held: least squares of y = c + sum_i b_i x_i.
/// Nothing for an x that spans less than `span`, or that the others explain; an x that spans less
/// takes no part. Nothing at all for fewer rows than two more than there are slopes.
std::vector<std::optional<double>> least_squares_slopes(const std::vector<double>& y,
                                                        const std::vector<std::vector<double>>& x,
                                                        double span);

/// Of signed relative errors.
struct ErrorStatistics {
  std::size_t rows = 0;
  double median = 0, mean = 0, p90 = 0;   // of absolute errors
  double worst = 0;                       // signed
  std::size_t worst_row = 0;              // its index
  double bias_mean = 0, bias_median = 0;  // of signed errors
};

/// Doubtful rows count but can't be the worst, unless all are doubtful. Of at least one error.
ErrorStatistics error_statistics(const std::vector<double>& errors,
                                 const std::vector<bool>& doubtful);

}  // namespace amsp
