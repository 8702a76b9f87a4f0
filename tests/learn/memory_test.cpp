// Networks with a memory: the recurrent unit, its gradient through time, how states are carried while acting,
// stored and resumed, and that it learns what only the past tells.
#include <algorithm>
#include <cmath>
#include <vector>

#include "agents/learner/actor.hpp"
#include "agents/learner/forward_sequences.hpp"
#include "agents/learner/sequences.hpp"
#include "agents/nn/fused/fused_sequences.hpp"
#include "agents/train/trainer.hpp"
#include "env/gym/sched_env.hpp"
#include "env/sim/metrics.hpp"
#include "policies/foreign_decider.hpp"
#include "policies/inference.hpp"
#include "policies/learn/export.hpp"
#include "policies/schedulers.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/toy_envs.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

constexpr const char* kRemembers[] = {"pair_scorer(width=8,memory=5)",
                                      "set_attention(width=12,head=4,points=3,blocks=1,memory=3)",
                                      "mlp(hidden=16,memory=4)"};
constexpr ObservationLayout kShown = {
    .q = 5, .g = 3, .job_channels = 4, .pair_channels = 3, .type_channels = 2, .global_channels = 3};
constexpr int kChoices = 16;

// Weights of an ordinary size.
void Stir(Network& network, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  Stream stream(seed, Purpose::kTest);
  for (torch::Tensor parameter : network.parameters()) {
    float* p = parameter.data_ptr<float>();
    for (std::int64_t k = 0; k < parameter.numel(); ++k) p[k] += static_cast<float>(0.3 * stream.Normal());
  }
}

// Rows [n, D + M] with 0 to Q jobs, states in [-1, 1).
torch::Tensor StoredRows(const ObservationLayout& layout, int memory, int n, Stream& stream) {
  std::vector<float> all;
  for (int i = 0; i < n; ++i) {
    const auto row = test::RandomObservation(layout, layout.q > 0 ? i % (layout.q + 1) : 0, stream);
    all.insert(all.end(), row.begin(), row.end());
    for (int k = 0; k < memory; ++k) all.push_back(static_cast<float>(stream.Uniform(-1.0, 1.0)));
  }
  return torch::from_blob(all.data(), {n, layout.size() + memory}).clone();
}

// Shows left or right as an episode begins and never again; `steps` later choosing that side pays 1.
class Cue final : public BatchEnv {
 public:
  static constexpr int kDelay = 3;
  explicit Cue(int envs) : at_(static_cast<std::size_t>(envs)), side_(at_.size()) {}
  int num_envs() const override { return static_cast<int>(at_.size()); }
  int num_actions() const override { return 2; }
  ObservationLayout layout() const override { return {.global_channels = 3}; }
  void Reset(const StepBuffers& out) override {
    for (std::size_t i = 0; i < at_.size(); ++i) Begin(i), Write(i, out);
  }
  void StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) override {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const bool last = at_[i] == kDelay;
      out.reward[i] = last && actions[i] == side_[i] ? 1.0F : 0.0F;
      out.discount[i] = 0.99F;
      out.terminated[i] = last;
      out.truncated[i] = 0;
      if (last) {
        std::fill_n(out.final_observation.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, 0.0F);
        ++ended_, paid_ += out.reward[i];
        Begin(i);
      } else {
        ++at_[i];
      }
      Write(i, out);
    }
  }
  EpisodeStats TakeStats() override { return {}; }
  std::vector<std::uint8_t> SaveState() const override { throw Error("not saved"); }
  void LoadState(std::span<const std::uint8_t>, const StepBuffers&) override { throw Error("not saved"); }
  double TakeShare() {  // of the episodes that were paid
    const double share = paid_ / ended_;
    ended_ = paid_ = 0.0;
    return share;
  }

 private:
  void Begin(std::size_t i) { at_[i] = 0, side_[i] = static_cast<int>(draws_.Below(2)); }
  void Write(std::size_t i, const StepBuffers& out) const {
    const float seen = at_[i] > 0 ? 0.0F : side_[i] == 1 ? 1.0F : -1.0F;
    const float row[] = {seen, at_[i] == kDelay ? 1.0F : 0.0F, 1.0F};
    std::copy_n(row, 3, out.observation.begin() + static_cast<std::ptrdiff_t>(3 * i));
    std::fill_n(out.action_mask.begin() + static_cast<std::ptrdiff_t>(2 * i), 2, std::uint8_t{1});
  }
  std::vector<int> at_, side_;
  Stream draws_{5, Purpose::kTest};
  double ended_ = 0.0, paid_ = 0.0;
};

