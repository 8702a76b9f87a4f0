// Are two samples of one distribution? Classical tests, and beside each p-value how far apart they are: of
// many observations a test notices any difference, also one that nobody cares about.
#pragma once

#include <span>
#include <vector>

namespace berth {

struct TwoSample {
  double statistic = 0.0;  // D of Kolmogorov and Smirnov, or chi-square
  double p = 1.0;  // of a statistic as large, if both samples are independent draws of one distribution
  // 0 to 1: D itself, or half the sum of the differences of shares (total variation): the largest difference
  // of the shares of any set of values.
  double distance = 0.0;
};

// Kolmogorov & Smirnov for numbers, by the asymptotic distribution with the correction of Stephens (JRSS B
// 32, 1970). Equal values are allowed; p is then too large. Neither sample may be empty.
TwoSample KolmogorovSmirnov(std::vector<double> a, std::vector<double> b);

// Chi-square of homogeneity for counts of the same categories, those of which either sample expects fewer
// than five taken together. The sums of both are above 0.
TwoSample ChiSquare(std::span<const double> a, std::span<const double> b);

// Upper tails. Kolmogorov's: 2 sum (-1)^(k-1) exp(-2 k^2 x^2).
double KolmogorovTail(double x);
double ChiSquareTail(double x, double degrees);

}  // namespace berth
