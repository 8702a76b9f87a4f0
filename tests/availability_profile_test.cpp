// The profile of conservative backfilling against one that is looked at second by second.
#include "baselines/queue/conservative_backfill.hpp"

#include <vector>

#include "env/base/rng.hpp"
#include "env/sim/scenario.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

// Whole seconds only; the last one lasts for ever.
struct Seconds {
  std::vector<int> free;
  bool Fits(std::size_t start, std::size_t seconds, int gang) const {
    for (std::size_t t = start; t < start + seconds; ++t) {
      if (free[std::min(t, free.size() - 1)] < gang) return false;
    }
    return true;
  }
  double EarliestStart(int gang, std::size_t seconds) const {
    for (std::size_t start = 0; start < free.size(); ++start) {
      if (Fits(start, seconds, gang)) return static_cast<double>(start);
    }
    return kNever;
  }
};

}  // namespace

TEST_CASE("availability profile: random plans are those of a look at every second", "[baselines]") {
  AvailabilityProfile profile;  // reused: what one plan found must not reach the next
  for (std::uint32_t round = 0; round < 60; ++round) {
    Stream random(31, Purpose::kTest, Split::kTrain, round);
    constexpr int kGpus = 8;
    const int busy = static_cast<int>(random.Below(kGpus + 1));
    Seconds plain{std::vector<int>(600, kGpus - busy)};
    profile.Reset(0.0, kGpus - busy);
    for (int left = busy; left > 0;) {  // running jobs end within 40 s
      const int gang = 1 + static_cast<int>(random.Below(static_cast<std::uint32_t>(left)));
      const std::size_t end = 1 + random.Below(40);
      profile.Release(static_cast<double>(end), gang);
      for (std::size_t t = end; t < plain.free.size(); ++t) plain.free[t] += gang;
      left -= gang;
    }
    for (int job = 0; job < 40; ++job) {
      const int gang = 1 << random.Below(4);
      const std::size_t seconds = 1 + random.Below(12);
      const double start = plain.EarliestStart(gang, seconds);
      REQUIRE(start < 580.0);
      CAPTURE(round, job, gang, seconds);
      REQUIRE(profile.EarliestStart(gang, static_cast<double>(seconds)) == start);
      if (random.Below(5) == 0) continue;  // asked, not taken
      profile.Reserve(start, start + static_cast<double>(seconds), gang);
      for (std::size_t t = 0; t < seconds; ++t) plain.free[static_cast<std::size_t>(start) + t] -= gang;
    }
    CHECK(profile.EarliestStart(kGpus + 1, 1.0) == kNever);
  }
}

}  // namespace berth
