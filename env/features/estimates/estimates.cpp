// What is learned of throughputs while jobs run: at a decision point every rate at which something has run
// since the previous one is known exactly, for all jobs of the same job type and gang, or pair of job types.
#include "env/features/estimates/estimates.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/predict/estimation/estimator.hpp"
#include "env/sim/simulator.hpp"

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

BelievedRates EstimatedRates(const ScenarioData& scenario) {
  const std::string& by = scenario.features.estimates->by;
  if (by == kTable) return scenario.believed;
  const ThroughputTable believed =
      RateEstimates(by)
          .Estimate(scenario.throughputs, static_cast<int>(scenario.cluster.types.size()))
          .believed;
  return {believed.alone, believed.pairs};
}

void EstimateEngine::Start(Simulator& sim) {
  EstimateState state;
  const Scenario& scenario = sim.scenario();
  if (scenario.data().features.estimates->learn) {
    const ThroughputTable& table = scenario.data().throughputs;
    const auto cells = U(scenario.num_jobs()) * U(scenario.num_types());
    state.rate.assign(scenario.told_rates(), scenario.told_rates() + cells);
    state.best_rate.assign(scenario.told_best_rates(), scenario.told_best_rates() + scenario.num_jobs());
    state.pairs = scenario.believed().pairs;
    state.measured.assign(table.alone.size(), 0);
    state.measured_pairs.assign(table.pairs.size() / 2, 0);
  }
  sim.state_.estimates = Owned<EstimateState>::Make(std::move(state));
}

void EstimateEngine::NoteRuns(Simulator& sim) {
  const SimState& s = sim.state_;
  EstimateState& state = *sim.state_.estimates;
  if (state.measured.empty()) return;
  const ScenarioData& data = sim.scenario().data();
  const ThroughputTable& table = data.throughputs;
  const int sizes = static_cast<int>(table.gang_sizes.size()), types = sim.scenario().num_types();
  state.runs.clear();
  for (int job : s.running) {
    const int gang = data.jobs.gang[U(job)], type = s.on_type[U(job)], partner = s.partner[U(job)];
    const Scenario& scenario = sim.scenario();
    // Another rate than the table's, by width, place, clock, slice or what else features say, teaches
    // nothing.
    if (s.rate[U(job)] != (partner < 0 ? scenario.Rate(job, type) : scenario.PairRate(job, partner, type)))
      continue;
    const int job_type = data.jobs.job_type[U(job)];
    const int size = static_cast<int>(
        std::lower_bound(table.gang_sizes.begin(), table.gang_sizes.end(), gang) - table.gang_sizes.begin());
    const int beside = partner < 0 ? -1 : data.jobs.job_type[U(partner)];
    const bool known =
        beside < 0 ? state.measured[U((job_type * sizes + size) * types + type)] != 0
                   : state.measured_pairs[U(
                         (job_type * static_cast<int>(table.job_types.size()) + beside) * types + type)] != 0;
    if (!known) state.runs.push_back({job_type, size, type, beside, s.progress_from[U(job)]});
  }
}

void EstimateEngine::Learn(Simulator& sim) {
  EstimateState& state = *sim.state_.estimates;
  if (state.runs.empty()) return;
  const Scenario& scenario = sim.scenario();
  const ScenarioData& data = scenario.data();
  const ThroughputTable& table = data.throughputs;
  const int sizes = static_cast<int>(table.gang_sizes.size()), types = scenario.num_types();
  const int kinds = static_cast<int>(table.job_types.size());
  bool learned = false;
  for (const EstimateState::Run& run : state.runs) {
    if (sim.now() <= run.since) continue;
    learned = true;
    if (run.beside >= 0) {
      for (const auto& [a, b] : {std::pair{run.job_type, run.beside}, std::pair{run.beside, run.job_type}}) {
        const std::size_t at = U((a * kinds + b) * types + run.gpu_type);
        state.measured_pairs[at] = 1;
        for (std::size_t side : {2 * at, 2 * at + 1}) state.pairs[side] = table.pairs[side];
      }
      continue;
    }
    char& measured = state.measured[U((run.job_type * sizes + run.size) * types + run.gpu_type)];
    if (measured != 0) continue;  // another job of these runs was the same
    measured = 1;
    for (int job = 0; job < scenario.num_jobs(); ++job) {
      if (data.jobs.job_type[U(job)] != run.job_type ||
          data.jobs.gang[U(job)] != table.gang_sizes[U(run.size)])
        continue;
      double* rates = state.rate.data() + U(job) * U(types);
      rates[run.gpu_type] = scenario.Rate(job, run.gpu_type);
      state.best_rate[U(job)] = *std::max_element(rates, rates + types);
    }
  }
  state.runs.clear();
  if (!learned) return;
  ++state.version;
  sim.state_.changed_since = 0;  // nobody follows: whoever remembers rates looks at everything again
}

void ClusterView::ReadEstimates() {
  const EstimateState& state = *state_->estimates;
  estimated_ = true;
  told_pairs_ = &scenario_->believed().pairs;
  if (state.rate.empty()) return;
  rates_ = state.rate.data();
  best_rates_ = state.best_rate.data();
  told_pairs_ = &state.pairs;
  rates_version_ = state.version;
}

}  // namespace berth
