// How values of a log come together, as a LikeMemory. Both are deterministic.
#pragma once

#include <span>
#include <vector>

#include "data/like/model.hpp"

namespace berth {

// Normal scores of the ranks. What is equal is ranked at random: were it ranked alike, equal values would
// look as if one repeated the other.
std::vector<double> LikeScores(const std::vector<double>& sample);

// Values in order: keys, which come by chance with probability `share`, and normal scores. The memory under
// which they are most likely: given those before it, each has the density
//   again x (share of the weight of those with its key, times the copula's density) + what is left x share,
// whose logarithm is concave in `again`; the other two by a grid. None where it gains less than chance may.
LikeMemory FitJobMemory(const std::vector<int>& keys, const std::vector<double>& share,
                        const std::vector<double>& scores);

// Of gaps over their mean, which is `mean_s`: of a grid the memory under which a simulation comes closest to
// the arrivals in an hour and, of a log of two weeks, in a day, by the distance of Kolmogorov and Smirnov (a
// simulated minimum distance): likelihood, which looks at one gap at a time, makes floods too long or too
// rare.
LikeMemory FitGapMemory(const std::vector<double>& gaps, const LikeQuantiles& distribution, double mean_s);

// Of two sorted samples the largest difference of the shares up to a value (Kolmogorov & Smirnov); 1 where
// one is empty.
double KolmogorovDistance(std::span<const double> a, std::span<const double> b);

// More says nothing, and people read the file.
double SixDigits(double value);

}  // namespace berth
