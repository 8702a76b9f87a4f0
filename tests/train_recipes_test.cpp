// berth train: what --recipe many_clusters makes of --steps and options given, what learners refuse.
#include <filesystem>
#include <string>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using test::Outcome;
using test::TemporaryFolder;

void CheckSays(const std::string& words, const std::string& part) {
  const TemporaryFolder folder;
  const std::string recipe = words.find("--recipe") == std::string::npos ? "--recipe many_clusters " : "";
  const Outcome outcome = test::Berth(folder, "train --dry-run --out r " + recipe + words);
  CAPTURE(words, part, outcome.out, outcome.error);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("recipes: steps are divided among members, more of them where there are more") {
  CheckSays("--recipe default --steps 249999", "pair_scorer(width=8,skip=true), 249,999 steps");
  CheckSays("--recipe default --steps 250000", "2 members, 250,000 steps");
  CheckSays("--recipe default", "4 members, 1,000,000 steps");
  CheckSays("--recipe default --steps 4000000", "8 members, 4,000,000 steps");
  CheckSays("--recipe default --members 3", "3 members, 1,000,000 steps");
  CheckSays("--recipe default --agent dqn", "pair_scorer(width=8,skip=true), 1,000,000 steps");
  CheckSays("--recipe textbook", "pair_scorer, 1,000,000 steps");
}

TEST_CASE("recipes: more steps of many_clusters are as many updates of larger rollouts") {
  CheckSays("", "4 members, 2,000,000 steps, 64 environments");
  CheckSays("", "ppo(n_steps=128,minibatch=1024)");
  CheckSays("--steps 12000000", "ppo(n_steps=128,minibatch=3072)");  // 1,500,000 a member
  CheckSays("--steps 12000000", "8 members, 12,000,000 steps, 192 environments");
  // 500,000 a member: 61 updates of 8 minibatches; 2,500,000 as many.
  CheckSays("--steps 20000000", "ppo(n_steps=160,minibatch=5120)");
  CheckSays("--steps 20000000", "256 environments");
  CheckSays("", "wspt(delay=1.5,");
  CheckSays("--steps 12000000", "wspt(delay=2.25,");
  CheckSays("--steps 20000000", "wspt(delay=3,");
  CheckSays("--steps 40000000", "wspt(delay=3,");
  CheckSays("--knowledge blind", "wspt(delay=3,");
}

TEST_CASE("recipes: what is given goes before the recipe, and its signal is for the reward it is made for") {
  CheckSays("--steps 20000000 --agent 'ppo(lr=0.001)' --envs 8", "agent ppo(lr=0.001)");
  CheckSays("--steps 20000000 --agent 'ppo(lr=0.001)' --envs 8", "8 environments");
  CheckSays("--steps 20000000 --agent 'ppo(lr=0.001)'", "64 environments");
  CheckSays("--reward energy", "reward=energy");
}

TEST_CASE("train: what the agent or the network refuses is named by its flag, and leaves no folder") {
  if (!test::HaveLearners())
    return test::Skip("needs libberth_learn.so beside the binary (target berth_learn)");
  const TemporaryFolder folder;
  const auto train = [&](const std::string& words) { return test::Berth(folder, "train --out r " + words); };
  test::CheckOneLine(train("--agent 'ppo(lr=-1)'"), "--agent: ppo: parameter 'lr'");
  test::CheckOneLine(train("--network 'mlp(hidden=0)'"), "--network: mlp");
  CHECK_FALSE(std::filesystem::exists(folder / "r"));
}

}  // namespace berth
