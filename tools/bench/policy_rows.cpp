// Exported policies, torch-free: one whole decision, from the view to the commands (encode, score, fill).
#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/gym/actions/action_set.hpp"
#include "env/gym/decision_point.hpp"
#include "env/gym/encoder.hpp"
#include "env/sim/simulator.hpp"
#include "policies/foreign_decider.hpp"
#include "policies/schedulers.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/random_policy.hpp"

namespace berth::bench {
namespace {

// Who decides about what.
struct PolicyCase {
  const char* network;
  int jobs;
  const char* cluster = kDefaultCluster;
  const char* features = "";  // with their blocks and commands
};

// A network that takes any queue, trained at Q = 32: in turn at two moments of one run, so that every age and
// the progress of all who run are other ones each time. The encoder remembers only what a run would let it
// remember; with nothing remembered: `first_us`.
Measured Decide(const BenchSetup& setup, const PolicyCase& of) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(of.cluster);
  settings.features = ParseFeatures(of.features);
  settings.clock = {ClockKind::kRounds, 360.0};
  const Scenario scenario =
      MakeWorkload(Join("synthetic(rate=0,jobs=", of.jobs, settings.features.any() ? ",gangs=multi)" : ")"),
                   settings)
          ->Make(/*seed=*/1000, Split::kEvaluate, 0, 0);
  MdpSpec mdp;
  mdp.visible = 32;
  mdp.on_change = false;  // every boundary is a decision
  mdp.actions = ActionsOf(settings.features);
  if (settings.features.any())
    mdp.encoder = ResolveEncoder(RichestEncoder(settings.features, mdp.semantics, mdp.knowledge));
  const ObservationLayout layout = LayoutOf(mdp, scenario);
  Stream weights(/*seed=*/1, Purpose::kTest);
  PolicyBundle policy = RandomPolicy(of.network, layout, layout.q * layout.g + 1, weights);
  policy.mdp = mdp;
  const auto scheduler = MakePolicyScheduler(std::move(policy), "bench", /*sample=*/false);
  Decision decision;
  const auto decide = [&](const Simulator& simulator) {
    decision.Clear();
    scheduler->Decide(simulator.View(Knowledge::kOracle), decision);
  };
  Simulator moments[] = {Simulator(scenario), Simulator(scenario)};
  for (Simulator& simulator : moments) {
    if (!simulator.AdvanceToDecision()) throw Error("the workload has no decision");
    scheduler->Reset(simulator.View(Knowledge::kOracle));
    for (int rounds = &simulator - moments + 1; rounds > 0; --rounds) {
      decide(simulator);
      const bool goes_on = simulator.Apply(decision).ok() && simulator.AdvanceToDecision();
      BERTH_CHECK(goes_on, "the workload ended");
    }
  }
  const auto microseconds = [&](bool forget) {
    std::vector<double> values;
    for (const double rate : RatesPerCpuSecond(setup.seconds, setup.repeats, [&] {
           constexpr int kTimes = 16;
           for (int i = 0; i < kTimes; ++i) {
             if (forget) scheduler->Reset(moments[i % 2].View(Knowledge::kOracle));
             decide(moments[i % 2]);
           }
           return std::int64_t{kTimes};
         })) {
      values.push_back(1e6 / rate);
    }
    return values;
  };
  Measured measured;
  measured.values = microseconds(/*forget=*/false);
  measured.detail = {{"jobs", of.jobs},
                     {"jobs_in_system", moments[1].jobs_in_system()},
                     {"types", scenario.num_types()},
                     {"commands", decision.commands.size()},
                     {"first_us", SpreadOf(microseconds(/*forget=*/true)).median}};
  return measured;
}

// The same decision as a program that is not ours asks for it (libberth.so, `berth serve`): nothing is
// remembered, and the cluster comes as arrays. All jobs wait, as at the start of the run above.
Measured DecideForeign(const BenchSetup& setup, int jobs) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(kDefaultCluster);
  const Scenario scenario = MakeWorkload(Join("synthetic(rate=0,jobs=", jobs, ")"), settings)
                                ->Make(/*seed=*/1000, Split::kEvaluate, 0, 0);
  const ObservationLayout layout = ObservationV1::Layout(32, scenario.num_types());
  Stream weights(/*seed=*/1, Purpose::kTest);
  ForeignDecider decider(RandomPolicy("pair_scorer", layout, layout.q * layout.g + 1, weights), "bench");
  std::vector<ForeignJob> list;
  std::vector<double> rates;
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    const JobTable& table = scenario.data().jobs;
    ForeignJob row;
    row.remaining_steps = table.total_steps[static_cast<std::size_t>(job)];
    row.gang = table.gang[static_cast<std::size_t>(job)];
    list.push_back(row);
    rates.insert(rates.end(), scenario.Rates(job).begin(), scenario.Rates(job).end());
  }
  ForeignCluster cluster{0.0, scenario.data().cluster.types, list, rates, true};
  std::vector<int> runs_on(list.size());
  Measured measured;
  for (const double rate : RatesPerCpuSecond(setup.seconds, setup.repeats, [&] {
         constexpr int kTimes = 16;
         for (int i = 0; i < kTimes; ++i) {
           cluster.now_s += 1.0;
           decider.Decide(cluster, runs_on);
         }
         return std::int64_t{kTimes};
       })) {
    measured.values.push_back(1e6 / rate);
  }
  measured.detail = {{"jobs", jobs}, {"types", scenario.num_types()}};
  return measured;
}

