// Members of one training: their networks side by side answer with the sum of their scores, resuming across
// a member's end is exact, and each has seeds and workloads of its own.
#include <atomic>
#include <limits>

#include "agents/train/checkpoint.hpp"
#include "agents/train/trainer.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/toy_envs.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using test::TemporaryFolder;

constexpr const char* kPpoOfMembers = "ppo(n_steps=8,minibatch=16,epochs=2,lr=0.001)";
constexpr int kJobsShown = 3, kTypesShown = 2, kMembers = 3;

// Channels of jobs begin with "is there", which the second job of a row is not.
torch::Tensor RandomRows(const ObservationLayout& layout, int memory) {
  torch::manual_seed(7);
  torch::Tensor rows = torch::rand({4, layout.size() + memory}) - 0.3;
  rows.index_put_({torch::indexing::Slice(), 0}, 1.0);
  rows.narrow(1, layout.job_channels, layout.job_channels).zero_();
  rows.index_put_({torch::indexing::Slice(), 2 * layout.job_channels}, 1.0);
  return rows;
}

TrainRequest OfMembers(BatchEnv& env, const std::string& out, int members) {
  TrainRequest request;
  request.agent = kPpoOfMembers;
  request.network = "mlp(hidden=16)";
  request.env = &env;
  request.steps = 768;
  request.members = members;
  request.seed = 5;
  request.device = "cpu";
  request.out_dir = out;
  request.gpu_types = {"none"};
  request.workload = "cartpole";
  request.environment = "clock=event gpus=4";
  return request;
}

std::vector<torch::Tensor> ParametersOf(const Network& network) {
  std::vector<torch::Tensor> all;
  for (const auto& item : network.named_parameters()) all.push_back(item.value());
  return all;
}

bool SameParameters(const Network& a, const Network& b) {
  const auto left = ParametersOf(a), right = ParametersOf(b);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!torch::equal(left[i], right[i])) return false;
  }
  return left.size() == right.size();
}

}  // namespace

TEST_CASE("members: networks side by side answer with the sum of their scores and the mean of their values") {
  const ObservationLayout layout{kJobsShown, kTypesShown, 5, 3, 4, 6};
  for (const std::string spec :
       {"pair_scorer(width=8,skip=true)", "pair_scorer(width=5,layers=3,activation=tanh)",
        "pair_scorer(layers=1)", "pair_scorer(width=8,memory=3)", "mlp(hidden=8,memory=2)", "set_attention(width=12,head=4,points=3)", "mlp(hidden=16)", "mlp(hidden=8x4x6,activation=relu)"}) {
    for (const int actions : {kJobsShown * kTypesShown, kJobsShown * kTypesShown + 1}) {
      CAPTURE(spec, actions);
      Members members;
      for (std::uint64_t seed = 1; seed <= kMembers; ++seed) {
        members.push_back(MakeNetwork(spec, layout, actions, seed));
        const torch::NoGradGuard no_grad;  // biases are drawn as 0, which would hide where they go
        for (torch::Tensor& parameter : members.back()->parameters())
          parameter.add_(torch::randn_like(parameter), 0.3);
      }
      const auto wide = MakeNetwork(WidenArchitecture(spec, kMembers), layout, actions, 9);
      CopySideBySide(members, 0.5, *wide);
      // The wide network's state is the members' side by side.
      const int memory = members[0]->description().memory();
      const torch::Tensor all = RandomRows(layout, kMembers * memory);
      const NetworkOutput found = wide->Forward(all);
      torch::Tensor scores = torch::zeros_like(found.scores), value = torch::zeros_like(found.value);
      torch::Tensor rows;
      std::vector<torch::Tensor> next;
      for (int m = kMembers; m-- > 0;) {
        rows = torch::cat({all.narrow(1, 0, layout.size()), all.narrow(1, layout.size() + m * memory, memory)}, 1);
        const NetworkOutput own = members[U(m)]->Forward(rows);
        scores += 0.5 * own.scores;
        value += own.value / kMembers;
        next.insert(next.begin(), own.next);
      }
      if (memory > 0) CHECK(torch::allclose(found.next, torch::cat(next, 1), 1e-4, 1e-5));
      CHECK(torch::allclose(found.scores, scores, 1e-4, 1e-5));
      CHECK(torch::allclose(found.value, value, 1e-4, 1e-5));
      CHECK_FALSE(torch::allclose(scores, members[0]->Forward(rows).scores, 1e-2, 1e-2));
    }
  }
}

