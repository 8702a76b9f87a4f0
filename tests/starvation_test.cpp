// Who starves whom: one job against a stream that could go on for ever and that leaves a quarter of the GPUs
// idle on average. On four GPUs one-GPU jobs of an hour come every 20 min, so that three run at any time and
// never are four idle together unless somebody makes room; the job in question wants all four. It is starved
// where it is not done by the end of the stream, however long that is, and not starved where it is done
// halfway.
#include "baselines/starvation.hpp"

#include <string>
#include <vector>

#include "baselines/schedulers.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

constexpr double kLength = 3600.0, kEvery = kLength / 3.0;  // s

struct Victim {
  const char* what;
  double seconds, weight;
  int tenant;  // 1 is that of the stream
};
// The stream's jobs have a weight of 1 and a deadline.
constexpr Victim kVictims[] = {{"a long gang", 10800.0, 1.0, 0},
                               {"a short gang", 900.0, 1.0, 0},
                               {"a light gang", 4050.0, 0.25, 0},
                               {"a long gang of the stream's tenant", 10800.0, 1.0, 1}};

// `length` jobs of the stream; the victim is the job that arrives at 5 h sharp, without a deadline.
Scenario Stream4(const Victim& victim, int length, int* its_index) {
  Stream stream(7, Purpose::kTest);
  std::vector<test::TinyJob> jobs;
  std::vector<double> weight, deadline;
  std::vector<int> tenant;
  *its_index = -1;
  for (int i = 0; i < length; ++i) {
    const double arrival = i * kEvery + stream.Uniform(0.0, 90.0);
    if (*its_index < 0 && arrival > 18000.0) {
      *its_index = i;
      jobs.push_back({18000.0, victim.seconds, 0, 4});
      weight.push_back(victim.weight), deadline.push_back(kNever), tenant.push_back(victim.tenant);
    }
    jobs.push_back({arrival, kLength});
    weight.push_back(1.0), deadline.push_back(arrival + 9000.0), tenant.push_back(1);
  }
  ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}}, jobs);
  data.jobs.weight = weight, data.jobs.deadline = deadline, data.jobs.tenant = tenant;
  data.tenants = {{"victim"}, {"stream"}};
  return Scenario(std::move(data));
}

enum class Fate { kServed, kStarved, kUnclear };

Fate FateOf(const std::string& spec, const Victim& victim) {
  constexpr int kShort = 250, kLong = 500;
  int job = -1;
  const double end = test::Ends(spec, Stream4(victim, kLong, &job))[static_cast<std::size_t>(job)];
  if (end < kShort * kEvery) return Fate::kServed;
  if (end < kLong * kEvery) return Fate::kUnclear;
  const double shorter = test::Ends(spec, Stream4(victim, kShort, &job))[static_cast<std::size_t>(job)];
  return shorter >= kShort * kEvery ? Fate::kStarved : Fate::kUnclear;
}

}  // namespace

TEST_CASE("starvation: who says that it starves nobody serves everybody, the others starve somebody") {
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    CAPTURE(info.name);
    std::string starved;
    for (const Victim& victim : kVictims) {
      CAPTURE(victim.what);
      const Fate fate = FateOf(info.name, victim);
      CHECK(fate != Fate::kUnclear);
      if (fate == Fate::kStarved) starved += (starved.empty() ? "" : ", ") + std::string(victim.what);
    }
    const std::string said = Starves(info.name);
    CAPTURE(starved, said);
    CHECK(starved.empty() == said.empty());
  }
}

}  // namespace berth
