// Checkpoints: N steps straight = N / 2, save, new objects, resume, N / 2, bit for bit; and refusals.
#include "agents/train/checkpoint.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>

#include "agents/train/trainer.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/toy_envs.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

constexpr const char* kPpo = "ppo(n_steps=8,minibatch=16,epochs=2,lr_schedule=linear)";
constexpr const char* kDevice = "ppo(learner=device,n_steps=8,minibatch=16,epochs=2,lr_schedule=linear)";
constexpr const char* kOverlap = "ppo(learner=device,overlap=true,n_steps=8,minibatch=16,epochs=2)";
constexpr const char* kSoft = "dqn(buffer=300,learning_starts=64,batch=8,train_freq=40,gradient_steps=2)";
constexpr const char* kDqn =
    "dqn(buffer=300,learning_starts=64,batch=8,train_freq=8,gradient_steps=2,target_interval=40,n_step=3)";
constexpr const char* kAutograd =
    "dqn(buffer=300,learning_starts=64,batch=8,train_freq=8,gradient_steps=2,target_interval=40,fused=false)";
constexpr const char* kCaptured =
    "dqn(buffer=300,learning_starts=64,batch=8,train_freq=8,gradient_steps=2,target_interval=40,learner="
    "device)";
constexpr const char* kPrioritised =
    "dqn(buffer=300,learning_starts=64,batch=8,train_freq=8,gradient_steps=2,n_step=2,per_alpha=0.6)";

TrainRequest Request(const std::string& agent, BatchEnv& env, const std::string& out, int threads) {
  TrainRequest request;
  request.agent = agent;
  request.network = "mlp(hidden=16)";
  request.env = &env;
  request.steps = 1024;
  request.seed = 5;
  request.device = "cpu";
  request.threads = threads;
  request.out_dir = out;
  request.gpu_types = {"none"};
  request.workload = "cartpole";
  request.environment = "clock=event gpus=4";
  return request;
}

// Everything that training moves: the checkpoint's numbers but for wall times.
std::vector<double> Contents(const std::string& path) {
  const h5::Reader in(path, kCheckpointKind, kCheckpointVersion);
  std::vector<double> all;
  const auto append = [&](const auto& values) { all.insert(all.end(), values.begin(), values.end()); };
  for (const std::string& name : in.Datasets()) {
    const auto is = [&](const char* prefix) { return name.find(prefix) != std::string::npos; };
    if (is("_row") || is("replay/action")) {
      append(in.Array<std::int32_t>(name));
    } else if (is("replay/mask") || is("replay/end")) {
      append(in.Array<std::uint8_t>(name));
    } else if (is("replay/position")) {
      append(in.Array<std::int64_t>(name));
    } else if (is("replay/priority")) {
      append(in.Array<double>(name));
    } else if (is("network") || is("target") || is("acting") || is("_moment_") ||
               is("examples/observation") || is("replay/")) {
      append(in.Array<float>(name));
    } else if (is("return_normalizer")) {
      append(in.Array<double>(name));
    } else if (is("streams")) {
      append(in.Array<std::uint64_t>(name));
    } else if (is("environment/state")) {
      append(in.Array<std::uint8_t>(name));
    }
  }
  all.push_back(static_cast<double>(in.Array<std::int64_t>("counters/steps", 2)[0]));
  return all;
}

}  // namespace

TEST_CASE("an interrupted run continues bit for bit") {
  for (const std::string agent : {kPpo, kDevice, kOverlap, kSoft, kDqn, kAutograd, kCaptured, kPrioritised}) {
    for (const int threads : {1, 2}) {
      CAPTURE(agent, threads);
      const test::TemporaryFolder folder;
      {
        CartPole env(4, 0.98, 5);
        CHECK_FALSE(Train(Request(agent, env, folder / "straight", threads)).interrupted);
      }
      {
        CartPole env(4, 0.98, 5);
        std::atomic<bool> interrupted = false;
        env.on_step = [&](std::int64_t step) { interrupted = step >= 128; };
        TrainRequest request = Request(agent, env, folder / "halves", threads);
        request.interrupted = &interrupted;
        const TrainOutcome half = Train(request);
        CHECK(half.interrupted);
        CHECK(half.steps == 512);
      }
      CHECK(Contents(folder / "straight/checkpoint.h5") != Contents(folder / "halves/checkpoint.h5"));
      CartPole env(4, 0.98, 5);
      TrainRequest request = Request(agent, env, folder / "halves", threads);
      request.resume = true;
      CHECK(Train(request).steps == 1024);
      const std::vector<double> straight = Contents(folder / "straight/checkpoint.h5");
      CHECK(straight.size() > 200);
      CHECK(straight == Contents(folder / "halves/checkpoint.h5"));

      // A run that is complete changes nothing more.
      CartPole again(4, 0.98, 5);
      request.env = &again;
      CHECK(Train(request).steps == 1024);
      CHECK(straight == Contents(folder / "halves/checkpoint.h5"));
    }
  }
}

