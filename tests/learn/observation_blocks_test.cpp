// Agents that see a set of blocks of their own choice: trained, exported, read back, run frozen in the
// simulator and in ONNX Runtime.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "agents/learner/agent.hpp"
#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/vec_env.hpp"
#include "env/sim/metrics.hpp"
#include "policies/learn/export.hpp"
#include "policies/onnx_writer.hpp"
#include "policies/schedulers.hpp"
#include "tests/catch.hpp"
#include "tests/learn/wrapped_env.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

// With entities: of tenants and jobs that wait for others too.
std::shared_ptr<const ScenarioSource> PoweredNodes(bool entities) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=8/4,p100=8/4,k80=8/4");
  settings.clock = {ClockKind::kRounds, 360.0};
  settings.features =
      ParseFeatures(Join("power(cap_w=5000,heat=true);topology(placement=consolidate);forecast(bin_s=600)",
                         entities ? ";stages(depends=0.5)" : ""));
  return MakeWorkload(Join("synthetic(rate=4,jobs=60,gangs=multi", entities ? ",tenants=3" : "", ")"), settings);
}

struct BlocksCase {
  const char* blocks;
  const char* network;
  bool entities = false;
  const char* agent = "ppo(n_steps=64,minibatch=64,epochs=2)";
};

// A few updates; the bundle carries rows of the training as its examples.
PolicyBundle TrainOnBlocks(const BlocksCase& c) {
  SchedEnvOptions options;
  options.mdp.encoder = ResolveEncoder(Join("observation(blocks=", c.blocks, ")"));
  options.mdp.visible = 12;
  options.episode_jobs = 40;
  options.warmup_jobs = 0;
  WatchedEnv env(MakeVecEnv(PoweredNodes(c.entities), options, /*num_envs=*/2, /*threads=*/1));
  const AgentSetup setup = {c.network, env.layout(), env.num_actions(), 2, 5, torch::kCPU, 1};
  const std::unique_ptr<Agent> learner = MakeAgent(c.agent, setup);
  env.Reset(learner->First());
  for (std::int64_t steps = 0; steps < 800;) {
    steps += learner->Play(env, static_cast<double>(steps) / 800).steps;
  }
  CHECK(learner->updates() > 0);
  CHECK(env.infinite == 0);
  std::vector<float> observation;
  std::vector<std::uint8_t> mask;
  learner->Examples(16, observation, mask);
  BundleFacts facts;
  facts.network = c.network;
  facts.layout = env.layout();
  facts.num_actions = env.num_actions();
  facts.mdp = options.mdp;
  facts.gpu_types = {"v100", "p100", "k80"};
  facts.provenance = {"ppo(n_steps=64)", "steps=800", "synthetic", "0123abc", 800, 5};
  return MakeBundle(learner->network(), facts, observation, mask);
}

// The examples in the form that check_onnx.py reads.
nlohmann::json OnnxCase(const PolicyBundle& bundle) {
  const ObservationLayout& layout = bundle.layout;
  const BundleExamples& examples = bundle.examples;
  const int n = examples.count;
  nlohmann::json inputs;
  const auto add = [&](const char* name, std::vector<int> shape, int begin, int end) {
    std::vector<float> values;
    for (int i = 0; i < n; ++i) {
      const auto row = examples.observation.begin() + i * layout.size();
      values.insert(values.end(), row + begin, row + end);
    }
    inputs[name] = {{"type", "float32"}, {"shape", shape}, {"values", values}};
  };
  if (bundle.network.rfind("mlp", 0) == 0) {
    add("observation", {n, layout.size()}, 0, layout.size());
  } else {
    add("jobs", {n, layout.q, layout.job_channels}, 0, layout.pairs_offset());
    add("pairs", {n, layout.q, layout.g, layout.pair_channels}, layout.pairs_offset(), layout.types_offset());
    add("types", {n, layout.g, layout.type_channels}, layout.types_offset(), layout.global_offset());
    add("global", {n, layout.global_channels}, layout.global_offset(), layout.size());
  }
  inputs["action_mask"] = {{"type", "bool"}, {"shape", {n, bundle.num_actions}}, {"values", examples.mask}};
  return {{"inputs", inputs}, {"scores", examples.scores}, {"value", examples.value}};
}

}  // namespace

TEST_CASE("blocks: any three train, export, run frozen and in ONNX Runtime", "[learn]") {
  const BlocksCase c = GENERATE(BlocksCase{"queue:1+prices:1+power:1", "pair_scorer(width=8,skip=true)"},
                                BlocksCase{"topology:1+assignment:1+failures:1", "pair_scorer(width=8)"},
                                BlocksCase{"forecast:1+ranks:1+sizes:1", "mlp(hidden=8)"},
                                // no channels of types; none of pairs; of jobs and the state alone
                                BlocksCase{"stages:1+assignment:1+latency:1", "pair_scorer(width=8)"},
                                BlocksCase{"power:1+failures:1+monitoring:1", "pair_scorer(width=8,skip=true)"},
                                BlocksCase{"stages:1+elasticity:1+latency:1", "pair_scorer(width=8)"},
                                BlocksCase{"queue:1+nodes:1+tenants:1", "pair_scorer(width=8)", true},
                                BlocksCase{"tenants:1+queue:1+nodes:1", "mlp(hidden=8)", true},
                                BlocksCase{"queue:1+devices:1+held_back:1", "set_attention(width=16)", true},
                                BlocksCase{"held_back:1+queue:1+nodes:1", "messages(width=8)", true},
                                BlocksCase{"queue:1+nodes:1+held_back:1", "messages(width=8,skip=true)", true,
                                           "dqn(buffer=400,learning_starts=100,batch=32,train_freq=8,gradient_steps=1)"});
  CAPTURE(c.blocks, c.network);
  const PolicyBundle trained = TrainOnBlocks(c);
  const test::TemporaryFolder folder;
  SaveBundle(trained, folder / "policy.h5");
  const PolicyBundle bundle = LoadBundle(folder / "policy.h5");
  CHECK(EncoderOf(bundle.mdp.encoder).Blocks() == c.blocks);
  CHECK(bundle.examples.scores == trained.examples.scores);

  const auto scheduler = MakePolicyScheduler(bundle, "policy.h5", /*sample=*/false);
  const Scenario scenario = PoweredNodes(c.entities)->Make(/*seed=*/1000, Split::kEvaluate, 0, 0);
  CHECK(Run(scenario, *scheduler, "policy", {}).metrics.jobs == 60);

  const std::string python = test::Python(BERTH_SOURCE_DIR, "numpy, onnx, onnxruntime");
  if (python.empty()) return test::Skip("needs Python with numpy, onnx and onnxruntime (tools/setup)");
  WriteOnnx(bundle, folder / "policy.onnx");
  std::ofstream(folder / "cases.json") << nlohmann::json::array({OnnxCase(bundle)});
  const int status = std::system(Join("'", python, "' '" BERTH_SOURCE_DIR "/tests/learn/check_onnx.py' '",
                                      folder / "policy.onnx", "' '", folder / "cases.json", "' >'",
                                      folder / "log.txt", "' 2>&1")
                                     .c_str());
  std::ifstream log(folder / "log.txt");
  INFO(std::string(std::istreambuf_iterator<char>(log), {}));
  CHECK(status == 0);
}

}  // namespace berth
