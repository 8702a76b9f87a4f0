#include "tests/learn/changed_checkpoints.hpp"

#include <filesystem>
#include <vector>

#include "agents/train/checkpoint.hpp"
#include "agents/train/trainer.hpp"
#include "data/workloads.hpp"
#include "env/base/rng.hpp"
#include "env/gym/vec_env.hpp"
#include "tests/fuzz/h5_content.hpp"

namespace berth {
namespace {

constexpr int kShortRun = 128;
constexpr const char* kShortAgents[] = {
    "ppo(n_steps=8,minibatch=16,epochs=1)", "reinforce(n_steps=8)",
    "dqn(buffer=100,learning_starts=16,batch=8,train_freq=8,gradient_steps=1,target_interval=40,n_step=3)",
    "dqn(buffer=100,learning_starts=16,batch=8,train_freq=8,gradient_steps=1,n_step=2,per_alpha=0.6)"};

std::unique_ptr<BatchEnv> SmallEnv() {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=2,k80=1");
  SchedEnvOptions options;
  options.mdp.visible = 3;
  return MakeVecEnv(MakeWorkload("toy(jobs=12)", settings), options, /*num_envs=*/2, /*threads=*/1);
}

TrainRequest RequestFor(const std::string& agent, int members, BatchEnv& env, const std::string& out) {
  TrainRequest request;
  request.agent = agent, request.network = "mlp(hidden=4)", request.members = members;
  request.env = &env;
  request.steps = kShortRun * members, request.seconds = 5;
  request.device = "cpu";
  request.out_dir = out;
  request.gpu_types = {"v100", "k80"};
  return request;
}

}  // namespace

struct ChangedCheckpoints::Runs {
  struct Run {
    std::string agent;
    int members;
    fuzz::Content content;
  };
  std::string folder;
  std::vector<Run> all;
};

ChangedCheckpoints::ChangedCheckpoints(const std::string& folder) : runs_(new Runs{folder, {}}) {
  for (const char* agent : kShortAgents) {
    for (const int members : {1, 2}) {
      const std::string out = folder + "/seed";
      std::filesystem::remove_all(out);
      const std::unique_ptr<BatchEnv> env = SmallEnv();
      Train(RequestFor(agent, members, *env, out));
      runs_->all.push_back({agent, members, fuzz::ContentOf(out + "/checkpoint.h5")});
    }
  }
}

ChangedCheckpoints::~ChangedCheckpoints() = default;

std::string ChangedCheckpoints::Check(std::uint64_t seed, std::int64_t index) {
  Stream stream(seed, Purpose::kTest, Split::kTrain, static_cast<std::uint32_t>(index));
  std::vector<std::uint8_t> bytes(8 + stream.Below(100));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(stream.Below(256));
  const Runs::Run& run = runs_->all[stream.Below(static_cast<std::uint32_t>(runs_->all.size()))];
  fuzz::Content content = run.content;
  fuzz::Input in(bytes);
  for (int changes = 1 + static_cast<int>(stream.Below(4)); changes > 0; --changes) fuzz::Change(content, in);
  const std::string out = runs_->folder + "/changed";
  std::filesystem::remove_all(out);
  std::filesystem::create_directories(out);
  fuzz::Write(content, out + "/checkpoint.h5");
  const auto refused = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const Error&) {
    } catch (const std::exception& other) {
      return other.what();
    }
    return "";
  };
  const std::string read = refused([&] { ReadTrainedNetwork(out + "/checkpoint.h5"); });
  if (!read.empty()) return Join("checkpoint ", index, " of seed ", seed, " (", run.agent, "), read: ", read);
  const std::string continued = refused([&] {
    const std::unique_ptr<BatchEnv> env = SmallEnv();
    TrainRequest request = RequestFor(run.agent, run.members, *env, out);
    request.resume = true;
    request.steps += 64;
    Train(request);
  });
  return continued.empty() ? "" : Join("checkpoint ", index, " of seed ", seed, " (", run.agent, "), continued: ", continued);
}

}  // namespace berth
