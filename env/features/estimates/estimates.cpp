// What is learned of throughputs while jobs run: at a decision point every rate at which something has run
// since the previous one is known exactly, for all jobs of the same job type and gang, or pair of job types.
#include "env/features/estimates/estimates.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/predict/estimation/estimator.hpp"
#include "env/sim/core.hpp"

namespace berth {
namespace {

constexpr const char* kTable = "table";

void CheckTable(const std::vector<double>& believed, const std::vector<double>& truth, const char* name) {
  if (believed.size() != truth.size()) {
    throw Error(Join("believed throughputs: ", name, ": expected ", truth.size(), " entries, found ",
                     believed.size()));
  }
  for (std::size_t at = 0; at < truth.size(); ++at) {
    if (truth[at] > 0.0 ? believed[at] > 0.0 && std::isfinite(believed[at]) : believed[at] == 0.0) continue;
    throw Error(Join("believed throughputs: ", name, ": entry ", at, ": expected ",
                     truth[at] > 0.0 ? "steps/s > 0" : "0, since it cannot run", ", found ", believed[at]));
  }
}

}  // namespace

std::span<const Field<EstimateSettings>> EstimateSettings::Fields() {
  using S = EstimateSettings;
  static const std::array kFields = {
      Field<S>{"by", &S::by,
               "completion(...) | reference(...) | profiled(...), or table: the scenario's own believed one"},
      Field<S>{"learn", &S::learn, "once a job type has run on a GPU type, its rate there is known"},
  };
  return kFields;
}

void EstimateSettings::Check(const ScenarioData& scenario) const {
  if (by == kTable) {
    if (scenario.believed.alone.empty()) {
      throw Error(
          "feature 'estimates': by: expected a scenario file with believed throughputs for 'table' (or "
          "completion(...), reference(...), profiled(...)), found none");
    }
    CheckTable(scenario.believed.alone, scenario.throughputs.alone, "alone");
    CheckTable(scenario.believed.pairs, scenario.throughputs.pairs, "pairs");
    return;
  }
  try {
    RateEstimates estimates(by);
  } catch (const Error& error) {
    throw Error(Join("feature 'estimates': by: ", error.what()));
  }
}

bool EstimateSettings::Believe(const ScenarioData& scenario, BelievedRates& into) const {
  if (by == kTable) {
    into = scenario.believed;
    return true;
  }
  const ThroughputTable believed =
      RateEstimates(by)
          .Estimate(scenario.throughputs, static_cast<int>(scenario.cluster.types.size()))
          .believed;
  into = {believed.alone, believed.pairs};
  return true;
}

std::unique_ptr<FeatureState> EstimateSettings::MakeState(const Scenario&) const {
  return std::make_unique<EstimateState>(learn);
}

void EstimateState::Start(SimCore& core) {
  if (!learn_) return;
  const Scenario& scenario = core.scenario();
  const ThroughputTable& table = scenario.data().throughputs;
  ToldRates& told = core.state().told;
  const auto cells = U(scenario.num_jobs()) * U(scenario.num_types());
  told.rate.assign(scenario.told_rates(), scenario.told_rates() + cells);
  told.best_rate.assign(scenario.told_best_rates(), scenario.told_best_rates() + scenario.num_jobs());
  told.pairs = scenario.believed().pairs;
  measured_.assign(table.alone.size(), 0);
  measured_pairs_.assign(table.pairs.size() / 2, 0);
}

void EstimateState::BeforeAdvance(SimCore& core) {
  if (measured_.empty()) return;
  const SimState& s = core.state();
  const Scenario& scenario = core.scenario();
  const ScenarioData& data = scenario.data();
  const ThroughputTable& table = data.throughputs;
  const int sizes = static_cast<int>(table.gang_sizes.size()), types = scenario.num_types();
  runs_.clear();
  for (int job : s.running) {
    const int gang = data.jobs.gang[U(job)], type = s.on_type[U(job)], partner = s.partner[U(job)];
    // Another rate than the table's, by width, place, clock, slice or what else features say, teaches
    // nothing.
    if (s.rate[U(job)] != (partner < 0 ? scenario.Rate(job, type) : scenario.PairRate(job, partner, type)))
      continue;
    const int job_type = data.jobs.job_type[U(job)];
    const int size = static_cast<int>(
        std::lower_bound(table.gang_sizes.begin(), table.gang_sizes.end(), gang) - table.gang_sizes.begin());
    const int beside = partner < 0 ? -1 : data.jobs.job_type[U(partner)];
    const bool known =
        beside < 0 ? measured_[U((job_type * sizes + size) * types + type)] != 0
                   : measured_pairs_[U(
                         (job_type * static_cast<int>(table.job_types.size()) + beside) * types + type)] != 0;
    if (!known) runs_.push_back({job_type, size, type, beside, s.progress_from[U(job)]});
  }
}

void EstimateState::AfterAdvance(SimCore& core) {
  if (runs_.empty()) return;
  ToldRates& told = core.state().told;
  const Scenario& scenario = core.scenario();
  const ScenarioData& data = scenario.data();
  const ThroughputTable& table = data.throughputs;
  const int sizes = static_cast<int>(table.gang_sizes.size()), types = scenario.num_types();
  const int kinds = static_cast<int>(table.job_types.size());
  bool learned = false;
  for (const Run& run : runs_) {
    if (core.now() <= run.since) continue;
    learned = true;
    if (run.beside >= 0) {
      for (const auto& [a, b] : {std::pair{run.job_type, run.beside}, std::pair{run.beside, run.job_type}}) {
        const std::size_t at = U((a * kinds + b) * types + run.gpu_type);
        measured_pairs_[at] = 1;
        for (std::size_t side : {2 * at, 2 * at + 1}) told.pairs[side] = table.pairs[side];
      }
      continue;
    }
    char& measured = measured_[U((run.job_type * sizes + run.size) * types + run.gpu_type)];
    if (measured != 0) continue;  // another job of these runs was the same
    measured = 1;
    for (int job = 0; job < scenario.num_jobs(); ++job) {
      if (data.jobs.job_type[U(job)] != run.job_type ||
          data.jobs.gang[U(job)] != table.gang_sizes[U(run.size)])
        continue;
      double* rates = told.rate.data() + U(job) * U(types);
      rates[run.gpu_type] = scenario.Rate(job, run.gpu_type);
      told.best_rate[U(job)] = *std::max_element(rates, rates + types);
    }
  }
  runs_.clear();
  if (!learned) return;
  ++told.version;
  core.state().changed_since = 0;  // nobody follows: whoever remembers rates looks at everything again
}

FeatureModule EstimatesFeature() {
  return ModuleOf<EstimateSettings>();
}

}  // namespace berth
