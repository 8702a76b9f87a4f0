// The replay buffer: windows, what a cut bootstraps from, memory shared within an instant, files.
#include "agents/dqn/replay.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

enum class Ends { kTerminates, kIsCut, kIsCutWithoutMask };

// Writes steps whose observation is a running number, whose reward is that number. The final observation of
// an episode is that of its last step plus 1/2, and its mask allows action 1 alone.
struct Counter {
  Counter(int capacity, int n_step, int limit, Ends ends)
      : replay(capacity, n_step, 1, 1, 2), limit_(limit), ends_(ends) {
    const StepBuffers first = replay.Now();
    first.observation[0] = 0.0F;
    std::fill(first.action_mask.begin(), first.action_mask.end(), std::uint8_t{1});
  }
  void Push() {
    const std::int32_t action = 1;
    const StepBuffers out = replay.Outcome(std::span(&action, 1));
    out.reward[0] = static_cast<float>(number_);
    out.discount[0] = 0.5F;
    out.final_observation[0] = static_cast<float>(number_) + 0.5F;
    ++number_;
    const bool ends = number_ % limit_ == 0;
    out.terminated[0] = ends && ends_ == Ends::kTerminates;
    out.truncated[0] = ends && ends_ != Ends::kTerminates;
    if (ends_ != Ends::kIsCutWithoutMask) out.final_mask[1] = 1;
    out.observation[0] = static_cast<float>(number_);
    replay.Advance();
  }
  Replay replay;

 private:
  int limit_;
  Ends ends_;
  int number_ = 0;
};

}  // namespace

TEST_CASE("replay: returns never cross an episode or the write position, and every usable step is drawn") {
  constexpr int kCapacity = 20, kN = 3, kLimit = 7;
  for (const Ends ends : {Ends::kTerminates, Ends::kIsCut, Ends::kIsCutWithoutMask}) {
    CAPTURE(static_cast<int>(ends));
    Counter counter(kCapacity, kN, kLimit, ends);
    const Replay& replay = counter.replay;
    Stream draws(1, Purpose::kReplay);
    for (int pushed = 1; pushed <= 75; ++pushed) {
      counter.Push();
      if (!replay.Ready()) continue;
      std::set<int> starts;
      for (int k = 0; k < 200; ++k) {
        const Replay::Draw draw = replay.Sample(draws);
        const int from = static_cast<int>(replay.Observation(draw.step)[0]);
        const float to = replay.OfSlot(draw.to_observation)[0];
        const int left = kLimit - from % kLimit;  // steps to the end of the episode
        starts.insert(from);
        const bool usable = ends != Ends::kIsCutWithoutMask;
        const int length = usable ? std::min(kN, left) : std::min(kN, left - 1);
        REQUIRE(draw.outcome.length == length);
        const bool cut = ends == Ends::kIsCut && left <= kN;
        // The last step of the window is from + length - 1, and its final observation half a number on.
        REQUIRE(static_cast<double>(to) == from + length - (cut ? 0.5 : 0.0));
        REQUIRE(static_cast<int>(replay.MaskOfSlot(draw.to_mask)[0]) == !cut);
        REQUIRE(static_cast<int>(replay.MaskOfSlot(draw.to_mask)[1]) == 1);
        double expected = 0.0;
        for (int s = 0; s < length; ++s) expected += std::pow(0.5, s) * (from + s);
        REQUIRE(draw.outcome.reward == Approx(expected));
        const bool ended = ends == Ends::kTerminates && left <= kN;
        REQUIRE(draw.outcome.discount == (ended ? 0.0 : std::pow(0.5, length)));
        REQUIRE(from + length <= pushed);
        REQUIRE(from >= pushed - kCapacity);
      }
      if (pushed != 75) continue;
      std::set<int> usable;
      for (int from = pushed - kCapacity; from <= pushed - kN; ++from) {
        if (ends != Ends::kIsCutWithoutMask || from % kLimit != kLimit - 1) usable.insert(from);
      }
      CHECK(starts == usable);
    }
  }
}

