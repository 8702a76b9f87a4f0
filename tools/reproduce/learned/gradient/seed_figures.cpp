#include "tools/reproduce/learned/gradient/seed_figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/check.hpp"
#include "tools/progress.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

std::string WorstText(const SeedFigures& figures) {
  const auto worst = std::max_element(figures.ratios.begin(), figures.ratios.end());
  const auto index = static_cast<std::size_t>(worst - figures.ratios.begin());
  return Join("worst ", Fixed(*worst, 3), " (seed ", figures.seeds[index], ")");
}

double FarthestFromOne(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end(),
                           [](double a, double b) { return std::abs(a - 1.0) < std::abs(b - 1.0); });
}

}  // namespace

Target JudgeSeeds(const SeedTarget& target, std::string measured, std::size_t seeds, bool met,
                  bool by_any_seed) {
  Verdict verdict = met ? Verdict::kMet : Verdict::kNotMet;
  const bool enough = seeds >= kSeedsAsked || (by_any_seed && !met);
  if (!enough || !target.judged) verdict = Verdict::kNotMeasured;
  if (!enough) measured += Join("; ", seeds, " of ", kSeedsAsked, " seeds");
  if (!target.judged) measured += "; too few steps";
  return {target.row, target.asked, std::move(measured), verdict};
}

double SeedFigures::Worst() const {
  return *std::max_element(ratios.begin(), ratios.end());
}
double SeedFigures::Best() const {
  return *std::min_element(ratios.begin(), ratios.end());
}

std::string SeedFigures::Each() const {
  std::string text;
  for (const double ratio : ratios) text += Join(text.empty() ? "" : " ", Fixed(ratio, 3));
  return text;
}

std::string SeedFigures::SampledText() const {
  return sampled.empty() ? "-" : Join(Fixed(Mean(sampled), 3), ", ", Fixed(FarthestFromOne(sampled), 3));
}

std::optional<SeedFigures> FiguresOf(std::vector<int> seeds, std::span<const Grid> policies,
                                     std::span<const Grid> sampled, const Grid& baseline) {
  BERTH_CHECK(seeds.size() == policies.size(), seeds.size(), " seeds, ", policies.size(), " policies");
  if (policies.empty()) return std::nullopt;
  SeedFigures figures;
  const Comparison all = Compare(policies, baseline, kBootstrapSeed);
  if (all.conditions < static_cast<int>(baseline.size())) return std::nullopt;
  figures.seeds = std::move(seeds);
  figures.mean = all.overall;
  for (const Grid& policy : policies)
    figures.ratios.push_back(Compare({&policy, 1}, baseline, kBootstrapSeed).overall.mean);
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    const double ratio = Compare({&sampled[i], 1}, policies[i], kBootstrapSeed).overall.mean;
    if (!std::isnan(ratio)) figures.sampled.push_back(ratio);
  }
  if (figures.sampled.size() < figures.seeds.size()) figures.sampled.clear();
  return figures;
}

Target EverySeed(const SeedTarget& target, const SeedFigures& figures, double bound) {
  // Beyond it by less than the table shows.
  const bool hair = figures.Worst() > bound && Fixed(figures.Worst(), 3) == Fixed(bound, 3);
  const std::string exact = hair ? Join(" = ", Fixed(figures.Worst(), 5)) : "";
  return JudgeSeeds(target, Join(WorstText(figures), exact, ", mean ", WithInterval(figures.mean, 3)),
                    figures.seeds.size(), figures.Worst() <= bound, /*by_any_seed=*/true);
}

Target MeanOfSeeds(const SeedTarget& target, const SeedFigures& figures, double bound) {
  return RatioOfSeeds(target, figures.seeds.size(), figures.mean, bound, /*surely=*/false);
}

Target SpreadOfSeeds(const SeedTarget& target, const SeedFigures& figures, double bound) {
  const double spread = figures.Worst() / figures.Best();
  return JudgeSeeds(target,
                    Join(Fixed(spread, 3), ": ", WorstText(figures), ", best ", Fixed(figures.Best(), 3)),
                    figures.seeds.size(), spread <= bound, /*by_any_seed=*/true);
}

Target SampledOfSeeds(const SeedTarget& target, const SeedFigures& figures, double share) {
  if (figures.sampled.empty()) return NotMeasured(target.row, target.asked, "no runs that draw");
  const double farthest = FarthestFromOne(figures.sampled);
  return JudgeSeeds(target, Join("mean ", Fixed(Mean(figures.sampled), 3), ", farthest ", Fixed(farthest, 3)),
                    figures.seeds.size(), std::abs(farthest - 1.0) <= share, /*by_any_seed=*/true);
}

Target RatioOfSeeds(const SeedTarget& target, std::size_t seeds, const Interval& ratio, double bound,
                    bool surely) {
  const Target plain = RatioTarget(target.row, target.asked, ratio, bound, surely);
  if (plain.verdict == Verdict::kNotMeasured) return plain;
  return JudgeSeeds(target, plain.measured, seeds, plain.verdict == Verdict::kMet, /*by_any_seed=*/false);
}

Target NeverWorse(const SeedTarget& target, const AtSteps& at, double share) {
  std::string means, missing;
  double least = std::numeric_limits<double>::infinity();
  bool met = true, any = false;
  std::size_t seeds = std::numeric_limits<std::size_t>::max();
  for (const auto& [steps, figures] : at) {
    if (!figures) {
      missing += Join(missing.empty() ? "" : ", ", StepsText(steps));
      continue;
    }
    any = true;
    seeds = std::min(seeds, figures->seeds.size());
    const double mean = figures->mean.mean;
    means += Join(means.empty() ? "" : ", ", StepsText(steps), " ", Fixed(mean, 3));
    met = met && mean <= (1.0 + share) * least;
    least = std::min(least, mean);
  }
  if (!any) return NotMeasured(target.row, target.asked, "no policies");
  if (!missing.empty()) means += Join("; not trained: ", missing);
  Target judged = JudgeSeeds(target, means, seeds, met, /*by_any_seed=*/false);
  if (met && !missing.empty()) judged.verdict = Verdict::kNotMeasured;
  return judged;
}

std::string StepsText(std::int64_t steps) {
  if (steps % 1'000'000 == 0) return Join(steps / 1'000'000, "M");
  if (steps % 1000 == 0) return Join(steps / 1000, "k");
  return Thousands(static_cast<double>(steps));
}

}  // namespace berth