double ShareAfter(const std::string& agent, const std::string& network, int steps) {
  Cue env(16);
  auto learner = MakeTestAgent(agent, network, env, 3);
  env.Reset(learner->First());
  TrainFor(*learner, env, steps);
  env.TakeShare();
  TrainFor(*learner, env, 4096, 1.0);
  return env.TakeShare();
}

}  // namespace

// mlp(hidden=1,memory=1) on one number x with all weights of the memory by hand:
//   r = s(a_r), z = s(a_z), n = tanh(x + r h), h' = z h + (1 - z) n
TEST_CASE("memory: the recurrent unit is that of Cho et al., in LibTorch and without it") {
  const ObservationLayout layout = {.global_channels = 1};
  const auto network = MakeNetwork("mlp(hidden=1,memory=1)", layout, 2, 1);
  {
    const torch::NoGradGuard no_grad;
    auto p = network->named_parameters();
    p["memory_reset.weight"].copy_(torch::tensor({{0.5F, -1.0F}}));
    p["memory_reset.bias"].fill_(0.25F);
    p["memory_update.weight"].copy_(torch::tensor({{-0.75F, 2.0F}}));
    p["memory_update.bias"].fill_(0.0F);
    p["memory_new.weight"].copy_(torch::tensor({{1.0F, 1.0F}}));
    p["memory_new.bias"].fill_(0.0F);
  }
  const double x = 0.8, h = -0.4;
  const auto s = [](double a) { return 1.0 / (1.0 + std::exp(-a)); };
  const double r = s(0.5 * x - h + 0.25), z = s(-0.75 * x + 2.0 * h);
  const double wanted = z * h + (1.0 - z) * std::tanh(x + r * h);
  const torch::NoGradGuard no_grad;
  const torch::Tensor row = torch::tensor({{0.8F, -0.4F}});
  CHECK(network->Forward(row).next.item<double>() == Approx(wanted).epsilon(1e-6));
  BundleFacts facts;
  facts.network = "mlp(hidden=1,memory=1)";
  facts.layout = layout;
  facts.num_actions = 2;
  const std::vector<float> example = {0.8F, -0.4F};
  const PolicyBundle bundle = MakeBundle(*network, facts, example, std::vector<std::uint8_t>{1, 1});
  const auto frozen = Freeze(bundle);
  std::vector<float> scores(2), state = {-0.4F}, next(1), from_zero(2);
  frozen->Evaluate(std::span(example).first(1), layout, scores, state, next);
  CHECK(next[0] == Approx(wanted).epsilon(1e-6));
  frozen->Evaluate(std::span(example).first(1), layout, from_zero);  // an episode's begin
  CHECK(from_zero != scores);
}