TEST_CASE("a run that is complete keeps its progress when it is resumed") {
  const test::TemporaryFolder folder;
  const auto text = [&] {
    std::ifstream file(folder / "run/progress.csv");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder / "run"), {});
  };
  CartPole env(4, 0.98, 5);
  TrainRequest request = Request(kPpo, env, folder / "run", 1);
  request.members = 2;
  Train(request);
  const std::string before = text();
  const auto there = files();
  CHECK(std::count(before.begin(), before.end(), '\n') >= 2);
  CartPole again(4, 0.98, 5);
  request.env = &again, request.resume = true;
  bool begun = false;
  request.on_begin = [&] { begun = true; };
  CHECK(Train(request).steps == 1024);
  CHECK_FALSE(begun);
  CHECK(text() == before);
  CHECK(files() == there);
}

TEST_CASE("a checkpoint of another run is refused, with both sides") {
  const test::TemporaryFolder folder;
  CartPole env(4, 0.98, 5);
  Train(Request(kPpo, env, folder / "run", 1));
  const auto refuse = [&](TrainRequest request, const std::string& words) {
    request.resume = true;
    CHECK_THROWS_WITH(Train(request), Catch::Contains(words));
  };
  TrainRequest request = Request(kPpo, env, folder / "run", 1);
  request.agent = kDqn;
  refuse(request, "--agent");
  request = Request(kPpo, env, folder / "run", 1);
  request.network = "mlp(hidden=8)";
  refuse(request, "--network");
  request = Request(kPpo, env, folder / "run", 1);
  request.seed = 6;
  refuse(request, "expected 5 as in the checkpoint, found 6");
  request = Request(kPpo, env, folder / "run", 1);
  request.mdp.tau_s = 7.0;
  refuse(request, "decision process");
  request = Request(kPpo, env, folder / "run", 1);
  request.workload = "another";
  refuse(request, "same workload: expected cartpole as in the checkpoint, found another");
  request = Request(kPpo, env, folder / "run", 1);
  request.environment = "clock=rounds gpus=4";
  refuse(request,
         "same environment: expected clock=event gpus=4 as in the checkpoint, found clock=rounds gpus=4");
  refuse(Request(kPpo, env, folder / "nothing", 1), "nothing/checkpoint.h5");
  CartPole wider(5, 0.98, 5);
  refuse(Request(kPpo, wider, folder / "run", 1), "--envs");
}

TEST_CASE("a checkpoint from before a parameter was added is resumed with its default") {
  const test::TemporaryFolder folder;
  CartPole env(4, 0.98, 5);
  const TrainRequest request = Request(kPpo, env, folder.path(), 1);
  RunIdentity older = IdentityOf(request), other = older;
  const std::string added = ",fused=true";
  const std::size_t at = older.agent.find(added);
  REQUIRE(at != std::string::npos);
  older.agent.erase(at, added.size());
  auto agent = MakeTestAgent(kPpo, request.network, env, 5);
  env.Reset(agent->First());
  TrainOnce(*agent, env, 0.0);
  SaveCheckpoint(folder / "older.h5", older, {.steps = 32}, {}, *agent, env);
  auto resumed = MakeTestAgent(kPpo, request.network, env, 5);
  CHECK(LoadCheckpoint(folder / "older.h5", IdentityOf(request), *resumed, env).steps == 32);
  CHECK(FlatParameters(*resumed) == FlatParameters(*agent));
  // Another value than the default is another run still.
  other.agent.replace(at, added.size(), ",fused=false");
  CHECK_THROWS_WITH(LoadCheckpoint(folder / "older.h5", other, *resumed, env), Catch::Contains("--agent"));
}

TEST_CASE("checkpoints of format 4: PPO's are read, DQN's refused in one line") {
  const test::TemporaryFolder folder;
  CartPole env(4, 0.98, 5);
  for (const std::string spec : {kPpo, kDqn}) {
    auto agent = MakeTestAgent(spec, "mlp(hidden=16)", env, 5),
         again = MakeTestAgent(spec, "mlp(hidden=16)", env, 6);
    env.Reset(agent->First());
    TrainOnce(*agent, env, 0.0);
    h5::Writer out(folder / "four.h5", kCheckpointKind, 4);
    agent->Save(&out);
    out.Commit();
    const h5::Reader in(folder / "four.h5", kCheckpointKind, kCheckpointVersion);
    if (spec == kPpo) {
      again->Load(in);
      CHECK(FlatParameters(*again) == FlatParameters(*agent));
    } else {
      CHECK_THROWS_WITH(again->Load(in),
                        Catch::Contains("expected a checkpoint of format version 5 or later, found 4"));
    }
  }
}

