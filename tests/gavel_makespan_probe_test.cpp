// Whether all jobs can end within T, by prices of types, against the shortest makespan by HiGHS' simplex
// method.
#include <algorithm>

#include "baselines/gavel/makespan_probe.hpp"
#include "baselines/gavel/mixture.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/lp.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"

namespace berth::gavel {
namespace {

// Jobs of their own speeds, some of which cannot run on some types; GPUs for `part` of them.
Problem Jobs(int jobs, int types, double part, std::uint32_t round) {
  Stream random(13, Purpose::kTest, Split::kTrain, round);
  Problem problem;
  for (int j = 0; j < types; ++j) {
    problem.workers.push_back(1 + static_cast<int>(part * jobs / types * random.Uniform(0.3, 2.0)));
    problem.type_names.push_back(std::string(1, static_cast<char>('a' + j)));
  }
  for (int i = 0; i < jobs; ++i) {
    problem.key.push_back(i);
    problem.gang.push_back(1 << random.Below(3));
    problem.weight.push_back(1.0);
    const double base = Exp(random.Uniform(-3.0, 3.0));
    for (int j = 0; j < types; ++j)
      problem.throughput.push_back(j > 0 && random.Below(5) == 0 ? 0.0 : base * random.Uniform(0.2, 4.0));
    problem.remaining.push_back(base * Exp(random.Uniform(8.0, 10.0)));
    problem.since.push_back(0.0);
  }
  return problem;
}

}  // namespace

TEST_CASE("gavel makespan: probes by prices agree with the shortest makespan of HiGHS", "[gavel][lp]") {
  std::uint32_t round = 0;
  int undecided = 0, most_questions = 0;
  for (const int types : {1, 2, 3, 4, 6}) {
    for (const int jobs : {1, 5, 30, 80}) {
      for (const double part : {0.05, 0.3, 1.0, 3.0}) {
        const Problem problem = Jobs(jobs, types, part, round++);
        INFO(types << " types, " << jobs << " jobs, GPUs for " << part << ", round " << round);
        LevelLp simplex(LpMethod::kSimplex);
        MakespanAnswer vertex;
        REQUIRE(ExactMakespan(problem, simplex, vertex));
        for (const double off : {0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6}) {
          MakespanProbe fresh(problem);
          CHECK(fresh.Try(vertex.seconds * (1.0 - off)) != Verdict::kFeasible);
          MakespanProbe other(problem);
          const Verdict longer = other.Try(vertex.seconds * (1.0 + off));
          CHECK(longer != Verdict::kInfeasible);
          undecided += longer == Verdict::kUndecided;
          undecided += fresh.Try(vertex.seconds * (1.0 - off)) == Verdict::kUndecided;
          most_questions = std::max({most_questions, fresh.questions(), other.questions()});
        }
        // What one probe learns serves the next: the reference's whole bisection by one.
        MakespanProbe probe(problem);
        for (const Probe& expected : BisectionSequence(vertex.seconds)) {
          if (std::abs(expected.seconds - vertex.seconds) <= 1e-6 * vertex.seconds) continue;
          const Verdict verdict = probe.Try(expected.seconds);
          if (verdict == Verdict::kUndecided) continue;
          CHECK((verdict == Verdict::kFeasible) == expected.feasible);
        }
      }
    }
  }
  CHECK(undecided == 0);
  CHECK(most_questions <= 60);  // of two probes a millionth off; 39 when this was written
}

TEST_CASE("gavel makespan: a mixture and its prices prove one another", "[gavel]") {
  // (1, 0) and (0, 1) in equal parts: 1/2 each. (3, 3) helps nobody. (0, 0.5): a part p of (1, 0) gives p and
  // (1 - p) / 2, equal at 1/3.
  Mixture mixture(2);
  mixture.Add(std::vector<double>{1.0, 0.0});
  REQUIRE(mixture.Solve());
  CHECK(mixture.value() == 1.0);
  mixture.Add(std::vector<double>{0.0, 1.0});
  mixture.Add(std::vector<double>{3.0, 3.0});
  REQUIRE(mixture.Solve());
  CHECK(mixture.value() == Approx(0.5).epsilon(1e-15));
  mixture.Add(std::vector<double>{0.0, 0.5});
  REQUIRE(mixture.Solve());
  CHECK(mixture.value() == Approx(1.0 / 3.0).epsilon(1e-15));
  CHECK(mixture.prices()[0] == Approx(1.0 / 3.0).epsilon(1e-15));

  for (std::uint32_t round = 0; round < 60; ++round) {
    Stream random(14, Purpose::kTest, Split::kTrain, round);
    const int types = 1 + static_cast<int>(random.Below(6));
    const auto width = static_cast<std::size_t>(types);
    Mixture many(types);
    std::vector<double> points;
    for (int k = 0; k < 30; ++k) {
      for (int j = 0; j < types; ++j) points.push_back(random.Below(4) == 0 ? 0.0 : random.Uniform(0.0, 2.0));
      many.Add(std::span(points).last(width));
      REQUIRE(many.Solve());
      double sum = 0.0, least = kLpInfinity;
      for (const double price : many.prices()) {
        CHECK(price >= 0.0);
        sum += price;
      }
      for (std::size_t at = 0; at < points.size(); at += width) {
        double cost = 0.0;
        for (std::size_t j = 0; j < width; ++j) cost += many.prices()[j] * points[at + j];
        least = std::min(least, cost);
      }
      CHECK(sum == Approx(1.0).epsilon(1e-12));
      CHECK(many.value() == Approx(least).epsilon(1e-9).margin(1e-12));  // by weak duality both are optimal
    }
  }
}

}  // namespace berth::gavel
