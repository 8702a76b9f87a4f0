// What issue and publications ask of the learned policies, and whether it was met.
#pragma once

#include <string>
#include <vector>

#include "env/sim/statistics.hpp"
#include "tools/reproduce/page.hpp"

namespace berth {

enum class Verdict { kMet, kNotMet, kNotMeasured };
const char* ToString(Verdict verdict);  // "met", "**not met**", "not measured"

struct Target {
  std::string row;       // of the issue: "1, oracle"
  std::string asked;     // "at least 15% below `srpt`"
  std::string measured;  // "-17.2% [-19.0, -15.4]", or why there is none
  Verdict verdict = Verdict::kNotMeasured;
};

// Ratio learned / other at most `bound`: by the estimate, or with the whole interval (`surely`). NaN: not
// measured.
Target RatioTarget(std::string row, std::string asked, const Interval& ratio, double bound, bool surely);
// A mean below a published figure.
Target ValueTarget(std::string row, std::string asked, double value, double bound, int decimals);
Target NotMeasured(std::string row, std::string asked, std::string why);

void WriteTargets(const std::vector<Target>& targets, ReproductionPage& page);

// "0.843 [0.821, 0.866]"; "-" where it is NaN.
std::string WithInterval(const Interval& interval, int decimals, double unit = 1.0);

}  // namespace berth
