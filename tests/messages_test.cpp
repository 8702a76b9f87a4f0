// Messages along the edges that rows name, without LibTorch, by hand.
#include <vector>

#include "env/base/index.hpp"
#include "env/sim/observation_block.hpp"
#include "policies/architecture.hpp"
#include "policies/inference.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

// The score of a job is what reaches it in two steps: the sum over those who name it of what reached these.
ArchitectureInfo TwoSteps() {
  return {"two_steps", "", "", true, {}, "", [](Params&, NetworkDescription& net) {
            const ValueId once = net.Collect(net.jobs()), twice = net.Collect(once);
            const ValueId score = net.Dense("score", {net.pairs(), once, twice}, 1, kScoreGain);
            net.Answer(net.Actions(score), net.Dense("value", {net.Mean(twice)}, 1, kValueGain));
          }};
}

}  // namespace

TEST_CASE("messages: who names a row tells it of itself, and of those who named that") {
  const AlsoKnown known(TwoSteps());
  PolicyBundle bundle;
  bundle.network = "two_steps";
  bundle.layout = {.q = 5, .g = 1, .job_channels = 4, .pair_channels = 1, .type_channels = 1,
                   .global_channels = 1, .edge = 2, .edges = 2};
  bundle.num_actions = 5;
  bundle.mdp.semantics = Semantics::kCommit;
  // 1 for channel 1 after one step, 100 after two.
  std::vector<float> score(1 + 4 + 4, 0.0F);
  score[1 + 1] = 1.0F, score[1 + 4 + 1] = 100.0F;
  bundle.arrays = {{"score.weight", {1, 9}, score}, {"score.bias", {1}, {0.0F}},
                   {"value.weight", {1, 4}, {0.0F, 1.0F, 0.0F, 0.0F}}, {"value.bias", {1}, {0.0F}}};
  // Rows: 0 and 1 jobs; 2 absent; 3 waits for 0 and 1; 4 for 3, and for 2, which is not there.
  std::vector<float> observation(U(bundle.layout.size()), 0.0F);
  const auto row = [&](int q, float x, std::vector<std::size_t> names) {
    float* job = observation.data() + q * 4;
    job[0] = 1.0F, job[1] = x;
    for (std::size_t k = 0; k < names.size(); ++k) job[2 + k] = EdgeTo(names[k]);
  };
  row(0, 2.0F, {});
  row(1, 3.0F, {});
  row(3, 5.0F, {0, 1});
  row(4, 7.0F, {3, 2});
  std::vector<float> scores(5);
  const float value = Freeze(bundle)->Evaluate(observation, bundle.layout, scores);
  // Once: 5 at rows 0 and 1, 7 at row 3. Twice: 7 at rows 0 and 1. The mean is of four rows.
  CHECK(scores == std::vector<float>{705.0F, 705.0F, 0.0F, 7.0F, 0.0F});
  CHECK(value == 14.0F / 4.0F);
  // A job that names itself, and one that is named twice by one row.
  row(0, 2.0F, {0, 1});
  row(3, 5.0F, {1, 1});
  Freeze(bundle)->Evaluate(observation, bundle.layout, scores);
  // Once: 2 at row 0, 2 + 5 + 5 at 1, 7 at 3. Twice: 2 at 0, 2 + 7 + 7 at 1.
  CHECK(scores == std::vector<float>{202.0F, 1612.0F, 0.0F, 7.0F, 0.0F});
}

TEST_CASE("messages: an edge says which row, exactly, and is small") {
  for (const std::size_t row : {0, 1, 31, 4095, 65535, 66559}) {
    CHECK(RowOfEdge(EdgeTo(row)) == static_cast<int>(row));
    CHECK(EdgeTo(row) < 1.1F);
  }
  CHECK(RowOfEdge(0.0F) == -1);
}

}  // namespace berth
