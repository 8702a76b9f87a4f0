// Frozen policies with more commands than starts: their files, their runs, and clusters that lack what they do.
#include <string>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/gym/decision_point.hpp"
#include "env/gym/vec_env.hpp"
#include "env/sim/simulator.hpp"
#include "policies/bundle.hpp"
#include "policies/policy_scheduler.hpp"
#include "tests/catch.hpp"
#include "tests/drawn_process.hpp"
#include "tests/errors.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

PolicyBundle WithCommands(const test::DrawnProcess& drawn, const std::string& network, std::uint64_t seed) {
  MdpSpec mdp = drawn.mdp;
  mdp.visible = 6;
  const ObservationLayout layout = LayoutOf(mdp, drawn.scenario);
  PolicyBundle bundle = test::RandomBundle(network, layout, layout.q * layout.g + 1, seed);
  bundle.mdp = mdp;
  bundle.gpu_types.clear();
  for (const GpuType& type : drawn.scenario.data().cluster.types) bundle.gpu_types.push_back(type.name);
  return bundle;
}

}  // namespace

TEST_CASE("a policy file names its actions, and its policy runs to the end of any cluster that has them") {
  const test::TemporaryFolder folder;
  Stream stream(4, Purpose::kScheduler);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    test::DrawnProcess drawn = test::DrawProcess(stream, seed);
    drawn.mdp.reread = drawn.mdp.actions != "start" && stream.Below(3) == 0;
    const std::string network = stream.Below(3) == 0 ? "mlp(hidden=8)"
                                : seed % 2 == 0         ? "pair_scorer(width=8,memory=4)"
                                                        : "pair_scorer(width=8,skip=true)";
    INFO("seed " << seed << ", " << network << ", " << drawn.mdp.ToString());
    SaveBundle(WithCommands(drawn, network, seed), folder / "policy.h5");
    PolicyBundle bundle = LoadBundle(folder / "policy.h5");
    CHECK(bundle.mdp.actions == drawn.mdp.actions);
    CHECK(bundle.mdp.reread == drawn.mdp.reread);
    PolicyScheduler policy(std::move(bundle), "policy.h5", /*sample=*/false);
    Simulator simulator(drawn.scenario);
    policy.Reset(simulator.View(Knowledge::kOracle));
    Decision decision;
    for (int i = 0; i < 300 && simulator.AdvanceToDecision(); ++i) {
      decision.Clear();
      policy.Decide(simulator.View(Knowledge::kOracle), decision);
      const ApplyResult result = simulator.Apply(decision);
      INFO(Explain(result, decision, simulator));
      REQUIRE(result.ok());
      REQUIRE(CheckInvariants(simulator) == "");
    }
  }
}

// They hold jobs back from types, which is not said of other commands, nor of scores that are taken anew.
TEST_CASE("a policy with reservations has no action but start") {
  const Scenario scenario = test::Tiny({{"v100", 4}}, {{1.0}}, {{0, 100}});
  for (const bool reread : {false, true}) {
    MdpSpec mdp;
    mdp.preemptive = false;
    mdp.visible = 4;
    mdp.reread = reread;
    if (!reread) mdp.actions = ResolveActions("start,reject");
    const ObservationLayout layout = LayoutOf(mdp, scenario);
    PolicyBundle bundle =
        test::RandomBundle("pair_scorer(width=8)", layout, layout.q * layout.g + 1, /*seed=*/1);
    bundle.mdp = mdp;
    CHECK_NOTHROW(PolicyScheduler(bundle, "mine.h5", /*sample=*/false));
    bundle.reserve = Reserve::kEasy;
    CHECK_THROWS_WITH(PolicyScheduler(bundle, "mine.h5", /*sample=*/false),
                      Catch::StartsWith("mine.h5: reserve: expected") && Catch::Contains("no action but start"));
  }
}

TEST_CASE("a policy in a cluster that lacks its commands says whose and which") {
  Stream stream(5, Purpose::kScheduler);
  for (std::uint64_t seed = 0;; ++seed) {
    const test::DrawnProcess drawn = test::DrawProcess(stream, seed);
    if (drawn.mdp.actions.find("resize") == std::string::npos) continue;
    PolicyScheduler policy(WithCommands(drawn, "pair_scorer(width=8)", 1), "mine.h5", /*sample=*/false);
    const Simulator rigid{Scenario(test::TinyData({{"v100", 4}}, {{1.0}}, {{0, 100}}))};
    const std::string said = test::MessageOf([&] { policy.Reset(rigid.View(Knowledge::kOracle)); });
    CHECK(said.find("mine.h5: actions: ") == 0);
    CHECK(said.find(": expected ") != std::string::npos);
    break;
  }
}

