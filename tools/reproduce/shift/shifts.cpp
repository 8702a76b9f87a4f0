#include "tools/reproduce/shift/shifts.hpp"

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/features/table.hpp"
#include "tools/scenario_options.hpp"

namespace berth {
namespace {

// 1.2 single-GPU jobs an hour on 24 GPUs are 5.4 on the 108 of `reproduce learned`.
constexpr Shift kShifts[] = {
    {"none", "rate=1.2"},
    {"load x 0.7", "rate=0.84"},
    {"load x 1.1", "rate=1.32"},
    {"load x 1.2", "rate=1.44"},
    {"gangs of 1 to 8", "rate=0.5,gangs=multi"},
    {"half are gangs of 8", "rate=0.19,gangs=1:0.5/8:0.5"},
    {"one GPU type", "rate=1.2", "v100=18"},
    {"few fast GPUs", "rate=0.8", "v100=2,p100=4,k80=30"},
    {"run times wrong, sigma 1", "rate=1.2", "v100=8,p100=8,k80=8", 1.0},
    {"rates estimated from 20%", "rate=1.2", "v100=8,p100=8,k80=8", 0.0,
     "estimates(by=completion(observed=0.2))"},
    {"bursts, ten times the rate", "rate=1,arrivals=mmpp(burst=10)"},
    {"load drifts by the week, +-80%", "rate=1,arrivals=diurnal(swing=0.8,period_h=168)"},
    {"GPUs fail every 100 h", "rate=1", "v100=8,p100=8,k80=8", 0.0, "failures(mtbf_h=100,repair_h=4)"},
    {"a stop costs 30 min", "rate=1.2", "v100=8,p100=8,k80=8", 0.0, "", {600.0, 1200.0, 0.0}},
};

constexpr const char* kOracleRules[] = {"srpt", "nash_welfare", "nash_welfare(weight=gpu)", "matching"};
constexpr const char* kBlindRules[] = {"las", "proportional_fairness", "tuned_blind", "fcfs"};
constexpr const char* kKnown = "run times known (or estimated, where a shift says so)";
constexpr ShiftPart kParts[] = {
    {kKnown, "hetero_oracle_gradient", Knowledge::kOracle, kOracleRules},
    {"blind", "hetero_blind_gradient", Knowledge::kBlind, kBlindRules},
    {kKnown, "hetero_oracle", Knowledge::kOracle, kOracleRules},
    {"blind", "hetero_blind", Knowledge::kBlind, kBlindRules},
};

}  // namespace

std::span<const Shift> Shifts() {
  return kShifts;
}

std::span<const ShiftPart> ShiftParts() {
  return kParts;
}

PlannedWorkload WorkloadOf(const Shift& shift, Knowledge knowledge, std::uint64_t seed) {
  if (shift.sigma > 0.0 && knowledge == Knowledge::kOracle) knowledge = Knowledge::kEstimate;
  const std::string spec = Join("synthetic(jobs=1000,", shift.workload, ")");
  const auto make = [&shift, spec, knowledge, seed] {
    ScenarioSettings settings;
    settings.cluster = ParseCluster(shift.cluster);
    settings.clock = {ClockKind::kRounds, 360.0};
    settings.knowledge = knowledge;
    settings.estimate_sigma = knowledge == Knowledge::kEstimate ? shift.sigma : 0.0;
    settings.costs = shift.costs;
    settings.features = ParseFeatures(shift.features);
    return EvaluationScenario(*MakeWorkload(spec, settings), seed);
  };
  return {Join(shift.name, ", ", ToString(knowledge), ", seed ", seed), {300, 700}, make, /*keep_jct=*/false};
}

}  // namespace berth
