// What is asked of policies by gradient, and whether it is met.
#include <cmath>

#include "env/base/check.hpp"
#include "tools/reproduce/learned/bound.hpp"
#include "tools/reproduce/learned/gradient/seed_results.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

// The targets of one training, in the words of the table.
class Targets {
 public:
  Targets(SeedResults& results, std::vector<Target>& out) : results_(results), out_(out) {}

  using OfFigures = Target (*)(const SeedTarget&, const SeedFigures&, double);
  void Add(const std::string& row, const std::string& asked, const char* set, std::int64_t steps,
           OfFigures judge, double bound) {
    const auto figures = results_.Figures(set, steps);
    out_.push_back(figures ? judge(Of(row, asked), *figures, bound)
                           : NotMeasured(row, asked, results_.WhyNone(set, steps)));
  }

  void AddNeverWorse(const std::string& row, const char* set) {
    AtSteps at;
    std::string asked;
    for (const std::int64_t steps : SetNamed(set).steps) {
      at.emplace_back(steps, results_.Figures(set, steps));
      asked += Join(asked.empty() ? "" : ", ", StepsText(steps));
    }
    out_.push_back(NeverWorse(Of(row, Join("more steps never worse than fewer, to 1%: ", asked)), at, 0.01));
  }

  void AddDqn(const std::string& row, const char* dqn, const char* ppo, std::int64_t steps) {
    const std::string asked = Join("DQN at most 2% above PPO, ", StepsText(steps), " steps");
    for (const char* set : {dqn, ppo}) {
      if (results_.Policies(set, steps).empty()) {
        out_.push_back(NotMeasured(row, asked, results_.WhyNone(set, steps)));
        return;
      }
    }
    const std::vector<Grid> policies = results_.Policies(dqn, steps);
    const Comparison over = Compare(policies, MeanGrid(results_.Policies(ppo, steps)), kBootstrapSeed);
    out_.push_back(RatioOfSeeds(Of(row, asked), policies.size(), over.overall, 1.02, /*surely=*/false));
  }

  // Row 1's long training beside the policies by a search, and how much of what is left it closes.
  void AddSearched(const std::string& row, std::int64_t steps) {
    const std::string below = Join(StepsText(steps),
                                   " steps: below the searched policies, the interval apart from 1"),
                      closes = Join(
                          StepsText(steps),
                          " steps: a third or more of what lies between those and the bound in expectation "
                          "closed, over the loads that are carried");
    const GradientTask& task = results_.Task(MeasuredOn::kSixLoads);
    const std::vector<std::string> searched = results_.settings().policies.Specs(kSearchedPolicies);
    const std::vector<Grid> policies = results_.Policies("oracle", steps);
    if (searched.empty() || policies.empty()) {
      const std::string why = policies.empty() ? results_.WhyNone("oracle", steps)
                                               : Join("no policies `", kSearchedPolicies, "`");
      for (const std::string& asked : {below, closes}) out_.push_back(NotMeasured(row, asked, why));
      return;
    }
    const Grid other = MeanGrid(task.MeanJcts(results_.runs(), searched));
    out_.push_back(RatioOfSeeds(Of(row, below), policies.size(),
                                Compare(policies, other, kBootstrapSeed).overall, 1.0, /*surely=*/true));
    std::vector<std::string> all = searched;
    for (const std::string& spec : results_.shelf().Specs(SetNamed("oracle"), steps)) all.push_back(spec);
    out_.push_back(Closed(Of(row, closes), all, MeanGrid(policies), other, policies.size()));
  }

 private:
  SeedTarget Of(const std::string& row, const std::string& asked) const {
    return {row, asked, /*judged=*/!results_.settings().quick};
  }

