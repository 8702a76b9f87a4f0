// Every agent x network of the tables: legal actions only, finite gradients, repeatable, resumable; and PPO
// against an exhaustive search on a toy cluster.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>

#include "agents/learner/agent.hpp"
#include "agents/ppo/ppo_loss.hpp"
#include "agents/train/learn_api.hpp"
#include "agents/train/trainer.hpp"
#include "env/base/check.hpp"
#include "env/gym/vec_env.hpp"
#include "policies/bundle.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/toy_envs.hpp"
#include "tests/learn/wrapped_env.hpp"
#include "tests/temporary_folder.hpp"

extern "C" const berth::LearnApi* berth_learn_api();

namespace berth {
namespace {

// Small settings under which every agent learns within a few steps; a new agent runs with its defaults.
std::string Small(const std::string& agent) {
  if (agent == "ppo") return "ppo(n_steps=8,minibatch=16,epochs=2)";
  if (agent == "reinforce") return "reinforce(n_steps=8)";
  if (agent == "dqn") return "dqn(buffer=64,learning_starts=16,batch=8,train_freq=8,gradient_steps=1)";
  return agent;
}

template <class F>
void ForEveryPair(const F& check) {
  REQUIRE(Agents().size() >= 2);
  REQUIRE(Architectures().size() >= 2);
  for (const AgentInfo& agent : Agents()) {
    for (const ArchitectureInfo& network : Architectures()) {
      CAPTURE(agent.name, network.name);
      check(Small(agent.name), std::string(network.name));
    }
  }
  for (const ArchitectureInfo& network : Architectures()) {
    CAPTURE(network.name);
    check("ppo(learner=device,overlap=true,n_steps=8,minibatch=16,epochs=2)", std::string(network.name));
    check("dqn(buffer=400,learning_starts=16,batch=8,train_freq=8,gradient_steps=1,n_step=2)",
          std::string(network.name));
    check("dqn(quantiles=3,buffer=400,learning_starts=16,batch=8,train_freq=8,gradient_steps=1,n_step=2)",
          std::string(network.name));
  }
  for (const std::string remembers : {"pair_scorer(memory=3)", "set_attention(memory=3)", "mlp(memory=3)"}) {
    CAPTURE(remembers);
    check("ppo(n_steps=8,minibatch=16,epochs=2,sequence=2)", remembers);
    check("dqn(buffer=64,learning_starts=16,batch=8,train_freq=8,gradient_steps=1,sequence=2)", remembers);
    check("dqn(quantiles=3,buffer=64,learning_starts=16,batch=8,train_freq=8,gradient_steps=1)", remembers);
  }
}

// The figures of the first `count` updates, NaN as 0.
std::vector<double> FirstLosses(const std::string& agent_spec, const std::string& network, int count,
                                std::uint64_t seed) {
  auto env = ToyEnv(SmallMdp(), 2, seed);
  auto agent = MakeTestAgent(agent_spec, network, *env, seed);
  env->Reset(agent->First());
  std::vector<double> losses;
  for (int update = 0; update < count; ++update) {
    TrainOnce(*agent, *env, 0.1);
    for (const auto& [name, value] : agent->figures()) losses.push_back(std::isnan(value) ? 0.0 : value);
  }
  return losses;
}

}  // namespace

TEST_CASE("agents: no masked action is ever chosen, and parameters stay finite") {
  ForEveryPair([](const std::string& spec, const std::string& network) {
    WatchedEnv env(ToyEnv(SmallMdp(), 3, 1));
    auto agent = MakeTestAgent(spec, network, env, 1);
    env.Reset(agent->First());
    TrainFor(*agent, env, 600);
    CHECK(env.chosen >= 600);
    CHECK(agent->updates() > 5);
    for (const float p : FlatParameters(*agent)) REQUIRE(std::isfinite(p));
  });
}

TEST_CASE("agents: the same seed gives the same first three losses, another seed others") {
  ForEveryPair([](const std::string& spec, const std::string& network) {
    const auto losses = FirstLosses(spec, network, 3, 1);
    CHECK(losses == FirstLosses(spec, network, 3, 1));
    CHECK(losses != FirstLosses(spec, network, 3, 2));
  });
}

TEST_CASE("networks: finite gradients where one action alone is legal") {
  for (const ArchitectureInfo& info : Architectures()) {
    CAPTURE(info.name);
    auto env = ToyEnv(SmallMdp(), 2, 1);
    auto network = MakeNetwork(info.name, env->layout(), env->num_actions(), 1);
    StepStorage storage(2, env->layout().size(), env->num_actions());
    env->Reset(storage.buffers());
    const torch::Tensor observation = torch::from_blob(storage.observation.data(), {2, env->layout().size()});
    const NetworkOutput out = network->Forward(observation);
    torch::Tensor mask = torch::zeros({2, env->num_actions()}, torch::kUInt8);
    mask[0][0] = 1;
    mask[1][env->num_actions() - 1] = 1;
    const PpoBatch batch = {mask,
                            torch::tensor({0, env->num_actions() - 1}, torch::kInt64),
                            torch::zeros({2}),
                            torch::tensor({1.0F, -1.0F}),
                            torch::ones({2}),
                            torch::zeros({2})};
    const PpoSums sums = PpoLoss(out.scores, out.value, batch, 0.2, 0.2);
    (sums.policy_loss + sums.value_loss - sums.entropy).backward();
    for (const auto& item : network->named_parameters()) {
      CAPTURE(item.key());
      if (item.value().grad().defined()) CHECK(torch::isfinite(item.value().grad()).all().item<bool>());
    }
    CHECK(sums.entropy.item<double>() == 0.0);
  }
}

TEST_CASE("agents: save, load, continue is the uninterrupted run, and the checkpoint exports") {
  ForEveryPair([](const std::string& spec, const std::string& network) {
    const test::TemporaryFolder folder;
    const auto run = [&](const std::string& out, int interrupt_at, bool resume) {
      WatchedEnv env(ToyEnv(SmallMdp(), 2, 3));
      TrainRequest request;
      request.agent = spec;
      request.network = network;
      request.mdp = SmallMdp();
      request.env = &env;
      request.gpu_types = {"v100", "k80"};
      request.steps = 128;
      request.seed = 3;
      request.device = "cpu";
      request.out_dir = folder / out;
      request.resume = resume;
      request.checkpoint_every_s = interrupt_at > 0 ? 0.0 : 1e9;  // a checkpoint at every boundary
      std::atomic<bool> stop = false;
      request.interrupted = &stop;
      env.on_step = [&] { stop = interrupt_at > 0 && env.chosen >= interrupt_at; };
      if (interrupt_at > 0) {
        // Stops when half of it is done: moments, buffers and streams have moved and must come back.
        const TrainOutcome half = berth_learn_api()->train(request);
        CHECK(half.interrupted);
        CHECK(half.steps >= interrupt_at);
        CHECK(half.steps < 128);
      } else {
        CHECK(berth_learn_api()->train(request).steps == 128);
      }
    };
    run("straight", 0, false);
    run("halves", 64, false);
    run("halves", 0, true);
    const ExportOutcome straight =
        berth_learn_api()->export_policy({folder / "straight", folder / "a.h5", "", ""});
    const ExportOutcome halves =
        berth_learn_api()->export_policy({folder / "halves", folder / "b.h5", folder / "b.onnx", ""});
    CHECK(straight.max_difference <= kBundleTolerance);
    CHECK(straight.parameters > 0);
    CHECK(halves.parameters == straight.parameters);
    const PolicyBundle a = LoadBundle(folder / "a.h5"), b = LoadBundle(folder / "b.h5");
    REQUIRE(a.arrays.size() == b.arrays.size());
    for (std::size_t k = 0; k < a.arrays.size(); ++k) CHECK(a.arrays[k].values == b.arrays[k].values);
    CHECK(a.examples.count == 16);
  });
}

TEST_CASE("the tables are what the library lists") {
  const LearnApi& api = *berth_learn_api();
  CHECK(api.version == kLearnApiVersion);
  CHECK(api.agents().size() == Agents().size());
  CHECK(api.networks().size() == Architectures().size());
  CHECK(api.build().rfind("LibTorch ", 0) == 0);
  for (const LearnInfo& info : api.agents()) {
    CAPTURE(info.name);
    CHECK(std::string(info.source).size() > 3);
    CHECK(!info.params.empty());
    CHECK(ResolveAgent(info.name).rfind(std::string(info.name) + "(", 0) == 0);
  }
}

TEST_CASE("bench_training: every agent is timed on every task, and on a given environment") {
  const auto ask = [](const std::string& agent, const std::string& task, BatchEnv* env, int threads) {
    BenchTrainRequest request;
    request.agent = agent;
    request.network = env != nullptr ? "pair_scorer" : "mlp(hidden=16)";
    request.env = env;
    request.task = task;
    request.num_envs = 4;
    request.warmup_steps = 40;
    request.steps = 600;
    request.threads = threads;
    return berth_learn_api()->bench_training(request);
  };
  for (const AgentInfo& agent : Agents()) {
    for (const char* task : {"synthetic", "cartpole", ""}) {
      CAPTURE(agent.name, task);
      auto env = ToyEnv(SmallMdp(), 4, 1);
      const BenchTrainOutcome outcome = ask(Small(agent.name), task, *task == '\0' ? env.get() : nullptr,
                                            agent.name == std::string("dqn") ? 1 : 2);
      CHECK(outcome.steps >= 600);
      CHECK(outcome.steps < 600 + 64);  // a rollout more at most
      CHECK(outcome.updates > 0);
      CHECK(outcome.cpu_s > 0.0);
      CHECK(outcome.gemm_gflops > 0.0);
      CHECK((outcome.multiply_adds_per_step > 0.0) == (outcome.bound_steps_per_cpu_s > 0.0));
    }
  }
  // By hand: mlp(hidden=16) on 128 numbers and 64 actions has F = 2 * 128 * 16 + 16 * 64 + 16 = 5136
  // multiply-adds a row; a backward pass without that of the inputs 2 F - 2 * 128 * 16 = 6176. 8 steps of 4
  // environments, then the last observations' values, 2 epochs: (36 / 32) F + 2 (F + 6176) a step. 640 steps
  // end with no episode.
  CHECK(ask("ppo(n_steps=8,minibatch=16,epochs=2,target_kl=0)", "synthetic", nullptr, 1)
            .multiply_adds_per_step == Approx(36.0 / 32.0 * 5136 + 2.0 * (5136 + 6176)));
  CHECK_THROWS_WITH(ask("ppo", "synthetik", nullptr, 1), Catch::Contains("did you mean 'synthetic'"));
}

namespace {

// Four jobs at time 0 on one GPU of either type; each type is the better one for two of them, and sizes
// differ.
Scenario FourJobs() {
  ScenarioData data;
  data.name = "four jobs";
  for (const char* name : {"a", "b"}) {
    GpuType type;
    type.name = name;
    type.count = 1;
    data.cluster.types.push_back(type);
  }
  data.throughputs.job_types = {"even", "odd"};
  data.throughputs.gang_sizes = {1};
  data.throughputs.alone = {2.0, 1.0, 1.0, 2.0};  // [2, 1, 2] steps/s
  const double steps[] = {400, 40, 100, 300};
  for (int j = 0; j < 4; ++j) {
    data.jobs.id.push_back(j);
    data.jobs.arrival.push_back(0.0);
    data.jobs.job_type.push_back(j % 2 == 0 ? 0 : 1);
    data.jobs.gang.push_back(1);
    data.jobs.total_steps.push_back(steps[j]);
  }
  return Scenario(std::move(data));
}

MdpSpec ToyMdp() {
  MdpSpec mdp;
  mdp.visible = 4;
  mdp.preemptive = false;
  mdp.work_conserving = false;  // idling is an action too: it has to learn not to
  mdp.tau_s = 1e9;              // practically undiscounted: the optimum is that of the summed JCT
  return mdp;
}

std::unique_ptr<BatchEnv> FourJobsEnv(int envs) {
  SchedEnvOptions options;
  options.mdp = ToyMdp();
  options.warmup_jobs = 0;
  options.episode_jobs = 1000;
  return MakeVecEnv(FixedSource(FourJobs(), "four jobs"), options, envs, 1);
}

// The best return over all sequences of legal actions, by depth-first search over saved states.
double BestReturn(BatchEnv& env, StepStorage& storage, int& leaves) {
  const std::vector<std::uint8_t> here = env.SaveState();
  double best = -std::numeric_limits<double>::infinity();
  for (std::int32_t a = 0; a < env.num_actions(); ++a) {
    env.LoadState(here, storage.buffers());
    if (storage.action_mask[static_cast<std::size_t>(a)] == 0) continue;
    env.Step(std::span(&a, 1), storage.buffers());
    const double reward = storage.reward[0];
    const bool ended = storage.terminated[0] || storage.truncated[0];
    leaves += ended;
    best = std::max(best, reward + (ended ? 0.0 : BestReturn(env, storage, leaves)));
  }
  return best;
}

double GreedyReturn(Agent& agent, BatchEnv& env, StepStorage& storage) {
  env.Reset(storage.buffers());
  double sum = 0.0;
  std::int32_t action = 0;
  for (int step = 0; step < 1000; ++step) {
    agent.Greedy(storage.observation, storage.action_mask, std::span(&action, 1));
    env.Step(std::span(&action, 1), storage.buffers());
    sum += storage.reward[0];
    if (storage.terminated[0] || storage.truncated[0]) return sum;
  }
  FAIL("an episode without an end");
  return 0.0;
}

}  // namespace

TEST_CASE("PPO reaches the optimum of an exhaustive search on a 2-type toy cluster") {
  auto single = FourJobsEnv(1);
  StepStorage storage(1, single->layout().size(), single->num_actions());
  single->Reset(storage.buffers());
  int leaves = 0;
  const double best = BestReturn(*single, storage, leaves);
  CAPTURE(best, leaves);
  CHECK(leaves > 100);
  // By hand: type a runs job 2 (100 / 2 = 50 s) then job 0 (400 / 2 = 200 s): 50 + 250; type b runs job 1 (40
  // / 2 = 20 s) then job 3 (300 / 2 = 150 s): 20 + 170. Every job is on its better type, shortest first:
  // nothing is better.
  CHECK(best == Approx(-490.0));
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    auto env = FourJobsEnv(16);
    auto agent = MakeTestAgent("ppo(lr=0.003,n_steps=32,minibatch=128,epochs=8,ent_coef=0.01)", "pair_scorer",
                               *env, seed);
    env->Reset(agent->First());
    TrainFor(*agent, *env, 32000);
    CHECK(GreedyReturn(*agent, *single, storage) == Approx(best));
  }
}

TEST_CASE("agents: every one reaches 4 of 4 on two states and two types within 8000 steps") {
  // A new agent runs with its defaults.
  const auto learning = [](const std::string& agent) {
    if (agent == "ppo") return std::string("ppo(lr=0.003,n_steps=16,minibatch=64,epochs=4)");
    if (agent == "reinforce") return std::string("reinforce(lr=0.01,n_steps=16,normalize_advantage=true)");
    if (agent == "dqn") {
      return std::string(
          "dqn(lr=0.003,buffer=256,learning_starts=0,batch=64,train_freq=256,gradient_steps=16)");
    }
    return agent;
  };
  for (const AgentInfo& info : Agents()) {
    for (const ArchitectureInfo& network : Architectures()) {
      for (const std::uint64_t seed : {1, 2}) {
        CAPTURE(info.name, network.name, seed);
        TwoTypes env(8), single(1);
        auto agent = MakeTestAgent(learning(info.name), network.name, env, seed);
        env.Reset(agent->First());
        TrainFor(*agent, env, 8000);
        StepStorage storage(1, env.layout().size(), env.num_actions());
        CHECK(GreedyReturn(*agent, single, storage) == Approx(TwoTypes::kBestReturn));
      }
    }
  }
}

}  // namespace berth