TEST_CASE("memory: LibTorch and the torch-free network agree on scores, value and the next state") {
  for (const std::string spec : kRemembers) {
    CAPTURE(spec);
    const auto network = MakeNetwork(spec, kShown, kChoices, 3);
    Stir(*network, 4);
    const int memory = network->description().memory();
    Stream stream(5, Purpose::kTest);
    const torch::Tensor rows = StoredRows(kShown, memory, 40, stream);
    BundleFacts facts;
    facts.network = spec;
    facts.layout = kShown;
    facts.num_actions = kChoices;
    const std::span<const float> all(rows.data_ptr<float>(), static_cast<std::size_t>(rows.numel()));
    double difference = -1.0;
    const PolicyBundle bundle =
        MakeBundle(*network, facts, all, std::vector<std::uint8_t>(40 * kChoices, 1), &difference);
    CHECK((difference >= 0.0 && difference <= kBundleTolerance));
    const auto frozen = Freeze(bundle);
    const torch::NoGradGuard no_grad;
    const NetworkOutput out = network->Forward(rows);
    std::vector<float> scores(kChoices), next(static_cast<std::size_t>(memory));
    for (std::size_t i = 0; i < 40; ++i) {
      const auto row = all.subspan(i * static_cast<std::size_t>(kShown.size() + memory));
      const auto size = static_cast<std::size_t>(kShown.size());
      frozen->Evaluate(row.first(size), kShown, scores, row.subspan(size, next.size()), next);
      for (int k = 0; k < memory; ++k)
        CHECK(next[static_cast<std::size_t>(k)] ==
              Approx(out.next[static_cast<int>(i)][k].item<double>()).margin(1e-5));
    }
  }
}

TEST_CASE("memory: gradients through sequences are autograd's to 1e-5, those of one step included") {
  const std::vector<std::size_t> begin = {0, 7, 8, 13, 13 + 4};  // of unequal lengths
  std::vector<std::uint8_t> passes;
  for (std::size_t k = 0; k < begin.back(); ++k) passes.push_back(k % 3 != 1);  // some stay at one state
  for (const std::string spec : kRemembers) {
    for (const bool values : {true, false}) {
      CAPTURE(spec, values);
      AgentSetup setup;
      setup.network = spec;
      setup.layout = kShown;
      setup.num_actions = kChoices;
      setup.num_envs = 1;
      setup.seed = 3;
      setup.memory = MemoryOf(spec, kShown, kChoices);
      Replicas replicas(setup, 1, true);
      REQUIRE(replicas.fused(0) != nullptr);
      Stir(replicas[0], 6);
      replicas.fused(0)->Refresh();
      Stream stream(7, Purpose::kTest);
      const auto n = static_cast<std::int64_t>(begin.back());
      const torch::Tensor rows = StoredRows(kShown, setup.memory, static_cast<int>(n), stream);
      const NetworkOutput out = ForwardSequences(replicas[0], rows, begin, passes);
      torch::Tensor a = torch::empty({n, kChoices}), b = torch::empty({n});
      for (std::int64_t k = 0; k < a.numel(); ++k) a.data_ptr<float>()[k] = static_cast<float>(stream.Normal());
      for (std::int64_t k = 0; k < n; ++k) b[k] = values ? stream.Normal() : 0.0;
      const torch::Tensor loss = (out.scores * a).sum() + (out.value * b).sum();
      const auto exact = torch::autograd::grad({loss}, replicas.parameters(0), {}, std::nullopt, false, true);
      std::vector<SequenceStep> steps;
      for (std::size_t k = 0; k < begin.back(); ++k)
        steps.push_back({rows.data_ptr<float>() + static_cast<std::int64_t>(k) * rows.size(1), passes[k] != 0});
      FusedSequences sequences(setup.memory, kChoices);
      std::fill(replicas.fused(0)->gradient().begin(), replicas.fused(0)->gradient().end(), 0.0F);
      double farthest = 0.0;
      sequences.AddGradient(
          *replicas.fused(0), steps, begin,
          [&](std::span<const std::size_t> which, const float* scores, const float* value, float* d_scores,
              float* d_values) {
            for (std::size_t k = 0; k < which.size(); ++k) {
              const auto row = static_cast<std::int64_t>(which[k]);
              for (std::int64_t c = 0; c < kChoices; ++c) {
                farthest = std::max(farthest, std::abs(scores[k * kChoices + static_cast<std::size_t>(c)] -
                                                       out.scores[row][c].item<double>()));
                d_scores[k * kChoices + static_cast<std::size_t>(c)] = a[row][c].item<float>();
              }
              if (values) farthest = std::max(farthest, std::abs(value[k] - out.value[row].item<double>()));
              d_values[k] = b[row].item<float>();
            }
          },
          values);
      CHECK(farthest < 1e-5 * std::max(1.0, out.scores.abs().max().item<double>()));
      const auto names = replicas[0].named_parameters();
      double largest = 0.0;
      for (const torch::Tensor& g : exact) largest = g.defined() ? std::max(largest, g.abs().max().item<double>()) : largest;
      for (std::size_t k = 0; k < exact.size(); ++k) {
        CAPTURE(names[k].key());
        const torch::Tensor wanted = exact[k].defined() ? exact[k] : torch::zeros_like(replicas.parameters(0)[k]);
        CHECK((replicas.fused_gradients(0)[k] - wanted).abs().max().item<double>() < 1e-5 * largest);
        if (names[k].key().rfind("memory_", 0) == 0) CHECK(wanted.abs().max().item<double>() > 1e-3 * largest);
      }
    }
  }
}

