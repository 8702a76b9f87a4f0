#include "tools/reproduce/gavel_workloads.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "data/workloads.hpp"
#include "tools/scenario_options.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

// The reference generates until the measured jobs are done. At the highest loads here the last of them ends
// when about 10,000 have arrived; a run that outlives its arrivals says so in the page.
constexpr int kWorkloadJobs = 12000;
constexpr Window kPaperWindow = {4000, 5000};

Scenario Generate(const std::string& spec, std::uint64_t seed) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(kPaperCluster);
  settings.clock = {ClockKind::kReferenceRounds, 360.0};
  return EvaluationScenario(*MakeWorkload(spec, settings), seed);
}

PlannedWorkload Synthetic(const std::string& spec, Window window, std::uint64_t seed) {
  return {Join(spec, " seed ", seed), window, [spec, seed] { return Generate(spec, seed); }};
}

std::string Rate(double rate) {  // as one would write it: 4.8, not 4.7999999999999998
  std::string text = Fixed(rate, 2);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

PlannedWorkload ContinuousWorkload(double rate, Gangs gangs, bool priorities, std::uint64_t seed) {
  std::string spec = Join("synthetic(rate=", Rate(rate), ",jobs=", kWorkloadJobs);
  if (gangs == Gangs::kMulti) spec += ",gangs=multi";
  if (priorities) spec += ",priorities=true";
  return Synthetic(spec + ")", kPaperWindow, seed);
}

PlannedWorkload StaticWorkload(int jobs, std::uint64_t seed) {
  return Synthetic(Join("synthetic(rate=0,jobs=", jobs, ",gangs=multi)"), {0, jobs}, seed);
}

PlannedWorkload TraceWorkload(const std::string& folder, const std::string& trace, Window window) {
  const auto make = [path = folder + "/" + trace + ".trace"] {
    const FormatInfo& format = FindFormat("gavel");
    ScenarioSettings settings;
    settings.cluster = ParseCluster(kPaperCluster);
    settings.clock = format.default_clock;
    return format.read(path, settings);
  };
  if (window.end < 0) window.end = make().num_jobs();
  return {trace, window, make};
}

double SeedValues::mean() const {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string SeedValues::ToString(int decimals) const {
  if (failed) return "failed";
  if (values.empty()) return available ? "not run" : "not available";
  std::string text = Fixed(mean(), decimals);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (values.size() > 1) text += Join(" [", Fixed(*low, decimals), ", ", Fixed(*high, decimals), "]");
  return ran_out ? text + "*" : text;
}

SeedValues OverSeeds(const ReproductionRuns& runs, const std::vector<PlannedWorkload>& workloads,
                     const std::string& spec, OutcomeFigure figure, double unit) {
  SeedValues result;
  result.available = WhyNotAvailable(spec).empty();
  for (const PlannedWorkload& workload : workloads) {
    const PlannedOutcome* outcome = runs.Find(workload, spec);
    if (outcome == nullptr) continue;
    if (!outcome->error.empty()) {
      result.failed = true;
      continue;
    }
    result.ran_out = result.ran_out || outcome->arrivals_ran_out;
    result.values.push_back(outcome->*figure / unit);
  }
  return result;
}

}  // namespace berth
