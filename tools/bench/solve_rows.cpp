// Gavel's policies alone, against the reference's own times on one core.
#include "baselines/gavel/objective_list.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/work.hpp"

namespace berth::bench {
namespace {

// `reference_s`: mean CPU time of the policy in Gavel's own code.
Measured Against(double reference_s, const gavel::ObjectiveInfo& objective, bool packed, int jobs,
                 const BenchSetup& setup) {
  const std::vector<double> seconds = SolveTimes(objective, packed, SolveInstance(jobs), setup.repeats);
  Measured measured;
  for (const double s : seconds) measured.values.push_back(reference_s / s);
  measured.detail = {{"cpu_s", SpreadOf(seconds).median}, {"reference_s", reference_s}};
  return measured;
}

Measured Alone(int jobs) {
  return {SolveMaxMin(SolveInstance(jobs), 1), "", Json::object()};
}

constexpr BenchRow kSolveRows[] = {
    {"solve/max_min_2048", "aware max-min, 2,048 jobs, against the reference's 0.080 s", "times",
     Bound::kAtLeast, 50, 0,
     [](const BenchSetup& setup) { return Against(0.0797, gavel::MaxMinObjective(), false, 2048, setup); }},
    {"solve/makespan_2048", "makespan, 2,048 jobs, against the reference's 0.249 s", "times", Bound::kAtLeast,
     50, 0,
     [](const BenchSetup& setup) { return Against(0.2485, gavel::MakespanObjective(), false, 2048, setup); }},
    {"solve/finish_time_fairness_2048", "finish-time fairness, 2,048 jobs, against the reference's 8.6 s",
     "times", Bound::kAtLeast, 500, 0,
     [](const BenchSetup& setup) {
       return Against(8.6219, gavel::FinishTimeFairnessObjective(), false, 2048, setup);
     }},
    {"solve/water_filling_1024", "water filling, 1,024 jobs, against the reference's 28.8 s", "times",
     Bound::kAtLeast, 500, 0,
     [](const BenchSetup& setup) {
       return Against(28.7824, gavel::WaterFillingObjective(), false, 1024, setup);
     }},
    {"solve/packed_max_min_256", "max-min with pairs of jobs on a GPU, 256 jobs, against 3.8 s", "times",
     Bound::kAtLeast, 50, 0,
     [](const BenchSetup& setup) { return Against(3.8312, gavel::MaxMinObjective(), true, 256, setup); }},
    {"solve/max_min_100k", "aware max-min, 100,000 jobs", "CPU s", Bound::kAtMost, 0.5, 0,
     [](const BenchSetup&) { return Alone(100'000); }},
    {"solve/max_min_1m", "aware max-min, 1,000,000 jobs", "CPU s", Bound::kAtMost, 5, 0,
     [](const BenchSetup&) { return Alone(1'000'000); }},
};

}  // namespace

std::span<const BenchRow> SolveRows() {
  return kSolveRows;
}

}  // namespace berth::bench
