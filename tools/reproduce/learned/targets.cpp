#include "tools/reproduce/learned/targets.hpp"

#include <cmath>

#include "env/base/check.hpp"
#include "tools/table.hpp"

namespace berth {

const char* ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMet:
      return "met";
    case Verdict::kNotMet:
      return "**not met**";
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