TEST_CASE("one process for clusters of other types and features: optional commands, observations of one size") {
  const ScenarioSettings settings;
  const auto source = MakeWorkload(
      "mix(of=on(cluster=v100=4/2+p100=4/2,features=elasticity(min_factor=0,max_factor=4,measured=false);"
      "topology,of=synthetic(rate=6,jobs=40,gangs=1:0.6/2:0.4));"
      "on(cluster=a100=3,features=none,of=synthetic(rate=2,jobs=40,table=modern));"
      "on(cluster=v100=2+p100=2+k80=2,features=services(rate_per_s=9,replicas=2,share=0.5),of=synthetic(rate=2,"
      "jobs=40)))",
      settings);
  REQUIRE(source->kinds() == 3);
  std::vector<Features> features;
  std::vector<Scenario> samples;
  for (std::uint32_t kind = 0; kind < 3; ++kind) {
    samples.push_back(source->Make(1, Split::kTrain, kind, 0, 1));
    features.push_back(samples.back().data().features);
  }
  CHECK(ActionsOf(features) == "start,gather?,resize?,replicas?");
  SchedEnvOptions options;
  options.mdp.actions = ActionsOf(features);
  options.mdp.visible = 5;
  options.episode_jobs = 20;
  options.seed = 1;
  const auto differ = [&] {
    const auto unlike = MakeVecEnv(source, options, 3, 1);
    StepStorage storage(3, unlike->layout().size(), unlike->num_actions());
    unlike->Reset(storage.buffers());
  };
  CHECK_THROWS_WITH(differ(), Catch::Contains("first one's"));
  int columns = 0, rows = 0;
  for (const Scenario& sample : samples) {
    const ObservationLayout layout = LayoutOf(options.mdp, sample);
    columns = std::max(columns, layout.g), rows = std::max(rows, layout.q);
  }
  options.mdp.columns = columns, options.mdp.rows = rows - options.mdp.visible;
  for (const Scenario& sample : samples) {
    const ObservationLayout layout = LayoutOf(options.mdp, sample);
    CHECK((layout.g == columns && layout.q == rows));
  }
  const auto env = MakeVecEnv(source, options, /*num_envs=*/6, /*threads=*/1);
  StepStorage storage(6, env->layout().size(), env->num_actions());
  env->Reset(storage.buffers());
  Stream stream(6, Purpose::kScheduler);
  std::vector<std::int32_t> actions(6);
  for (int step = 0; step < 1500; ++step) {
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t count = U(env->num_actions());
      actions[i] = test::DrawLegal(std::span(storage.action_mask).subspan(i * count, count), stream);
    }
    env->Step(actions, storage.buffers());
  }

  // A policy of the process runs on each of them, and on one that none was like.
  const test::TemporaryFolder folder;
  PolicyBundle bundle = test::RandomBundle("pair_scorer(width=8)", LayoutOf(options.mdp, samples[0]),
                                           rows * columns + 1, /*seed=*/3);
  bundle.mdp = options.mdp;
  SaveBundle(bundle, folder / "any.h5");
  bundle = LoadBundle(folder / "any.h5");
  CHECK((bundle.mdp.actions == options.mdp.actions && bundle.mdp.columns == columns &&
         bundle.mdp.rows == options.mdp.rows));
  ScenarioSettings other;
  other.cluster = ParseCluster("k80=3,v100=2");
  std::vector<Scenario> runs;
  for (std::uint32_t kind = 0; kind < 3; ++kind) runs.push_back(source->Make(2, Split::kEvaluate, kind, 0, 30));
  runs.push_back(MakeWorkload("synthetic(rate=2,jobs=30)", other)->Make(2, Split::kEvaluate, 0, 0));
  for (const Scenario& scenario : runs) {
    PolicyScheduler policy(bundle, "any.h5", /*sample=*/false);
    Simulator simulator(scenario);
    policy.Reset(simulator.View(Knowledge::kOracle));
    Decision decision;
    while (simulator.AdvanceToDecision()) {
      decision.Clear();
      policy.Decide(simulator.View(Knowledge::kOracle), decision);
      const ApplyResult result = simulator.Apply(decision);
      INFO(Explain(result, decision, simulator));
      REQUIRE(result.ok());
    }
    CHECK((simulator.arrived_jobs() == 30 && simulator.jobs_in_system() == 0));
  }

  CHECK(test::MessageOf([] { ParseActions("start?"); }).find("actions: ") == 0);
  CHECK(test::MessageOf([] { ParseActions("start,resiz?"); }).find("did you mean 'resize'?") !=
        std::string::npos);
}

}  // namespace berth