TEST_CASE("memory: sequences begin with an episode, and after so many points") {
  // Two environments: the first has points at 0, 1, 3, 4, 5 and ends with row 3; the second one at every row.
  const std::vector<std::uint8_t> starts = {1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1};
  std::vector<std::uint8_t> terminated(12), truncated(12);
  terminated[2 * 3] = 1;
  truncated[2 * 0 + 1] = 1;
  CHECK(SequenceStarts(starts, terminated, truncated, 6, 2, 2) ==
        std::vector<std::uint8_t>{1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1});
}

// The ratio of the first minibatch is 1 where what is recomputed from stored states is what was acted on.
TEST_CASE("memory: a rollout is recomputed as it was played, and fused and autograd learn alike") {
  for (const bool cluster : {true, false}) {
    for (const std::string network : {"pair_scorer(memory=4)", "mlp(hidden=16,memory=4)"}) {
      if (!cluster && network[0] == 'p') continue;
      MdpSpec mdp = SmallMdp();
      mdp.tau_s = 60.0;
      const auto train = [&](const std::string& more, int threads) {
        const std::unique_ptr<BatchEnv> env =
            cluster ? ToyEnv(mdp, 4, 3) : std::make_unique<CartPole>(4, 0.98, 3);
        auto agent = MakeTestAgent("ppo(n_steps=64,minibatch=64,epochs=2,target_kl=0,sequence=5" + more + ")",
                                   network, *env, 3, threads);
        env->Reset(agent->First());
        for (int update = 0; update < 3; ++update) {
          TrainOnce(*agent, *env, 0.0);
          CHECK(Figure(*agent, "losses/first_ratio_error") < 1e-5);
        }
        return FlatParameters(*agent);
      };
      CAPTURE(cluster, network);
      const auto fused = train("", 1), autograd = train(",fused=false", 1);
      CHECK(train("", 3) == fused);
      double largest = 0.0;
      for (std::size_t k = 0; k < fused.size(); ++k)
        largest = std::max(largest, std::abs(static_cast<double>(fused[k]) - autograd[k]));
      CHECK(largest < 1e-3);  // three updates of Adam, which magnifies the rounding of small gradients
      CHECK(largest > 0.0);
      CHECK(train(",gae_lambda=0.5", 1) != fused);
    }
  }
}

TEST_CASE("memory: DQN's fused and autograd updates part by rounding alone") {
  for (const std::string more : {"sequence=3", "n_step=2"}) {
    const std::string agent =
        "dqn(buffer=256,learning_starts=64,batch=64,train_freq=128,gradient_steps=4,adam_eps=0.001," + more;
    const auto train = [&](const std::string& fused) {
      const std::unique_ptr<BatchEnv> env = ToyEnv(SmallMdp(), 4, 3);
      auto learner = MakeTestAgent(agent + fused + ")", "pair_scorer(width=8,memory=4)", *env, 3);
      env->Reset(learner->First());
      TrainOnce(*learner, *env, 0.0);
      return FlatParameters(*learner);
    };
    CAPTURE(agent);
    const auto fused = train(""), autograd = train(",fused=false");
    double largest = 0.0;
    for (std::size_t k = 0; k < fused.size(); ++k)
      largest = std::max(largest, std::abs(static_cast<double>(fused[k]) - autograd[k]));
    CHECK(largest < 1e-4);
    CHECK(largest > 0.0);
  }
}

