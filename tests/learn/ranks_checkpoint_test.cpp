// Checkpoints of several ranks: resumed to the bit, by any other number, replays joined and dealt out again.
#include "data/hdf5_file.hpp"
#include "tests/catch.hpp"
#include "tests/learn/trained_ranks.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {

TEST_CASE("ranks: the learner on the device goes on from its own checkpoint, with any number of ranks") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  const test::TemporaryFolder folder;
  test::Plan plan;
  plan.agent =
      "ppo(learner=device,n_steps=16,minibatch=24,epochs=2,lr=0.003,lr_schedule=constant,ent_schedule="
      "constant)";
  test::TrainTwice(plan, 256, folder);
  CHECK(test::LargestDifference(test::Parameters(folder / "straight/checkpoint.h5"),
                                test::Parameters(folder / "halves/checkpoint.h5")) == 0.0);
  plan.steps = 320;
  test::TrainAlone(plan);
  plan.steps = 384;
  CHECK(test::TrainRanks(plan, 4).outcome.steps == 384);
  // Fixed shapes are the same on every rank.
  plan.resume = false;
  plan.out = "";
  CHECK_THROWS_WITH(test::TrainRanks(plan, 3),
                    Catch::Contains("learner=device: expected what every rank has equally "
                                    "many of, found 4 environments (--envs), no multiple "
                                    "of 3 processes"));
}

TEST_CASE("ranks: a checkpoint of any number of ranks is continued by any other") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  const test::TemporaryFolder folder;
  test::Plan plan;
  // One update each by 2 ranks, 1, 3 and 2 again. Schedules are constant: a run of fewer steps falls faster.
  const int turns[] = {2, 1, 3, 2};
  plan.agent = "ppo(n_steps=16,minibatch=20,epochs=3,lr=0.01,lr_schedule=constant,ent_schedule=constant)";
  plan.out = folder / "turns";
  test::Plan whole = plan;
  whole.out = folder / "constant";
  const test::Trained alone = test::TrainAlone(whole);
  test::Trained last;
  for (int turn = 0; turn < 4; ++turn) {
    plan.steps = 64 * (turn + 1);
    plan.resume = turn > 0;
    last = turns[turn] == 1 ? test::TrainAlone(plan) : test::TrainRanks(plan, turns[turn]);
    CHECK(last.outcome.steps == plan.steps);
  }
  last.figures["episodic_return"] =
      alone.figures.at("episodic_return");  // of the episodes since the last --resume
  test::CheckSameFigures(alone, last);
  CHECK(test::LargestDifference(test::Parameters(folder / "constant/checkpoint.h5"),
                                test::Parameters(folder / "turns/checkpoint.h5")) <= 1e-5);
}

TEST_CASE("ranks: DQN's replays are joined in its checkpoint and dealt out again") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  for (const char* agent : {test::kDqn, test::kSoftDqn, test::kPrioritised}) {
    CAPTURE(agent);
    const test::TemporaryFolder folder;
    test::Plan plan;
    plan.agent = agent;
    // The parameters show that every rank has its own replay and draws again.
    // (Priorities of new steps begin at the greatest of all ranks then, where each had its own.)
    test::TrainTwice(plan, 512, folder);
    const std::vector<float> straight = test::Parameters(folder / "straight/checkpoint.h5");
    CHECK(straight.size() > 100);
    if (std::string(agent) != test::kPrioritised)
      CHECK(test::LargestDifference(straight, test::Parameters(folder / "halves/checkpoint.h5")) == 0.0);
    // One process, and three ranks, go on from what two have saved.
    plan.steps = 576;
    test::TrainAlone(plan);
    plan.steps = 640;
    CHECK(test::TrainRanks(plan, 3).outcome.steps == 640);
    const h5::Reader in(folder / "halves/checkpoint.h5", "checkpoint", 100);
    CHECK(in.Array<std::uint64_t>("streams/explore").size() == 4);
    CHECK(in.Array<std::uint64_t>("streams/replay").size() == 3);
    // 640 steps of 4 environments: 160 instants, of which the buffer holds 100, and the present one.
    CHECK(in.Array<std::int64_t>("replay/position", 3)[2] == 404);
  }
}

}  // namespace berth
