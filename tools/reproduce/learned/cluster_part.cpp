#include "tools/reproduce/learned/cluster_part.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "tools/reproduce/learned/bound.hpp"

namespace berth {
namespace {

std::vector<std::size_t> Where(const LoadGrid& grid, bool singles, bool gangs) {
  std::vector<std::size_t> loads;
  for (std::size_t i = 0; i < grid.loads.size(); ++i) {
    if (grid.loads[i].gangs ? gangs : singles) loads.push_back(i);
  }
  return loads;
}

// Below every other scheduler, the interval apart from 1: the nearest one decides.
Target BelowAll(const ClusterPart& part, const ClusterResult& result, const std::string& except) {
  const std::string row = Join("1, ", part.name),
                    asked = Join("below every other ", part.name, " baseline, the interval apart from 1");
  if (result.policies.empty()) return NotMeasured(row, asked, "no policies");
  const ClusterRow* nearest = nullptr;
  std::string unmeasured;
  for (const ClusterRow& other : result.rows) {
    if (other.opponent.spec == except) continue;
    if (std::isnan(other.all.overall.mean)) {
      unmeasured += Join(unmeasured.empty() ? "" : ", ", other.opponent.spec);
    } else if (nearest == nullptr || other.all.overall.high > nearest->all.overall.high) {
      nearest = &other;
    }
  }
  if (nearest == nullptr) return NotMeasured(row, asked, "no runs");
  Target target = RatioTarget(row, asked, nearest->all.overall, 1.0, /*surely=*/true);
  target.measured += Join(" to the nearest, `", nearest->opponent.spec, "`");
  if (!unmeasured.empty()) target.measured += Join("; without a figure: ", unmeasured);
  return target;
}

// 1.4 times better than the aware max-min LP at each load that it sustains.
Target BeatsLp(const ClusterResult& result, const LoadGrid& grid, const ReproductionRuns& runs) {
  const std::string
      name = "1, oracle",
      asked = "1.4 times below the aware max-min LP (`gavel`) where it is stable: ratio at most 0.714";
  const ClusterRow* gavel = result.Find("gavel");
  if (gavel == nullptr || result.policies.empty()) return NotMeasured(name, asked, "no runs");
  std::vector<std::size_t> stable;
  for (std::size_t load = 0; load < grid.loads.size(); ++load) {
    if (gavel->at[load].why.empty() && !gavel->at[load].unstable) stable.push_back(load);
  }
  if (stable.empty()) return NotMeasured(name, asked, "it is stable at no load");
  Target worst;
  double largest = -1.0;
  for (const std::size_t load : stable) {
    const Interval& ratio = gavel->all.each[load];
    if (std::isnan(ratio.mean) || ratio.mean <= largest) continue;
    largest = ratio.mean;
    worst = RatioTarget(name, asked, ratio, 1.0 / 1.4, false);
    worst.measured += Join(" at ", grid.loads[load].Name(), ", the least of ", stable.size(), " loads");
    Grid least(grid.loads.size());
    least[load] = LeastMeanJcts(grid, load);
    BoundInExpectation(worst, CompareAt({least}, grid.MeanJcts(runs, "gavel"), {load}).overall, 1.0 / 1.4);
  }
  return largest < 0.0 ? NotMeasured(name, asked, "no common runs") : worst;
}

}  // namespace

const ClusterRow* ClusterResult::Find(const std::string& spec) const {
  for (const ClusterRow& row : rows) {
    if (row.opponent.spec == spec) return &row;
  }
  return nullptr;
}

ClusterResult MeasurePart(const ClusterPart& part, const LearnedSettings& settings, const LoadGrid& grid,
                          const Opponents& opponents, const ReproductionRuns& runs) {
  ClusterResult result;
  result.specs = settings.policies.Specs(part.policy);
  result.policies = Grids(grid, runs, result.specs);
  for (const Opponent& opponent : opponents.run) {
    if (opponent.knowledge > part.knowledge) continue;
    ClusterRow row{opponent, {}, {}, {}, {}, {}};
    for (std::size_t load = 0; load < grid.loads.size(); ++load)
      row.at.push_back(ResultAt(grid, runs, load, opponent.spec));
    if (!result.policies.empty()) {
      const Grid other = grid.MeanJcts(runs, opponent.spec);
      row.all = CompareAt(result.policies, other, Where(grid, true, true));
      std::vector<std::string> both = result.specs;
      both.push_back(opponent.spec);
      row.carried =
          CompareAt(result.policies, other, CarriedLoads(grid, runs, both, Where(grid, true, true)));
      row.singles = CompareAt(result.policies, other, Where(grid, true, false));
      row.gangs = CompareAt(result.policies, other, Where(grid, false, true));
    }
    result.rows.push_back(std::move(row));
  }
  // Without policies by the mean JCT, which orders alike where all ran at every load.
  const auto key = [&](const ClusterRow& row) {
    if (!result.policies.empty()) return std::isnan(row.all.overall.mean) ? -1.0 : row.all.overall.mean;
    double sum = 0.0;
    for (const LoadResult& at : row.at) sum += std::isnan(at.jct_s.mean) ? 1e12 : at.jct_s.mean;
    return -sum;
  };
  std::stable_sort(result.rows.begin(), result.rows.end(),
                   [&](const ClusterRow& a, const ClusterRow& b) { return key(a) > key(b); });
  return result;
}

void AddClusterTargets(const ClusterPart& part, const ClusterResult& result, const LoadGrid& grid,
                       const ReproductionRuns& runs, std::vector<Target>& targets) {
  const auto ratio = [&](const char* asked, const char* spec, Comparison ClusterRow::*which, double bound) {
    const std::string name = Join("1, ", part.name);
    const ClusterRow* row = result.Find(spec);
    targets.push_back(row == nullptr || result.policies.empty()
                          ? NotMeasured(name, asked, result.policies.empty() ? "no policies" : "no runs")
                          : RatioTarget(name, asked, (row->*which).overall, bound, false));
  };
  if (part.knowledge == Knowledge::kOracle) {
    ratio("mean over the loads at least 15% below `srpt`: ratio at most 0.85", "srpt", &ClusterRow::all,
          0.85);
    targets.push_back(BelowAll(part, result, "srpt"));
    targets.push_back(BeatsLp(result, grid, runs));
  } else {
    ratio("single GPUs at least 25% below `las`: ratio at most 0.75", "las", &ClusterRow::singles, 0.75);
    ratio("gangs at least 15% below `las`: ratio at most 0.85", "las", &ClusterRow::gangs, 0.85);
    targets.push_back(BelowAll(part, result, "las"));
  }
}

}  // namespace berth