TEST_CASE("memory: learns what was shown at the begin alone, which a network without it cannot") {
  const std::string ppo = "ppo(lr=0.01,n_steps=32,minibatch=128,gae_lambda=1,sequence=8)";
  const std::string dqn =
      "dqn(lr=0.01,buffer=1024,learning_starts=512,batch=128,train_freq=512,gradient_steps=16,sequence=8)";
  CHECK(ShareAfter(ppo, "mlp(hidden=16,memory=8)", 40000) > 0.95);
  CHECK(ShareAfter(dqn, "mlp(hidden=16,memory=8)", 40000) > 0.9);
  CHECK(ShareAfter(ppo, "mlp(hidden=16)", 40000) < 0.6);
}

TEST_CASE("memory: the scheduler carries the state as the environment of its training does") {
  for (const Clock clock : {Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 60.0}}) {
    CAPTURE(clock.ToString());
    PolicyBundle bundle = test::RandomBundle("pair_scorer(width=8,memory=6)", ObservationV1::Layout(40, 2), 81, 4);
    bundle.mdp.visible = 40;
    const_cast<NamedArray&>(bundle.Array("done.bias")).values[0] = -1e3F;  // as without memory (policies_test)
    ScenarioSettings settings;
    settings.cluster = ParseCluster("v100=2,k80=1");
    settings.clock = clock;
    const Scenario scenario = MakeWorkload("toy", settings)->Make(3, Split::kTrain, 0, 0);
    SchedEnvOptions options;
    options.mdp = bundle.mdp;
    options.warmup_jobs = 0;
    options.episode_jobs = 1000;
    SchedEnv env(FixedSource(scenario, "toy"), options, 0);
    env.Begin(0);
    const auto network = Freeze(bundle);
    std::vector<float> scores(static_cast<std::size_t>(env.num_actions())), state(6), next(6), forgot(scores.size());
    bool matters = false;
    for (;;) {
      network->Evaluate(env.observation(), env.layout(), scores, state, next);
      network->Evaluate(env.observation(), env.layout(), forgot);
      matters = matters || forgot != scores;
      int best = -1;
      for (int a = 0; a < env.num_actions(); ++a) {
        const auto i = static_cast<std::size_t>(a);
        if (env.mask()[i] != 0 && (best < 0 || scores[i] > scores[static_cast<std::size_t>(best)])) best = a;
      }
      const SchedEnv::Outcome outcome = env.Step(best);
      if (outcome.discount < 1.0) state = next;
      REQUIRE_FALSE(outcome.truncated);
      if (outcome.terminated) break;
    }
    CHECK(matters);
    const auto scheduler = MakePolicyScheduler(bundle, "test", false);
    for (int run = 0; run < 2; ++run) {  // a second run begins with nothing remembered
      const RunResult result = Run(scenario, *scheduler, "policy", {});
      CHECK(result.signature == env.simulator().signature());
    }
  }
}

TEST_CASE("memory: who decides one point at a time, and the learner on the device, refuse it by name") {
  PolicyBundle bundle = test::RandomBundle("pair_scorer(width=8,memory=6)", ObservationV1::Layout(4, 2), 9, 4);
  CHECK_THROWS_WITH(ForeignDecider(bundle, "p.h5"),
                    Catch::Contains("p.h5: expected a network without memory") && Catch::Contains("memory=6"));
  CartPole env(2, 0.98, 1);
  for (const char* agent : {"ppo(learner=device)", "dqn(learner=device)"}) {
    CHECK_THROWS_WITH(MakeTestAgent(agent, "mlp(memory=4)", env, 1),
                      Catch::Contains("learner=device: expected a network without memory"));
  }
}

}  // namespace berth
