// What several ranks learn together is what one process with all environments learns.
#include "tests/catch.hpp"
#include "tests/learn/trained_ranks.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {

TEST_CASE("ranks: on-policy training by several ranks is that of one process with the joined batch") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  for (const char* agent : {test::kPpo, test::kAutograd, test::kReinforce}) {
    for (const int ranks : {2, 3}) {                // of 4 environments: 2 and 2; 1, 1 and 2
      for (const std::int64_t steps : {64, 256}) {  // after one rollout, and after four
        CAPTURE(agent, ranks, steps);
        const test::TemporaryFolder folder;
        test::Plan plan;
        plan.agent = agent;
        plan.steps = steps;
        plan.out = folder / "alone";
        const test::Trained alone = test::TrainAlone(plan);
        plan.out = folder / "ranks";
        const test::Trained joined = test::TrainRanks(plan, ranks);
        CHECK(joined.outcome.steps == steps);
        test::CheckSameFigures(alone, joined);
        const std::vector<float> a = test::Parameters(folder / "alone/checkpoint.h5");
        CHECK(test::LargestDifference(a, test::Parameters(folder / "ranks/checkpoint.h5")) <= 1e-5);
      }
    }
  }
}

TEST_CASE("ranks: the learner on the device, run on the CPU, is that of one process with the joined batch") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  // Whole rollouts as minibatches: ranks shuffle their own rows, one process shuffles all.
  for (const std::string more :
       {"", ",target_kl=0.003", ",overlap=true,returns=vtrace,normalize_advantage=false"}) {
    for (const int ranks : {2, 4}) {
      CAPTURE(more, ranks);
      const test::TemporaryFolder folder;
      test::Plan plan;
      plan.agent = "ppo(learner=device,n_steps=16,minibatch=64,epochs=3,lr=0.003" + more + ")";
      plan.out = folder / "alone";
      const test::Trained alone = test::TrainAlone(plan);
      plan.out = folder / "ranks";
      test::CheckSameFigures(alone, test::TrainRanks(plan, ranks));
      const std::vector<float> a = test::Parameters(folder / "alone/checkpoint.h5");
      CHECK(test::LargestDifference(a, test::Parameters(folder / "ranks/checkpoint.h5")) <= 1e-5);
    }
  }
  // The captured gradient of DQN, whose clipping is of the sum.
  test::Plan dqn;
  dqn.agent = std::string(test::kDqn);
  dqn.agent.insert(4, "learner=device,max_grad_norm=0.05,");
  dqn.env = test::SameEverywhere;
  test::CheckSameFigures(test::TrainAlone(dqn), test::TrainRanks(dqn, 2));
}

TEST_CASE("ranks: DQN averages what the ranks learn from replays of their own") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  for (const int ranks : {2, 3}) {  // 16 rows: 8 and 8; 5, 5 and 6
    CAPTURE(ranks);
    test::Plan plan;
    plan.agent = test::kDqn;
    plan.env = test::SameEverywhere;
    test::CheckSameFigures(test::TrainAlone(plan), test::TrainRanks(plan, ranks));
  }
}

}  // namespace berth
