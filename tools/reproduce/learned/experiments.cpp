#include "tools/reproduce/learned/experiments.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "env/base/check.hpp"
#include "tools/reproduce/learned/recipes.hpp"
#include "tools/reproduce/learned/two_ways.hpp"
#include "tools/table.hpp"

namespace berth {

std::string TrainedPolicy::Spec(bool sample) const {
  return Join("policy(file=", file, sample ? ",sample=true)" : ")");
}

std::string PolicyShelf::Path(const std::string& name, int seed) const {
  const auto& all = Recipes();
  const auto recipe = std::find_if(all.begin(), all.end(), [&](const Recipe& r) { return name == r.name; });
  const std::string room = recipe == all.end() ? "" : Join(recipe->experiment, "/");
  return Join(folder_, "/", room, name, "_", seed, ".h5");
}

std::vector<TrainedPolicy> PolicyShelf::Find(const std::string& name) const {
  std::vector<TrainedPolicy> found;
  for (int seed = begin_; seed < end_; ++seed) {
    const std::string path = Path(name, seed);
    if (std::filesystem::exists(path)) found.push_back({seed, path});
  }
  return found;
}

std::string PolicyShelf::Missing(const std::string& name) const {
  if (end_ - begin_ > 1 && Find(name).empty())
    return Join(name, "_", begin_, ".h5 to ", name, "_", end_ - 1, ".h5");
  std::string missing;
  for (int seed = begin_; seed < end_; ++seed) {
    const std::string file = Join(name, "_", seed, ".h5");
    if (!std::filesystem::exists(Path(name, seed))) missing += (missing.empty() ? "" : ", ") + file;
  }
  return missing;
}

std::vector<std::string> PolicyShelf::Specs(const std::string& name, bool sample) const {
  std::vector<std::string> specs;
  for (const TrainedPolicy& policy : Find(name)) specs.push_back(policy.Spec(sample));
  return specs;
}

std::vector<std::string> PolicyShelf::SpecsBothWays(const std::string& name) const {
  std::vector<std::string> specs = Specs(name);
  for (const std::string& spec : Specs(ByGradient(name))) specs.push_back(spec);
  return specs;
}

const char* ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMet:
      return "met";
    case Verdict::kNotMet:
      return "**not met**";
    case Verdict::kCannotBe:
      return "cannot be";
    case Verdict::kWithdrawn:
      return "withdrawn";
    case Verdict::kNotMeasured:
      break;
  }
  return "not measured";
}

std::string WithInterval(const Interval& interval, int decimals, double unit) {
  if (std::isnan(interval.mean)) return "-";
  return Join(Fixed(interval.mean / unit, decimals), " [", Fixed(interval.low / unit, decimals), ", ",
              Fixed(interval.high / unit, decimals), "]");
}

Target RatioTarget(std::string row, std::string asked, const Interval& ratio, double bound, bool surely) {
  if (std::isnan(ratio.mean)) return NotMeasured(std::move(row), std::move(asked), "no common runs");
  const bool met = surely ? ratio.high < bound : ratio.mean <= bound;
  return {std::move(row), std::move(asked), WithInterval(ratio, 3), met ? Verdict::kMet : Verdict::kNotMet};
}

Target ValueTarget(std::string row, std::string asked, double value, double bound, int decimals) {
  if (std::isnan(value)) return NotMeasured(std::move(row), std::move(asked), "no runs");
  return {std::move(row), std::move(asked), Fixed(value, decimals),
          value < bound ? Verdict::kMet : Verdict::kNotMet};
}

constexpr double kWorthwhile = 0.99;  // less than this share of what is asked is left to gain: withdrawn

static void DecideByBound(Target& target, double least, double asked) {
  if (target.verdict != Verdict::kNotMet) return;
  if (least > kWorthwhile * asked) target.verdict = least > asked ? Verdict::kCannotBe : Verdict::kWithdrawn;
}

void Bound(Target& target, double least, double asked) {
  if (std::isnan(least)) return;
  target.measured += Join("; no scheduler below ", Fixed(least, 3));
  DecideByBound(target, least, asked);
}

void BoundInExpectation(Target& target, const Interval& least, double asked) {
  if (std::isnan(least.mean)) return;
  target.measured += Join("; in expectation no scheduler below ", WithInterval(least, 3));
  DecideByBound(target, least.low, asked);
}

void Headroom(Target& target, double searched, double asked) {
  if (std::isnan(searched)) return;
  target.measured += Join("; an order searched knowing all jobs ", Fixed(searched, 3));
  if (target.verdict == Verdict::kNotMet && searched > kWorthwhile * asked && searched <= asked)
    target.verdict = Verdict::kWithdrawn;
}

Target NotMeasured(std::string row, std::string asked, std::string why) {
  return {std::move(row), std::move(asked), std::move(why), Verdict::kNotMeasured};
}

void WriteTargets(const std::vector<Target>& targets, ReproductionPage& page) {
  std::vector<ReproductionPage::Cells> rows;
  for (const Target& target : targets)
    rows.push_back({target.row, target.asked, target.measured, ToString(target.verdict)});
  page.Rows({"row", "asked", "measured", ""}, rows);
}

}  // namespace berth
