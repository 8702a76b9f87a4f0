// Training on a cluster that has every feature at once: what is learned from stays finite, nothing illegal is
// chosen, the same seed gives the same training.
#include <cmath>

#include "agents/learner/agent.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/features/table.hpp"
#include "env/gym/vec_env.hpp"
#include "tests/catch.hpp"
#include "tests/learn/wrapped_env.hpp"

namespace berth {
namespace {

constexpr int kEnvs = 4, kSteps = 3000;

constexpr const char* kFeatures =
    "failures(mtbf_h=20,repair_h=0.5,spot_types=k80,spot_mtbf_h=30,spot_away_h=1);"
    "services(rate_per_s=2,replicas=1,pattern=bursty,interval_s=600);"
    "stages(cpu_core_s=0.05,transfer_s=0.01,cores_per_gpu=4);"
    "topology(placement=consolidate,cpus_per_node=40,nodes_per_rack=2);"
    "partitions(reconfig_s=5);sharing(quantum_s=1,switch_s=0.05);"
    "elasticity(min_factor=0.5,max_factor=2,resize_s=10);"
    "checkpoints(gb=10,interval=600,cold_start_s=5);power(cap_w=3500,clocks=0.5:0.75:1,heat=true);"
    "estimates;monitoring(interval_s=300);latency(seconds=10);forecast(bin_s=60,horizon_s=60)";

std::unique_ptr<BatchEnv> Combined(std::uint64_t seed) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("a100=4/4,v100=8/4,k80=8/4");
  settings.features = ParseFeatures(kFeatures);
  SchedEnvOptions options;
  options.mdp.encoder = "ObservationV2";
  options.mdp.visible = 16;
  options.seed = seed;
  options.episode_jobs = 60;
  options.warmup_jobs = 0;
  return MakeVecEnv(MakeWorkload("toy(rate=400,jobs=200,size=150)", settings), options, kEnvs, 1);
}

// All figures of all updates, one after another.
std::vector<double> Train(const std::string& agent) {
  WatchedEnv env(Combined(5));
  const AgentSetup setup = {
      "pair_scorer(width=16)", env.layout(), env.num_actions(), kEnvs, 5, torch::kCPU, 1};
  const std::unique_ptr<Agent> learner = MakeAgent(agent, setup);
  std::vector<double> figures;
  env.Reset(learner->First());
  for (std::int64_t steps = 0; steps < kSteps;) {
    const Played played = learner->Play(env, static_cast<double>(steps) / kSteps);
    steps += played.steps;
    if (!played.learnt) continue;
    for (const auto& [name, value] : learner->figures()) {
      CAPTURE(agent, name, steps);
      REQUIRE(std::isfinite(value));
      figures.push_back(value);
    }
  }
  CHECK(env.infinite == 0);
  CHECK(env.late > 50);
  for (const auto& item : learner->network().named_parameters())
    CHECK(torch::isfinite(item.value()).all().item<bool>());
  return figures;
}

}  // namespace

TEST_CASE("agents train on a cluster with every feature, repeatably", "[learn]") {
  for (const char* agent : {"ppo(n_steps=64,minibatch=64,epochs=2)",
                            "dqn(buffer=2000,learning_starts=200,batch=16,train_freq=16,gradient_steps=1)"}) {
    const std::vector<double> once = Train(agent);
    CHECK(once.size() > 20);
    CHECK(Train(agent) == once);
  }
}

}  // namespace berth
