// The synthetic task against its definition (agents/tasks/synthetic_task.hpp), played by a model that keeps
// what it says.
#include <algorithm>
#include <utility>
#include <vector>

#include "agents/tasks/synthetic_pairs.hpp"
#include "agents/tasks/synthetic_task.hpp"
#include "tests/catch.hpp"

namespace berth {

TEST_CASE("synthetic task: observation, mask and reward are those of its statement") {
  constexpr int kEnvs = 3, kSlots = SyntheticTask::kSlots;
  SyntheticTask env(kEnvs, 0.99, 5);
  CHECK(env.layout().size() == 128);
  CHECK(env.num_actions() == 64);
  StepStorage storage(kEnvs, 128, 64);
  env.Reset(storage.buffers());
  Stream draw(1, Purpose::kTest);
  struct Model {
    double now = 0.0, free = 16.0;
    std::vector<std::pair<double, double>> running;  // (end, width)
    int step = 0;
  };
  std::vector<Model> models(kEnvs);
  double total = 0.0;
  int truncated = 0;
  for (int t = 0; t < 600; ++t) {
    std::vector<std::int32_t> actions;
    std::vector<double> rewards;
    const std::vector<float> before = storage.observation;
    for (std::size_t i = 0; i < kEnvs; ++i) {
      Model& model = models[i];
      const float* row = before.data() + i * 128;
      CHECK(row[126] == static_cast<float>(model.free / 16.0));
      CHECK(row[127] == static_cast<float>(256 - model.step) / 256.0F);
      std::vector<std::int32_t> legal;
      for (std::int32_t a = 0; a < 64; ++a) {
        const auto s = static_cast<std::size_t>(a);
        const bool wanted = a < kSlots ? row[63 + s] * 8.0F <= model.free : !model.running.empty();
        REQUIRE(storage.action_mask[i * 64 + s] == wanted);
        if (wanted) legal.push_back(a);
      }
      const std::int32_t action = legal[draw.Below(static_cast<std::uint32_t>(legal.size()))];
      actions.push_back(action);
      double reward = 0.0;
      if (action < kSlots) {
        const double duration = row[action], width = row[63 + action] * 8.0;
        REQUIRE((duration >= 0.05F && duration <= 1.0));
        REQUIRE((width == 1 || width == 2 || width == 4 || width == 8));
        model.free -= width;
        model.running.emplace_back(model.now + duration, width);
      } else {
        const auto first = std::min_element(model.running.begin(), model.running.end());
        reward = -(first->first - model.now) * model.free / 16.0;
        model.now = first->first;
        model.free += first->second;
        model.running.erase(first);
      }
      rewards.push_back(reward);
      ++model.step;
    }
    env.Step(actions, storage.buffers());
    for (std::size_t i = 0; i < kEnvs; ++i) {
      CHECK(storage.reward[i] == Approx(rewards[i]).margin(1e-6));
      total += rewards[i];
      CHECK(storage.terminated[i] == 0);
      CHECK(storage.truncated[i] == (models[i].step == 256));
      CHECK(storage.discount[i] == 0.99F);
      if (storage.truncated[i] != 0) {
        CHECK(storage.final_observation[i * 128 + 127] == 0.0F);
        ++truncated;
        models[i] = {};
      } else if (actions[i] < kSlots) {
        // Only the slot that was taken is another one.
        for (std::size_t s = 0; s < kSlots; ++s) {
          if (s != static_cast<std::size_t>(actions[i])) {
            CHECK(storage.observation[i * 128 + s] == before[i * 128 + s]);
          }
        }
        CHECK(storage.observation[i * 128 + static_cast<std::size_t>(actions[i])] !=
              before[i * 128 + static_cast<std::size_t>(actions[i])]);
      }
    }
  }
  CHECK(truncated == 6);
  const EpisodeStats stats = env.TakeStats();
  CHECK(stats.episodes == 6);
  CHECK(stats.return_sum < 0.0);
  CHECK(stats.return_sum > total - 1e-6);  // the episodes under way are not in it
}

TEST_CASE("synthetic task: a saved state goes on as it would have") {
  SyntheticTask env(2, 0.99, 5), other(2, 0.99, 5);
  StepStorage storage(2, 128, 64), again(2, 128, 64);
  env.Reset(storage.buffers());
  other.Reset(again.buffers());
  const auto step = [](SyntheticTask& task, StepStorage& s) {
    std::vector<std::int32_t> actions;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto mask = s.action_mask.begin() + static_cast<std::ptrdiff_t>(i * 64);
      actions.push_back(static_cast<std::int32_t>(std::find(mask, mask + 64, 1) - mask));
    }
    task.Step(actions, s.buffers());
  };
  for (int t = 0; t < 300; ++t) step(env, storage);
  other.LoadState(env.SaveState(), again.buffers());
  for (int t = 0; t < 300; ++t) {
    CHECK(storage.observation == again.observation);
    CHECK(storage.action_mask == again.action_mask);
    step(env, storage);
    step(other, again);
  }
}

TEST_CASE("synthetic pairs: legal actions pay the pair's speed, and every step shows another observation") {
  constexpr int kEnvs = 2;
  SyntheticPairs env(kEnvs, 0.99, 5);
  const ObservationLayout layout = env.layout();
  CHECK(layout == ObservationV1::Layout(32, 3));
  const auto size = static_cast<std::size_t>(layout.size()),
             actions = static_cast<std::size_t>(env.num_actions());
  CHECK(actions == 97);
  StepStorage storage(kEnvs, layout.size(), env.num_actions());
  env.Reset(storage.buffers());
  Stream draw(1, Purpose::kTest);
  int truncated = 0;
  for (int t = 0; t < 300; ++t) {
    const std::vector<float> before = storage.observation;
    std::vector<std::int32_t> chosen;
    for (std::size_t i = 0; i < kEnvs; ++i) {
      std::vector<std::int32_t> legal;
      for (std::size_t a = 0; a < actions; ++a) {
        const std::size_t pair = i * size + static_cast<std::size_t>(layout.pairs_offset()) + a * 6;
        REQUIRE(storage.action_mask[i * actions + a] == (a == 96 || before[pair] == 1.0F));
        if (storage.action_mask[i * actions + a]) legal.push_back(static_cast<std::int32_t>(a));
      }
      for (std::size_t q = 0; q < 32; ++q) REQUIRE(before[i * size + q * 11] == 1.0F);  // the queue is full
      chosen.push_back(legal[draw.Below(static_cast<std::uint32_t>(legal.size()))]);
    }
    env.Step(chosen, storage.buffers());
    for (std::size_t i = 0; i < kEnvs; ++i) {
      const std::size_t speed =
          i * size + static_cast<std::size_t>(layout.pairs_offset() + chosen[i] * 6 + 1);
      CHECK(storage.reward[i] == (chosen[i] == 96 ? 0.0F : before[speed]));
      CHECK(storage.truncated[i] == (t == 255));
      truncated += storage.truncated[i];
      const auto row = static_cast<std::ptrdiff_t>(i * size), next = row + static_cast<std::ptrdiff_t>(size);
      CHECK(!std::equal(before.begin() + row, before.begin() + next, storage.observation.begin() + row));
    }
  }
  CHECK(truncated == kEnvs);
  CHECK(env.TakeStats().episodes == kEnvs);
}

}  // namespace berth