TEST_CASE("members: a spec is widened in every hidden layer, as far as the network takes") {
  CHECK(WidenArchitecture("mlp(hidden=8x4)", 3) == ResolveArchitecture("mlp(hidden=24x12)"));
  CHECK(WidenArchitecture("set_attention(width=32)", 3) == ResolveArchitecture("set_attention(width=96,towers=3)"));
  CHECK(WidenArchitecture("pair_scorer(width=8,skip=true)", 4) ==
        ResolveArchitecture("pair_scorer(width=32,skip=true)"));
  CartPole env(4, 0.98, 5);
  TrainRequest request = OfMembers(env, "", 64);
  request.network = "mlp(hidden=1024)";
  CHECK_THROWS_WITH(Train(request), Catch::Contains("'hidden'") && Catch::Contains("64 --members"));
  request.members = 65;
  CHECK_THROWS_WITH(Train(request), Catch::Contains("--members: expected 1 to 64, found 65"));
}

TEST_CASE("members: of networks with a memory, the examples have the state of all of them") {
  const TemporaryFolder folder;
  CartPole env(4, 0.98, 5);
  TrainRequest request = OfMembers(env, folder / "run", kMembers);
  request.network = "mlp(hidden=8,memory=2)";
  CHECK(Train(request).steps == 768);
  const TrainedNetwork trained = ReadTrainedNetwork(folder / "run/checkpoint.h5");
  CHECK(trained.network->description().memory() == 2 * kMembers);
  const std::size_t rows = trained.mask.size() / 2, row = U(trained.network->description().row());
  REQUIRE(trained.observation.size() == rows * row);
  for (std::size_t k = 4; k < row; ++k)  // CartPole shows 4 numbers
    CHECK(trained.observation[row * (rows - 1) + k] == trained.observation[row * (rows - 1) + 4 + (k - 4) % 2]);
}

TEST_CASE("members: interrupted in any of them, a training goes on bit for bit") {
  for (const char* agent :
       {kPpoOfMembers, "dqn(buffer=300,learning_starts=64,batch=8,train_freq=40,gradient_steps=2)",
        "dqn(buffer=300,learning_starts=64,batch=8,train_freq=8,gradient_steps=2,target_interval=40,"
        "quantiles=3)"}) {
    const TemporaryFolder folder;
    const auto ask = [&](BatchEnv& env, const std::string& out) {
      TrainRequest request = OfMembers(env, out, kMembers);
      request.agent = agent;
      return request;
    };
    CartPole env(4, 0.98, 5);
    CHECK(Train(ask(env, folder / "straight")).steps == 768);
    const TrainedNetwork straight = ReadTrainedNetwork(folder / "straight/checkpoint.h5");
    CHECK(straight.architecture == ResolveArchitecture("mlp(hidden=48)"));
    for (const std::int64_t stop : {40, 64, 72, 150}) {  // of 192 steps of each environment, 64 a member
      CAPTURE(agent, stop);
      const std::string out = folder / std::to_string(stop);
      {
        CartPole first(4, 0.98, 5);
        std::atomic<bool> interrupted = false;
        first.on_step = [&](std::int64_t step) { interrupted = step >= stop; };
        TrainRequest request = ask(first, out);
        request.interrupted = &interrupted;
        CHECK(Train(request).interrupted);
      }
      CartPole rest(4, 0.98, 5);
      TrainRequest request = ask(rest, out);
      request.resume = true;
      CHECK(Train(request).steps == 768);
      CHECK(SameParameters(*ReadTrainedNetwork(out + "/checkpoint.h5").network, *straight.network));
    }
  }
}