TEST_CASE("replay: one observation an instant, whatever the micro-actions, and none leaks") {
  // Instants of 4 micro-actions, each with a mask of its own; a ring of 32 steps.
  constexpr int kCapacity = 32, kEnvs = 2, kWidth = 5, kPerInstant = 4;
  Replay replay(kCapacity, 1, kEnvs, kWidth, 3);
  const auto write = [&](const StepBuffers& out, int step) {
    for (std::size_t i = 0; i < kEnvs; ++i) {
      const int instant = (step + static_cast<int>(i)) / kPerInstant;  // they do not move together
      std::fill_n(out.observation.begin() + static_cast<std::ptrdiff_t>(i * kWidth), kWidth,
                  static_cast<float>(instant));
      for (std::size_t a = 0; a < 3; ++a)
        out.action_mask[i * 3 + a] = step % 4 == static_cast<int>(a) ? 0 : 1;
    }
  };
  write(replay.Now(), 0);
  const std::vector<std::int32_t> actions(kEnvs, 0);
  for (int step = 1; step <= 200; ++step) {
    const StepBuffers out = replay.Outcome(actions);
    write(out, step);
    std::fill(out.truncated.begin(), out.truncated.end(), static_cast<std::uint8_t>(step % 50 == 0));
    replay.Advance();
    const int held = std::min(step, kCapacity) + 1;  // steps, and now
    REQUIRE(replay.observations() <= kEnvs * (held / kPerInstant + 2));
    REQUIRE(replay.observations() >= kEnvs * (held / kPerInstant));
  }
  Stream draws(3, Purpose::kReplay);
  for (int k = 0; k < 200; ++k) {
    const Replay::Draw draw = replay.Sample(draws);
    const int env = static_cast<int>(draw.step % kEnvs);
    // The mask tells the step modulo 4, the observation the instant: they belong together.
    const std::uint8_t* mask = replay.Mask(draw.step);
    const auto closed = std::find(mask, mask + 3, 0) - mask;
    const float to = replay.OfSlot(draw.to_observation)[0], from = replay.Observation(draw.step)[0];
    REQUIRE(to - from == ((closed + 1 + env) % kPerInstant == 0 ? 1.0F : 0.0F));
  }
}

TEST_CASE("replay: what is read back draws the same, and another shape is refused") {
  const test::TemporaryFolder folder;
  for (const int pushed : {0, 1, 13, 60}) {
    CAPTURE(pushed);
    Counter counter(20, 3, 7, Ends::kIsCut);
    for (int k = 0; k < pushed; ++k) counter.Push();
    const std::string path = folder / "replay.h5";
    {
      h5::Writer out(path, "test", 1);
      counter.replay.Save(&out, "replay");
      out.Commit();
    }
    const h5::Reader in(path, "test", 1);
    Counter other(20, 3, 7, Ends::kIsCut);
    for (int k = 0; k < 33; ++k) other.Push();  // is forgotten
    other.replay.Load(in, "replay");
    CHECK(other.replay.steps() == counter.replay.steps());
    CHECK(other.replay.observations() == (pushed == 0 ? 0 : counter.replay.observations()));
    if (pushed < 3) continue;
    Stream draws(1, Purpose::kReplay), again(1, Purpose::kReplay);
    for (int k = 0; k < 200; ++k) {
      const Replay::Draw a = counter.replay.Sample(draws), b = other.replay.Sample(again);
      REQUIRE(a.step == b.step);
      REQUIRE(a.outcome.reward == b.outcome.reward);
      REQUIRE(counter.replay.Action(a.step) == other.replay.Action(b.step));
      REQUIRE(*counter.replay.Observation(a.step) == *other.replay.Observation(b.step));
      REQUIRE(*counter.replay.OfSlot(a.to_observation) == *other.replay.OfSlot(b.to_observation));
      REQUIRE(*counter.replay.MaskOfSlot(a.to_mask) == *other.replay.MaskOfSlot(b.to_mask));
    }
    if (pushed < 60) continue;
    Replay smaller(10, 3, 1, 1, 2), wider(20, 3, 1, 2, 2);
    CHECK_THROWS_WITH(smaller.Load(in, "replay"), Catch::Contains("replay/position: expected a row"));
    CHECK_THROWS_WITH(wider.Load(in, "replay"), Catch::Contains("replay/observation: expected rows of 2"));
  }
}

}  // namespace berth
