// A network that is a description and nothing else goes all the way: trained, saved, read, exported, run.
#include <algorithm>
#include <filesystem>

#include "agents/nn/fused/fused_network.hpp"
#include "agents/train/checkpoint.hpp"
#include "agents/train/trainer.hpp"
#include "policies/inference.hpp"
#include "policies/learn/export.hpp"
#include "tests/catch.hpp"
#include "tests/learn/toy_envs.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {

TEST_CASE("a described network: a training step, the checkpoint, the frozen policy") {
  const std::string network = GENERATE("toy", "toy(units=5,crowd=true)");
  const std::string agent =
      GENERATE("ppo(n_steps=8,minibatch=16,epochs=2)", "ppo(n_steps=8,minibatch=16,epochs=2,fused=false)");
  CAPTURE(network, agent);
  const test::TemporaryFolder folder;
  const std::unique_ptr<BatchEnv> env = ToyEnv(SmallMdp(), 4, 3);
  TrainRequest request;
  request.agent = agent;
  request.network = network;
  request.env = env.get();
  request.mdp = SmallMdp();
  request.steps = 128;
  request.seed = 5;
  request.device = "cpu";
  request.out_dir = folder / "run";
  for (int g = 0; g < env->layout().g; ++g) request.gpu_types.push_back(Join("type", g));
  Train(request);

  const TrainedNetwork trained = ReadTrainedNetwork(folder / "run/checkpoint.h5");
  CHECK(trained.run.network == ResolveArchitecture(network));
  const auto fresh = MakeNetwork(network, env->layout(), env->num_actions(), request.seed);
  std::size_t moved = 0;
  for (std::size_t k = 0; k < fresh->parameters().size(); ++k) {
    moved += torch::equal(fresh->parameters()[k], trained.network->parameters()[k]) ? 0 : 1;
  }
  CHECK(moved + 2 >= fresh->parameters().size());  // `done` may never have been legal

  const torch::NoGradGuard no_grad;
  BundleFacts facts;
  facts.network = trained.run.network;
  facts.layout = trained.run.layout;
  facts.num_actions = trained.run.num_actions;
  facts.mdp = trained.run.mdp;
  facts.gpu_types = trained.run.gpu_types;
  double difference = 1.0;
  SaveBundle(MakeBundle(*trained.network, facts, trained.observation, trained.mask, &difference),
             folder / "policy.h5");
  CHECK(difference < 1e-6);
  const PolicyBundle bundle = LoadBundle(folder / "policy.h5");
  const auto frozen = Freeze(bundle);
  Stream stream(9, Purpose::kTest);
  std::vector<float> scores(static_cast<std::size_t>(bundle.num_actions));
  for (int present = 0; present <= bundle.layout.q; ++present) {
    const std::vector<float> row = test::RandomObservation(bundle.layout, present, stream);
    const NetworkOutput out =
        trained.network->Forward(torch::from_blob(const_cast<float*>(row.data()), {1, bundle.layout.size()}));
    const float value = frozen->Evaluate(row, bundle.layout, scores);
    CHECK(value == Approx(out.value.item<float>()).margin(1e-6));
    for (std::size_t a = 0; a < scores.size(); ++a) {
      CHECK(scores[a] == Approx(out.scores[0][static_cast<std::int64_t>(a)].item<float>()).margin(1e-6));
    }
  }
}

TEST_CASE("fused passes take the networks whose every step they have") {
  const ObservationLayout layout = ObservationV1::Layout(4, 2);
  for (const char* network : {"mlp", "pair_scorer", "pair_scorer(skip=true)", "toy"}) {
    CAPTURE(network);
    CHECK(FusedNetwork::Takes(Describe(network, layout, 9)));
  }
  CHECK_FALSE(FusedNetwork::Takes(Describe("toy(crowd=true)", layout, 9)));
}

TEST_CASE("an architecture says truly whether it takes any queue and cluster") {
  for (const ArchitectureInfo& info : Architectures()) {
    CAPTURE(info.name);
    const NetworkDescription net = Describe(info.name, ObservationV1::Layout(4, 2), 9);
    CHECK(info.any_size == !net.Reads(NetworkDescription::observation()));
  }
}

}  // namespace berth