TEST_CASE("members: more steps on resuming are those of the last, whose schedule goes on to its end") {
  const TemporaryFolder folder;
  CartPole env(4, 0.98, 5), more(4, 0.98, 5), other(4, 0.98, 5);
  const TrainRequest before = OfMembers(env, folder / "run", kMembers);
  Train(before);
  const Members first = LoadMembers(folder / "run/checkpoint.h5", IdentityOf(before));
  TrainRequest request = OfMembers(more, folder / "run", kMembers);
  request.resume = true;
  request.steps = 1536;
  std::vector<double> rates;
  request.on_progress = [&](const TrainProgress& now) {
    for (const auto& [name, value] : now.losses) {
      if (name == "charts/learning_rate") rates.push_back(value);
    }
    CHECK(now.member == kMembers);
  };
  CHECK(Train(request).steps == 1536);
  // The last of 32 rollouts of what the last member has had since step 512.
  REQUIRE_FALSE(rates.empty());
  CHECK(rates.back() == Approx(0.001 / 32.0));
  const Members second = LoadMembers(folder / "run/checkpoint.h5", IdentityOf(request));
  REQUIRE(second.size() == kMembers - 1);
  for (std::size_t m = 0; m < second.size(); ++m) CHECK(SameParameters(*first[m], *second[m]));
  TrainRequest fewer = OfMembers(other, folder / "run", 2);
  fewer.resume = true;
  CHECK_THROWS_WITH(Train(fewer), Catch::Contains("--members"));
}

TEST_CASE("members: each begins with weights of its own, and where the one before left the workloads") {
  struct Counted final : BatchEnv {
    int num_envs() const override { return inner.num_envs(); }
    int num_actions() const override { return inner.num_actions(); }
    ObservationLayout layout() const override { return inner.layout(); }
    void Reset(const StepBuffers& out) override { ++resets, inner.Reset(out); }
    void NextEpisodes(const StepBuffers& out) override { ++nexts, inner.Reset(out); }
    void StepRange(int begin, int end, std::span<const std::int32_t> actions,
                   const StepBuffers& out) override {
      inner.StepRange(begin, end, actions, out);
    }
    EpisodeStats TakeStats() override { return inner.TakeStats(); }
    std::vector<std::uint8_t> SaveState() const override { return inner.SaveState(); }
    void LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) override {
      inner.LoadState(state, out);
    }
    CartPole inner{4, 0.98, 5};
    int resets = 0, nexts = 0;
  };
  const TemporaryFolder folder;
  Counted env;
  TrainRequest request = OfMembers(env, folder / "run", kMembers);
  request.agent = "ppo(n_steps=8,minibatch=16,epochs=1,lr=1e-30)";  // what moves nothing keeps what was drawn
  Train(request);
  CHECK(env.resets == 1);
  CHECK(env.nexts == kMembers - 1);
  const Members trained = LoadMembers(folder / "run/checkpoint.h5", IdentityOf(request));
  REQUIRE(trained.size() == kMembers - 1);
  CHECK_FALSE(SameParameters(*trained[0], *trained[1]));
  const auto drawn = MakeNetwork("mlp(hidden=16)", env.layout(), env.num_actions(), request.seed);
  const auto left = ParametersOf(*trained[0]), right = ParametersOf(*drawn);
  for (std::size_t k = 0; k < left.size(); ++k) CHECK(torch::allclose(left[k], right[k], 0.0, 1e-20));
}

TEST_CASE("members: one that diverged is not kept, nor is the checkpoint replaced") {
  const TemporaryFolder folder;
  CartPole good(4, 0.98, 5);
  Train(OfMembers(good, folder / "run", kMembers));
  const TrainedNetwork before = ReadTrainedNetwork(folder / "run/checkpoint.h5");
  Table table = Ring(2, 0.9);
  table.reward[1][0] = std::numeric_limits<float>::quiet_NaN();
  TableEnv bad(table, 4);
  CHECK_THROWS_WITH(Train(OfMembers(bad, folder / "run", kMembers)), Catch::Contains("a lower lr may help"));
  CHECK(SameParameters(*ReadTrainedNetwork(folder / "run/checkpoint.h5").network, *before.network));
}

}  // namespace berth
