// How much is solved for an answer: programs, and their rows and columns. What is slower and finds the same fails nowhere else, and a time
// proves nothing on a machine that others use.
#include <ostream>
#include <string>

#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/water_filling.hpp"
#include "baselines/solved_program.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tools/bench/work.hpp"

namespace berth {
namespace {

class Effort {
 public:
  Effort() {
    ProgramObserver() = [this](const SolvedProgram& solved) {
      ++programs_, rows_ += solved.model.row_lower.size(), columns_ += solved.model.cost.size();
    };
  }
  ~Effort() { ProgramObserver() = {}; }
  std::string Text() const { return Join(programs_, " programs, ", rows_, " rows, ", columns_, " columns"); }

 private:
  std::size_t programs_ = 0, rows_ = 0, columns_ = 0;
};

// 840 classes on 10 types, whose weights are a billionth apart.
gavel::Problem ManyClasses(int gpus) {
  Stream random(42, Purpose::kTest, Split::kTrain, static_cast<std::uint32_t>(gpus));
  gavel::Problem problem;
  for (int j = 0; j < 10; ++j) {
    problem.type_names.push_back(Join("type", j));
    problem.workers.push_back(1 + static_cast<int>(random.Below(static_cast<std::uint32_t>(2 * gpus))));
  }
  for (int i = 0; i < 840; ++i) {
    problem.key.push_back(i);
    problem.gang.push_back(1 << random.Below(3));
    problem.weight.push_back(random.Uniform(1.0, 10.0));
    for (int j = 0; j < 10; ++j) problem.throughput.push_back(Exp(random.Normal()));
  }
  return problem;
}

}  // namespace

TEST_CASE("solver effort: water filling over many classes", "[gavel][lp]") {
  for (const auto& [gpus, expected] : {std::pair{2, "6 programs, 4084 rows, 11431 columns"},
                                      {30, "3 programs, 2572 rows, 8453 columns"}, {100, "3 programs, 2563 rows, 8451 columns"},
                                      {300, "9 programs, 6587 rows, 28450 columns"}}) {
    CAPTURE(gpus);
    const gavel::Problem problem = ManyClasses(gpus);
    const Effort effort;
    gavel::WaterFilling filling(LpMethod::kEmbedding);
    gavel::WaterLevels levels;
    REQUIRE(filling.Solve(problem, {}, levels));
    CHECK(effort.Text() == expected);
  }
}

TEST_CASE("solver effort: max-min fairness of pairs", "[gavel][lp]") {
  for (const auto& [jobs, expected] : {std::pair{60, "15 programs, 1096 rows, 1617 columns"}, {300, "5 programs, 383 rows, 566 columns"}}) {
    CAPTURE(jobs);
    const Scenario scenario = bench::SolveInstance(jobs);
    const Effort effort;
    bench::SolveTimes(gavel::MaxMinObjective(), /*packed=*/true, scenario, /*repeats=*/1);
    CHECK(effort.Text() == expected);
  }
}

}  // namespace berth
