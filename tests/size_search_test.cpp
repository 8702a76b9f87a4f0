// The search of `berth size`: by hand, and against trying all mixes.
#include <algorithm>
#include <random>
#include <vector>

#include "tests/catch.hpp"
#include "tools/size/levels.hpp"
#include "tools/size/mixes.hpp"

namespace berth {
namespace {

Fit TooFewUnless(bool meets) {
  return {meets, !meets, false};
}

// What trying all of them finds, as FindCheapest says it.
void CheckFound(const Cheapest& found, const std::vector<Mix>& mixes, const std::vector<std::size_t>& right) {
  REQUIRE(found.best.has_value() == !right.empty());
  if (right.empty()) return;
  CHECK(mixes[*found.best].price == mixes[right[0]].price);
  REQUIRE(found.runner_up.has_value() == (right.size() > 1));
  if (right.size() > 1) CHECK(mixes[*found.runner_up].price == mixes[right[1]].price);
}

}  // namespace

TEST_CASE("size: the smallest count is found by halves, whatever it is, and its neighbours are tried") {
  const std::vector<Mix> mixes = AllMixes(ParseTypes("v100=1..100"));
  for (int least = 1; least <= 101; ++least) {
    CAPTURE(least);
    std::vector<std::size_t> asked;
    const Cheapest found = FindCheapest(mixes, [&](std::size_t i) {
      CHECK(std::find(asked.begin(), asked.end(), i) == asked.end());  // no cluster is tried twice
      asked.push_back(i);
      return TooFewUnless(mixes[i].gpus >= least);
    });
    CHECK(found.monotone);
    CHECK(found.best.has_value() == (least <= 100));
    CHECK(found.runner_up.has_value() == (least <= 99));
    if (found.best) CHECK(mixes[*found.best].gpus == least);
    if (found.runner_up) CHECK(mixes[*found.runner_up].gpus == least + 1);
    CHECK(asked.size() <= 1 + 7 + 3);  // the largest; ceil(log2(100)) halves; neighbours
  }
  // 41 fails although 40 meets; 38 meets although 39 fails. Halves end at 40 or at 42 and above; from there
  // the neighbours lead down to 38.
  const auto odd = [&](std::size_t i) {
    const int gpus = mixes[i].gpus;
    return TooFewUnless(gpus == 38 || gpus == 40 || gpus >= 42);
  };
  const Cheapest found = FindCheapest(mixes, odd);
  CHECK_FALSE(found.monotone);
  REQUIRE(found.best);
  CHECK(mixes[*found.best].gpus == 38);
}

// Whatever more of a type never harms: a mix meets where its speeds add up to enough, with a bonus for a
// type.
TEST_CASE("size: the cheapest mix is the one that trying all of them finds") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0.2, 3.0);
  double asked = 0.0, all = 0.0;
  for (int round = 0; round < 200; ++round) {
    std::vector<TypeRange> types = ParseTypes("v100=0..8@1,p100=0..6@1,k80=0..10..2@1");
    std::vector<double> speeds;
    for (TypeRange& type : types) type.price = uniform(random), speeds.push_back(uniform(random));
    const std::vector<Mix> mixes = AllMixes(types);
    const double enough = uniform(random) * 10.0;
    const auto meets = [&](std::size_t i) {
      double speed = mixes[i].counts[1] > 0 ? 1.5 : 0.0;
      for (std::size_t type = 0; type < 3; ++type) speed += speeds[type] * mixes[i].counts[type];
      return speed >= enough;
    };
    std::vector<std::size_t> right;
    for (std::size_t i = 0; i < mixes.size() && right.size() < 2; ++i) {
      if (meets(i)) right.push_back(i);
    }
    const Cheapest found = FindCheapest(mixes, [&](std::size_t i) {
      ++asked;
      return TooFewUnless(meets(i));
    });
    all += static_cast<double>(mixes.size());
    CAPTURE(round, enough);
    CheckFound(found, mixes, right);
    CHECK(found.monotone);
  }
  CHECK(asked < 0.25 * all);
}

// Waits need `least` GPUs and the share of busy ones bears `most`.
TEST_CASE("size: levels that more GPUs harm rule out the larger clusters, not the smaller") {
  const std::vector<Mix> mixes = AllMixes(ParseTypes("v100=1..60"));
  for (int least = 1; least <= 60; ++least) {
    for (int most = 1; most <= 60; ++most) {
      CAPTURE(least, most);
      int asked = 0;
      const Cheapest found = FindCheapest(mixes, [&](std::size_t i) {
        const int gpus = mixes[i].gpus;
        ++asked;
        return Fit{least <= gpus && gpus <= most, gpus < least, gpus > most};
      });
      std::vector<std::size_t> right;
      for (int gpus = least; gpus <= most; ++gpus) right.push_back(static_cast<std::size_t>(gpus - 1));
      CheckFound(found, mixes, right);
      CHECK(found.monotone);
      CHECK(asked <= 1 + 6 + 3);  // the largest; ceil(log2(60)) halves; neighbours
    }
  }
}

TEST_CASE("size: in a band of mixes the search finds what trying all of them does") {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(0.2, 3.0);
  for (int round = 0; round < 200; ++round) {
    std::vector<TypeRange> types = ParseTypes("v100=0..8@1,p100=0..6@1,k80=0..10..2@1");
    std::vector<double> speeds;
    for (TypeRange& type : types) type.price = uniform(random), speeds.push_back(uniform(random));
    const std::vector<Mix> mixes = AllMixes(types);
    const double enough = uniform(random) * 10.0, most = uniform(random) * 8.0;
    const auto fit = [&](std::size_t i) {
      double speed = 0.0;
      for (std::size_t type = 0; type < 3; ++type) speed += speeds[type] * mixes[i].counts[type];
      const bool few = speed < enough, many = mixes[i].gpus > most;
      return Fit{!few && !many, few, many};
    };
    std::vector<std::size_t> right;
    for (std::size_t i = 0; i < mixes.size(); ++i) {
      if (fit(i).meets) right.push_back(i);
    }
    CAPTURE(round, enough, most);
    const Cheapest found = FindCheapest(mixes, fit);
    CheckFound(found, mixes, right);
    CHECK(found.monotone);
  }
}

TEST_CASE("size: where nothing follows from a cluster that fails, all are tried") {
  const std::vector<Mix> mixes = AllMixes(ParseTypes("v100=1..60"));
  std::size_t asked = 0;
  const Cheapest found = FindCheapest(mixes, [&](std::size_t i) {
    ++asked;
    return Fit{mixes[i].gpus == 17 || mixes[i].gpus == 40, false, false};
  });
  CheckFound(found, mixes, {16, 39});
  CHECK(found.monotone);
  CHECK(asked > 39);
}

TEST_CASE("size: what more GPUs do to a level") {
  const auto effect = [](const char* level) { return EffectOfMoreGpus(ParseLevels(level).front()); };
  for (const char* level : {"mean_wait_h<=1", "deadline_misses<=1%", "throughput>=3", "util<=70%", "service_attainment>=0.9"}) {
    CAPTURE(level);
    CHECK(effect(level) == MoreGpus::kHelp);
  }
  for (const char* level : {"util>=40%", "hpc_utilization>=0.5", "wait>=1", "throughput<=3"}) {
    CAPTURE(level);
    CHECK(effect(level) == MoreGpus::kHarm);
  }
  for (const char* level : {"cost<=100", "energy<=180", "energy>=1", "interruptions<=2", "lost_work<=1"}) {
    CAPTURE(level);
    CHECK(effect(level) == MoreGpus::kEither);
  }
}

}  // namespace berth
