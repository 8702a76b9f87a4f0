// Members of one training: their networks side by side answer with the means of their scores, resuming across
// a member's end is exact, and each has seeds and workloads of its own.
#include <atomic>

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

constexpr int kJobsShown = 3, kTypesShown = 2, kMembers = 3;

// Channels of jobs begin with "is there", which the second job of a row is not.
torch::Tensor RandomRows(const ObservationLayout& layout) {
  torch::manual_seed(7);
  torch::Tensor rows = torch::rand({4, layout.size()}) - 0.3;
  rows.index_put_({torch::indexing::Slice(), 0}, 1.0);
  rows.narrow(1, layout.job_channels, layout.job_channels).zero_();
  rows.index_put_({torch::indexing::Slice(), 2 * layout.job_channels}, 1.0);
  return rows;
}

TrainRequest OfMembers(BatchEnv& env, const std::string& out, int members) {
  TrainRequest request;
  request.agent = "ppo(n_steps=8,minibatch=16,epochs=2)";
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

TEST_CASE("members: networks side by side answer with the means of their scores and values") {
  const ObservationLayout layout{kJobsShown, kTypesShown, 5, 3, 4, 6};
  for (const std::string spec :
       {"pair_scorer(width=8,skip=true)", "pair_scorer(width=5,layers=3,activation=tanh)",
        "pair_scorer(layers=1)", "mlp(hidden=16)", "mlp(hidden=8x4x6,activation=relu)"}) {
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
      CopySideBySide(members, *wide);
      const torch::Tensor rows = RandomRows(layout);
      const NetworkOutput found = wide->Forward(rows);
      torch::Tensor scores = torch::zeros_like(found.scores), value = torch::zeros_like(found.value);
      for (const auto& member : members) {
        scores += member->Forward(rows).scores / kMembers;
        value += member->Forward(rows).value / kMembers;
      }
      CHECK(torch::allclose(found.scores, scores, 1e-4, 1e-5));
      CHECK(torch::allclose(found.value, value, 1e-4, 1e-5));
      CHECK_FALSE(torch::allclose(scores, members[0]->Forward(rows).scores, 1e-2, 1e-2));
    }
  }
}

TEST_CASE("members: a spec is widened in every hidden layer, as far as the network takes") {
  CHECK(WidenArchitecture("mlp(hidden=8x4)", 3) == ResolveArchitecture("mlp(hidden=24x12)"));
  CHECK(WidenArchitecture("pair_scorer(width=8,skip=true)", 4) ==
        ResolveArchitecture("pair_scorer(width=32,skip=true)"));
  CartPole env(4, 0.98, 5);
  TrainRequest request = OfMembers(env, "", 64);
  request.network = "mlp(hidden=1024)";
  CHECK_THROWS_WITH(Train(request), Catch::Contains("'hidden'") && Catch::Contains("64 --members"));
  request.members = 65;
  CHECK_THROWS_WITH(Train(request), Catch::Contains("--members: expected 1 to 64, found 65"));
}

TEST_CASE("members: interrupted in any of them, a training goes on bit for bit") {
  const TemporaryFolder folder;
  CartPole env(4, 0.98, 5);
  CHECK(Train(OfMembers(env, folder / "straight", kMembers)).steps == 768);
  const TrainedNetwork straight = ReadTrainedNetwork(folder / "straight/checkpoint.h5");
  CHECK(straight.architecture == ResolveArchitecture("mlp(hidden=48)"));
  for (const std::int64_t stop : {40, 64, 72, 150}) {  // of 192 steps of each environment, 64 a member
    CAPTURE(stop);
    const std::string out = folder / std::to_string(stop);
    {
      CartPole first(4, 0.98, 5);
      std::atomic<bool> interrupted = false;
      first.on_step = [&](std::int64_t step) { interrupted = step >= stop; };
      TrainRequest request = OfMembers(first, out, kMembers);
      request.interrupted = &interrupted;
      CHECK(Train(request).interrupted);
    }
    CartPole rest(4, 0.98, 5);
    TrainRequest request = OfMembers(rest, out, kMembers);
    request.resume = true;
    CHECK(Train(request).steps == 768);
    CHECK(SameParameters(*ReadTrainedNetwork(out + "/checkpoint.h5").network, *straight.network));
  }
  CartPole other(4, 0.98, 5);
  TrainRequest request = OfMembers(other, folder / "straight", 2);
  request.resume = true;
  CHECK_THROWS_WITH(Train(request), Catch::Contains("--members"));
}

TEST_CASE("members: each has weights of its own, and one alone is what there was before members") {
  const TemporaryFolder folder;
  CartPole env(4, 0.98, 5), alone(4, 0.98, 5);
  Train(OfMembers(env, folder / "run", kMembers));
  const RunIdentity run = IdentityOf(OfMembers(env, folder / "run", kMembers));
  const Members trained = LoadMembers(folder / "run/checkpoint.h5", run);
  REQUIRE(trained.size() == kMembers - 1);
  CHECK_FALSE(SameParameters(*trained[0], *trained[1]));
  Train(OfMembers(alone, folder / "alone", 1));
  const TrainedNetwork one = ReadTrainedNetwork(folder / "alone/checkpoint.h5");
  CHECK(one.architecture == ResolveArchitecture("mlp(hidden=16)"));
  CHECK(LoadMembers(folder / "alone/checkpoint.h5", one.run).empty());
}

}  // namespace berth