  // Sums over loads and workloads of: least there can be in expectation, searched, trained.
  Target Closed(const SeedTarget& target, const std::vector<std::string>& specs, const Grid& trained,
                const Grid& searched, std::size_t seeds) {
    const LoadGrid& grid = results_.Task(MeasuredOn::kSixLoads).loads();
    std::vector<std::size_t> loads(grid.loads.size());
    for (std::size_t i = 0; i < loads.size(); ++i) loads[i] = i;
    double least_s = 0.0, searched_s = 0.0, trained_s = 0.0;
    std::string names;
    for (const std::size_t load : CarriedLoads(grid, results_.runs(), specs, loads)) {
      const std::vector<double> least = LeastMeanJcts(grid, load);
      double sums[3] = {};
      for (std::size_t w = 0; w < grid.seeds.size(); ++w)
        sums[0] += least[w], sums[1] += searched[load][w], sums[2] += trained[load][w];
      if (std::isnan(sums[0] + sums[1] + sums[2])) continue;  // more work than GPUs
      least_s += sums[0], searched_s += sums[1], trained_s += sums[2];
      names += Join(names.empty() ? "" : ", ", grid.loads[load].Name());
    }
    if (names.empty()) return NotMeasured(target.row, target.asked, "no load is carried and bounded");
    if (searched_s <= least_s)  // on few workloads it may be: the bound is an expectation
      return NotMeasured(target.row, target.asked, "the searched policies are not above the bound");
    const double share = (searched_s - trained_s) / (searched_s - least_s);
    return JudgeSeeds(target, Join(Fixed(100.0 * share, 0), "% at ", names), seeds, share >= 1.0 / 3.0,
                      /*by_any_seed=*/false);
  }

  SeedResults& results_;
  std::vector<Target>& out_;
};

}  // namespace

void AddSeedTargets(SeedResults& results, std::vector<Target>& out) {
  Targets targets(results, out);
  const std::string row = "gradient, ";
  for (const std::int64_t steps : SetNamed("singles").steps)
    targets.Add(row + "single jobs",
                Join("every seed at most 1.005 of `nash_welfare`, ", StepsText(steps), " steps"), "singles",
                steps, EverySeed, 1.005);
  targets.Add(row + "gangs", "every seed at most 0.94 of the best registered rule, 1M steps", "gangs",
              kMillion, EverySeed, 0.94);
  targets.Add(row + "gangs", "mean at most 0.89 of it, 20M steps", "gangs", 20 * kMillion, MeanOfSeeds, 0.89);
  targets.Add(row + "row 1, oracle",
              "every seed at most 1.00 of `nash_welfare(weight=gpu)`, six loads, 2M steps", "oracle",
              2 * kMillion, EverySeed, 1.0);
  targets.AddSearched(row + "row 1, oracle", 20 * kMillion);
  for (const std::int64_t steps : SetNamed("blind").steps)
    targets.Add(row + "row 1, blind",
                Join("mean at most 0.93 of the best blind rule, six loads, ", StepsText(steps), " steps"),
                "blind", steps, MeanOfSeeds, 0.93);
  struct Stable {
    const char *row, *set;
    std::int64_t steps;
  };
  constexpr Stable kStable[] = {
      {"single jobs", "singles", kMillion / 2},          {"gangs", "gangs", kMillion},
      {"row 1, oracle", "oracle", 2 * kMillion},         {"row 1, oracle", "oracle", 20 * kMillion},
      {"row 1, blind", "blind", 2 * kMillion},           {"row 1, blind", "blind", 20 * kMillion},
      {"single jobs, DQN", "singles_dqn", kMillion / 2}, {"gangs, DQN", "gangs_dqn", kMillion}};
  for (const auto& [name, set, steps] : kStable) {
    targets.Add(row + name, Join("worst seed at most 1.02 of the best, ", StepsText(steps), " steps"), set,
                steps, SpreadOfSeeds, 1.02);
    if (SetNamed(set).Draws())
      targets.Add(row + name, Join("drawing within 5% of greedy, every seed, ", StepsText(steps), " steps"),
                  set, steps, SampledOfSeeds, 0.05);
  }
  constexpr const char* kLonger[][2] = {
      {"single jobs", "singles"}, {"gangs", "gangs"}, {"row 1, oracle", "oracle"}, {"row 1, blind", "blind"}};
  for (const auto& [name, set] : kLonger) targets.AddNeverWorse(row + name, set);
  targets.AddDqn(row + "single jobs", "singles_dqn", "singles", kMillion / 2);
  targets.AddDqn(row + "gangs", "gangs_dqn", "gangs", kMillion);
}

}  // namespace berth
