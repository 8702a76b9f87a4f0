// What --audit costs: CPU time with it over CPU time without, for the same work in turn.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "data/workloads.hpp"
#include "env/sim/auditor.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/work.hpp"

namespace berth::bench {
namespace {

Measured Ratio(const BenchSetup& setup, const std::function<double()>& cpu_s) {
  Measured measured;
  cpu_s();
  for (int i = 0; i < setup.repeats; ++i) {
    const double plain = cpu_s();
    const Audited audited;
    measured.values.push_back(cpu_s() / plain);
  }
  return measured;
}

Measured Simulations(const BenchSetup& setup, const std::string& workload, const std::string& cluster,
                     const Clock& clock, const std::string& scheduler) {
  const Scenario scenario = Generated(workload, cluster, clock);
  return Ratio(setup, [&] { return Simulate(scenario, scheduler, {}, 1).front().cpu_s; });
}

Measured Evaluations(const BenchSetup& setup) {
  const EvaluationPlan plan = EvaluationRuns(1);
  return Ratio(setup, [&] {
    const double begin = CpuSeconds();
    Evaluate(plan);
    return CpuSeconds() - begin;
  });
}

Measured Steps(const BenchSetup& setup) {
  return Ratio(setup, [&] {
    const std::unique_ptr<BatchEnv> env = DefaultEnv(16, 1);
    RandomActor actor(*env);
    const double begin = CpuSeconds();
    for (std::int64_t steps = 0; steps < 200'000;) steps += actor.Step(100);
    return CpuSeconds() - begin;
  });
}

constexpr BenchRow kAuditRows[] = {
    {"audit/evaluate", "64 evaluation runs with --audit against without", "times", Bound::kAtMost, 2, 0,
     Evaluations},
    {"audit/env", "steps of the default environment, the same", "times", Bound::kAtMost, 2, 0, Steps},
    {"audit/event", "the default workload, clock event, easy", "times", Bound::kAtMost, 2, 0,
     [](const BenchSetup& setup) {
       return Simulations(setup, kDefaultWorkload, kDefaultCluster, {ClockKind::kEvent}, "easy");
     }},
    {"audit/gavel", "the default workload, gavel(objective=max_min)", "times", Bound::kAtMost, 2, 0,
     [](const BenchSetup& setup) {
       return Simulations(setup, kDefaultWorkload, kDefaultCluster, {ClockKind::kRounds, 360.0},
                          "gavel(objective=max_min)");
     }},
    {"audit/large", "1,080 GPUs, 20,000 jobs at 48/h, clock event, srpt", "times", Bound::kAtMost, 2, 0,
     [](const BenchSetup& setup) {
       return Simulations(setup, "synthetic(rate=48,jobs=20000)", "v100=360,p100=360,k80=360",
                          {ClockKind::kEvent}, "srpt");
     }},
};

}  // namespace

std::span<const BenchRow> AuditRows() {
  return kAuditRows;
}

}  // namespace berth::bench