TEST_CASE("a checkpoint keeps the whole decision process") {
  const test::TemporaryFolder folder;
  CartPole env(4, 0.98, 5);
  TrainRequest request = Request(kPpo, env, folder / "run", 1);
  request.mdp.semantics = Semantics::kCommit;
  request.mdp.preemptive = false;
  request.mdp.knowledge = Knowledge::kBlind;
  request.mdp.order = QueueOrder::kShortest;
  request.mdp.on_change = false;
  request.mdp.work_conserving = false;
  request.mdp.visible = 9;
  request.mdp.reward = "jct+0.5*slowdown";
  request.mdp.tau_s = 123.5;
  Train(request);
  const TrainedNetwork trained = ReadTrainedNetwork(folder / "run/checkpoint.h5");
  CHECK(trained.run.mdp.ToString() == request.mdp.ToString());
  CHECK(trained.run.gpu_types == request.gpu_types);
  CHECK(trained.run.seed == 5);
  CHECK(trained.counters.steps == 1024);
}

TEST_CASE("wrong requests are errors in one line") {
  CartPole env(2, 0.98, 5);
  const auto refuse = [&](auto change, const std::string& words) {
    TrainRequest request = Request(kPpo, env, "", 1);
    change(request);
    CHECK_THROWS_WITH(Train(request), Catch::Contains(words));
  };
  refuse([](TrainRequest& r) { r.steps = 0; }, "--steps");
  refuse([](TrainRequest& r) { r.threads = 0; }, "--threads");
  refuse([](TrainRequest& r) { r.device = "cud"; }, "did you mean 'cuda'");
  refuse([](TrainRequest& r) { r.agent = "pppo"; }, "did you mean 'ppo'");
  refuse([](TrainRequest& r) { r.agent = "ppo(learn=1)"; }, "learn");
  refuse([](TrainRequest& r) { r.out_dir = "/proc/nowhere"; }, "/proc/nowhere");
}

TEST_CASE("a network that diverged does not replace the last good checkpoint") {
  const test::TemporaryFolder folder;
  CartPole good(4, 0.98, 5);
  Train(Request(kPpo, good, folder / "run", 1));
  const std::vector<double> before = Contents(folder / "run/checkpoint.h5");
  Table table = Ring(2, 0.9);
  table.reward[1][0] = std::numeric_limits<float>::quiet_NaN();
  for (const std::string agent : {kPpo, kSoft, kDqn, kAutograd, kPrioritised}) {
    CAPTURE(agent);
    TableEnv bad(table, 4);
    CHECK_THROWS_WITH(Train(Request(agent, bad, folder / "run", 1)), Catch::Contains("a lower lr may help"));
    CHECK(Contents(folder / "run/checkpoint.h5") == before);
  }
}

TEST_CASE("training leaves progress in CSV with CleanRL's names, and continues it") {
  const test::TemporaryFolder folder;
  CartPole env(4, 0.98, 5);
  TrainRequest request = Request(kPpo, env, folder / "run", 1);
  std::vector<TrainProgress> seen;
  request.on_progress = [&](const TrainProgress& progress) { seen.push_back(progress); };
  const TrainOutcome outcome = Train(request);
  REQUIRE(!seen.empty());
  CHECK(seen.back().steps == 1024);
  CHECK(seen.back().total_steps == 1024);
  CHECK(outcome.device == "cpu");
  CHECK(outcome.mean_return > 5.0);
  const auto lines = [&] {
    std::ifstream in(folder / "run/progress.csv");
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  };
  const auto first = lines();
  REQUIRE(first.size() >= 2);
  CHECK(first[0].rfind("global_step,charts/SPS,charts/episodic_return", 0) == 0);
  for (const char* name : {"losses/policy_loss", "losses/value_loss", "losses/entropy", "losses/approx_kl",
                           "losses/clipfrac", "losses/explained_variance", "charts/learning_rate"}) {
    CHECK(first[0].find(name) != std::string::npos);
  }
  CHECK(first.back().rfind("1024,", 0) == 0);
  std::ofstream(folder / "run/progress.csv", std::ios::app) << "12";  // half a row, as a kill may leave it
  request.resume = true;
  request.steps = 2048;
  Train(request);
  const auto second = lines();
  REQUIRE(second.size() > first.size());
  CHECK(std::vector<std::string>(second.begin(),
                                 second.begin() + static_cast<std::ptrdiff_t>(first.size())) == first);
  CHECK(second.back().rfind("2048,", 0) == 0);
}

}  // namespace berth
