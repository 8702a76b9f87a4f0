// What all training seeds of one training come to beside a baseline, and whether that is what was asked: on
// numbers, however they were measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/reproduce/learned/comparison.hpp"
#include "tools/reproduce/learned/experiments.hpp"

namespace berth {

inline constexpr std::size_t kSeedsAsked = 16;

struct SeedFigures {
  std::vector<int> seeds;       // of training
  std::vector<double> ratios;   // [seeds] policy over baseline, each condition weighing the same
  Interval mean;                // of them, over training seeds and workloads
  std::vector<double> sampled;  // [seeds] drawing over greedy; empty = not measured

  double Worst() const;
  double Best() const;
  std::string Each() const;         // "0.897 0.936", by seed
  std::string SampledText() const;  // mean and the one farthest from 1: "1.012, 1.034"
};
// `policies` [seeds] and `sampled` [seeds or none], grids of one shape with the baseline's. Nothing where
// they have not two workloads in every condition together.
std::optional<SeedFigures> FiguresOf(std::vector<int> seeds, std::span<const Grid> policies,
                                     std::span<const Grid> sampled, const Grid& baseline);

// A row of the targets' table about one training.
struct SeedTarget {
  std::string row, asked;
  // Whether verdicts count. No: too few steps (--quick). A miss by one seed counts however few were trained;
  // whatever is met by fewer than kSeedsAsked is "not measured".
  bool judged = true;
};
// What was measured, with what it lacks behind it. `by_any_seed`: a miss is one seed's.
Target JudgeSeeds(const SeedTarget& target, std::string measured, std::size_t seeds, bool met,
                  bool by_any_seed);
Target EverySeed(const SeedTarget& target, const SeedFigures& figures, double bound);
Target MeanOfSeeds(const SeedTarget& target, const SeedFigures& figures, double bound);
// The worst seed over the best.
Target SpreadOfSeeds(const SeedTarget& target, const SeedFigures& figures, double bound);
// Every seed's ratio of drawing to greedy within `share` of 1.
Target SampledOfSeeds(const SeedTarget& target, const SeedFigures& figures, double share);
// Ratio of the seeds' mean to something else's with an interval: at most `bound`, or surely below it.
Target RatioOfSeeds(const SeedTarget& target, std::size_t seeds, const Interval& ratio, double bound,
                    bool surely);
// The mean at each number of steps at most 1 + `share` of the least one at fewer steps. Steps that were not
// trained have no figures: they leave it not measured, unless the others miss already.
using AtSteps = std::vector<std::pair<std::int64_t, std::optional<SeedFigures>>>;
Target NeverWorse(const SeedTarget& target, const AtSteps& at, double share);

std::string StepsText(std::int64_t steps);  // "500k", "20M", "12,345"

}  // namespace berth
