// All that was measured of the gradient's policies: figures by training set and steps, beside the best rules.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/reproduce/learned/gradient/gradient_shelf.hpp"
#include "tools/reproduce/learned/gradient/gradient_task.hpp"
#include "tools/reproduce/learned/gradient/seed_figures.hpp"

namespace berth {

inline constexpr const char* kSearchedPolicies = "hetero_oracle";  // row 1's, by a search of weights

// What a training set of the experiment is measured beside.
struct SeedRow {
  const char* set;
  Knowledge knowledge;
  const char* baseline;  // "" = the best registered rule that knows no more
};
inline constexpr SeedRow kSeedRows[] = {{"singles", Knowledge::kOracle, "nash_welfare"},
                                        {"singles_dqn", Knowledge::kOracle, "nash_welfare"},
                                        {"gangs", Knowledge::kOracle, ""},
                                        {"gangs_dqn", Knowledge::kOracle, ""},
                                        {"oracle", Knowledge::kOracle, "nash_welfare(weight=gpu)"},
                                        {"blind", Knowledge::kBlind, ""}};

// Both arguments outlive it.
class SeedResults {
 public:
  SeedResults(const LearnedSettings& settings, const ReproductionRuns& runs);

  const GradientTask& Task(MeasuredOn on);
  const std::string& Baseline(const std::string& set) const;  // "" = no rule has run
  std::optional<GradientTask::Rule> Best(const std::string& set) const;
  std::optional<SeedFigures> Figures(const std::string& set, std::int64_t steps) const;
  std::vector<Grid> Policies(const std::string& set, std::int64_t steps) const;
  std::string WhyNone(const std::string& set, std::int64_t steps) const;  // why there are no figures

  const GradientShelf& shelf() const { return shelf_; }
  const LearnedSettings& settings() const { return settings_; }
  const ReproductionRuns& runs() const { return runs_; }

 private:
  using Key = std::pair<std::string, std::int64_t>;
  const LearnedSettings& settings_;
  const ReproductionRuns& runs_;
  GradientShelf shelf_;
  std::map<MeasuredOn, GradientTask> tasks_;
  std::map<std::string, GradientTask::Rule> best_;
  std::map<std::string, std::string> baseline_;
  std::map<Key, std::vector<Grid>> grids_;
  std::map<Key, std::optional<SeedFigures>> figures_;
};

// The rows that stand in the page's first table.
void AddSeedTargets(SeedResults& results, std::vector<Target>& out);

}  // namespace berth
