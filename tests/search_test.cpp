// The engine behind `berth tune`: what it answers, when it stops, and that it goes on as if it had not.
#include "agents/search/search.hpp"

#include <cmath>
#include <fstream>

#include "agents/search/cma_es.hpp"
#include "agents/search/mirrored_noise.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

namespace berth::search {
namespace {

const Space kSpace{{3.0, -2.0, 1.0}, {1.0, 0.5, 2.0}};

// exp of the distance to 0 squared, with noise that is the same for all points of a generation.
Costs Noisy(const std::vector<std::vector<double>>& points, int generation) {
  Costs costs;
  Stream stream(1, Purpose::kTest, Split::kTrain, static_cast<std::uint32_t>(generation + 10));
  const double first = 1.0 + stream.Uniform(), second = 1.0 + stream.Uniform();
  costs.reference = {first, second};
  for (const std::vector<double>& x : points) {
    const double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    costs.of.push_back({first * std::exp(square), second * std::exp(square)});
    costs.decisions += 5;
  }
  return costs;
}

// Missed deadlines: 0 within a distance of 2 of 0, and of the reference on its second workload.
Costs MissedDeadlines(const std::vector<std::vector<double>>& points, int) {
  Costs costs{{}, {0.25, 0.0}, 1, /*may_be_none=*/true};
  for (const std::vector<double>& x : points) {
    const double distance = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    costs.of.push_back({std::max(0.0, distance - 2.0), 0.0});
  }
  return costs;
}

template <class Make>
void CheckResumes(const Make& make) {
  const test::TemporaryFolder folder;
  Settings settings;
  settings.budget.generations = 9;
  settings.choose = true;
  auto whole = make();
  const Found expected = Run(*whole, kSpace.start, Noisy, settings);
  CHECK(expected.generations == 9);
  CHECK(expected.told.size() == 9);
  for (const int stop : {0, 1, 4, 8}) {
    CAPTURE(stop);
    std::atomic<bool> interrupted{stop == 0};
    settings.file = folder / "s.h5";
    settings.definition = "seed=1\n";
    settings.resume = false;
    settings.budget.interrupted = &interrupted;
    // It is stopped within a generation, whose draws are lost.
    const auto stopping = [&](const std::vector<std::vector<double>>& points, int generation) {
      interrupted = interrupted || generation == stop;
      return Noisy(points, generation);
    };
    auto first = make();
    CHECK(Run(*first, kSpace.start, stopping, settings).generations == stop);
    CHECK(ReadDefinition(settings.file) == "seed=1\n");
    interrupted = false;
    settings.resume = true;
    auto second = make();
    const Found found = Run(*second, kSpace.start, Noisy, settings);
    CHECK(found.point == expected.point);
    CHECK(found.generations == 9);
    CHECK(found.decisions == expected.decisions);
    CHECK(found.choices == expected.choices);
    for (std::size_t i = 0; i < 9; ++i) CHECK(found.told[i].value == expected.told[i].value);
  }
}

}  // namespace

TEST_CASE("search: resumed after an interruption it is what it had been without, bit for bit") {
  CheckResumes([] { return std::make_unique<CmaEs>(kSpace, 7); });
  CheckResumes([] {
    return std::make_unique<MirroredNoise>(kSpace, MirroredNoiseSettings{0.1, 0.05, 8}, 7);
  });
}

TEST_CASE("search: mirrored noise goes down, a point without cost counts as its mirror, and without any costs nothing moves") {
  MirroredNoise optimiser(kSpace, {0.1, 0.3, 8}, 1);
  Settings settings;
  settings.budget.generations = 60;
  const auto with_holes = [](const std::vector<std::vector<double>>& points, int generation) {
    Costs costs = Noisy(points, generation);
    costs.of[0][1] = costs.of[3][0] = std::nan("");
    return costs;
  };
  const Found found = Run(optimiser, kSpace.start, with_holes, settings);
  for (const double x : found.point) CHECK(std::abs(x) < 0.5);
  CHECK(found.told.front().value == Approx(14.0));  // the start: 9 + 4 + 1, the noise divided out
  CHECK(found.told.back().value < 0.5);
  // Alike with their mirrors, all points leave the centre where it is.
  MirroredNoise none(kSpace, {0.1, 0.3, 8}, 1);
  settings.budget.generations = 3;
  const auto nothing = [](const std::vector<std::vector<double>>& points, int) {
    return Costs{std::vector(points.size(), std::vector<double>{std::nan("")}), {1.0}, 0};
  };
  CHECK(Run(none, kSpace.start, nothing, settings).point == kSpace.start);
  CmaEs lost(kSpace, 1);
  const Found nowhere = Run(lost, kSpace.start, nothing, settings);
  CHECK(nowhere.point == kSpace.start);
  CHECK(nowhere.generations == 3);
  CHECK(std::isnan(nowhere.told.back().value));
}

TEST_CASE("search: costs of 0 are compared by differences, and what finds none goes on") {
  // Means of 0.5 - 0.25 and 0 - 0; of 0 - 0.25 and 0 - 0.
  CHECK(Values({{{0.5, 0.0}, {0.0, 0.0}}, {0.25, 0.0}, 0, true}) == std::vector<double>{0.125, -0.125});
  MirroredNoise noise(kSpace, {0.1, 0.3, 8}, 1);
  CmaEs cma_es(kSpace, 1);
  for (Optimiser* optimiser : {static_cast<Optimiser*>(&noise), static_cast<Optimiser*>(&cma_es)}) {
    Settings settings;
    settings.budget.generations = 60;
    const Found found = Run(*optimiser, kSpace.start, MissedDeadlines, settings);
    CHECK(found.told.back().value == -0.125);  // of the start (sqrt(14) - 2 - 0.25) / 2
    CHECK(MissedDeadlines({found.point}, 0).of[0][0] == 0.0);
  }
}

TEST_CASE("search: the answer is the best of start, half way and end on other workloads") {
  for (const int best : {0, 3, 6}) {
    CAPTURE(best);
    CmaEs optimiser(kSpace, 2);
    Settings settings;
    settings.choose = true;
    settings.budget.generations = 6;
    const auto objective = [&](const std::vector<std::vector<double>>& points, int generation) {
      Costs costs = Noisy(points, generation);
      if (generation != kChoice) return costs;
      REQUIRE(points.size() == 3);
      for (std::size_t i = 0; i < 3; ++i) costs.of[i] = {static_cast<int>(i) == best / 3 ? 1.0 : 2.0, 1.0};
      return costs;
    };
    const Found found = Run(optimiser, kSpace.start, objective, settings);
    CHECK(found.chosen == best);
    REQUIRE(found.choices.size() == 3);
    CHECK((found.point == kSpace.start) == (best == 0));
    CHECK((found.point == optimiser.mean()) == (best == 6));
  }
}

TEST_CASE("search: it stops when its seconds are over") {
  CmaEs optimiser(kSpace, 2);
  Settings settings;
  settings.budget.seconds = 0.05;
  const Found found = Run(optimiser, kSpace.start, Noisy, settings);
  CHECK(found.generations > 0);
  CHECK(found.told.back().wall_s < 10.0);
}

TEST_CASE("search: a file of another search, or of none, is refused in one line") {
  const test::TemporaryFolder folder;
  Settings settings;
  settings.budget.generations = 1;
  settings.file = folder / "s.h5";
  CmaEs optimiser(kSpace, 2);
  Run(optimiser, kSpace.start, Noisy, settings);
  settings.resume = true;
  CmaEs wider({{1.0, 1.0, 1.0, 1.0}, {1.0, 1.0, 1.0, 1.0}}, 2);
  CHECK_THROWS_WITH(Run(wider, {1.0, 1.0, 1.0, 1.0}, Noisy, settings), Catch::Contains("s.h5"));
  CHECK_THROWS_WITH(Run(optimiser, {0.0, 0.0, 0.0}, Noisy, settings), Catch::Contains("starts from"));
  std::ofstream(settings.file, std::ios::trunc) << "nothing";
  CHECK_THROWS_AS(Run(optimiser, kSpace.start, Noisy, settings), Error);
  CHECK_THROWS_AS(ReadDefinition(folder / "none.h5"), Error);
}

}  // namespace berth::search