constexpr BenchRow kPolicyRows[] = {
    {"policy/decide_32x3", "one decision of an exported pair-scoring policy, 32 jobs x 3 types", "us CPU",
     Bound::kAtMost, 20, 0,
     [](const BenchSetup& setup) {
       return Decide(setup, {"pair_scorer", 32});
     }},
    {"policy/decide_1000x3", "the same with 1,000 jobs", "us CPU", Bound::kAtMost, 400, 0,
     [](const BenchSetup& setup) {
       return Decide(setup, {"pair_scorer", 1000});
     }},
    {"policy/attention_32x3", "one decision of set_attention (2 blocks, width 64), 32 jobs x 3 types",
     "us CPU", Bound::kAtMost, 300, 0,
     [](const BenchSetup& setup) {
       return Decide(setup, {"set_attention", 32});
     }},
    {"policy/memory_32x3", "the same with memory=16 (GRU)", "us CPU", Bound::kAtMost, 300, 0,
     [](const BenchSetup& setup) {
       return Decide(setup, {"set_attention(memory=16)", 32});
     }},
    {"policy/attention_4096x3", "set_attention with 4,096 jobs", "us CPU", Bound::kNone, 0, 0,
     [](const BenchSetup& setup) {
       return Decide(setup, {"set_attention", 4096});
     }},
    {"policy/commands_1000",
     "one decision about 1,000 jobs on 10,000 GPUs, with elasticity;topology;failures and their commands",
     "us CPU", Bound::kAtMost, 1e6, 0,
     [](const BenchSetup& setup) {
       return Decide(setup, {"pair_scorer", 1000, "v100=4000/8,p100=3000/8,k80=3000/8",
                             "elasticity;topology;failures"});
     }},
    {"policy/foreign_32x3", "the same for a program that is not ours (C API), 32 jobs x 3 types", "us CPU",
     Bound::kNone, 0, 0, [](const BenchSetup& setup) { return DecideForeign(setup, 32); }},
    {"policy/foreign_1000x3", "the same with 1,000 jobs", "us CPU", Bound::kNone, 0, 0,
     [](const BenchSetup& setup) { return DecideForeign(setup, 1000); }},
};

}  // namespace

std::span<const BenchRow> PolicyRows() {
  return kPolicyRows;
}

}  // namespace berth::bench
