// Linear programs with known answers, and the checker that must not believe a wrong one.
#include "baselines/lp.hpp"

#include "baselines/gavel/level_lp.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

// max 3x + 2y, x + y <= 4, 0 <= x <= 3, y >= 0: x = 3, y = 1, objective 11; one more unit of the row is worth
// 2.
LpModel Corner() {
  LpModel model;
  model.maximize = true;
  const int x = model.AddColumn(3.0, 0.0, 3.0), y = model.AddColumn(2.0, 0.0, kLpInfinity);
  model.AddEntry(x, 1.0);
  model.AddEntry(y, 1.0);
  model.EndRow(-kLpInfinity, 4.0);
  return model;
}

}  // namespace

TEST_CASE("lp: a corner, by both methods, with its dual", "[lp]") {
  for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kInteriorPoint}) {
    LpSolver solver;
    LpSolution solution;
    REQUIRE(solver.Solve(Corner(), method, solution) == LpStatus::kOptimal);
    CHECK(solution.objective == Approx(11.0).epsilon(1e-7));
    CHECK(solution.x[0] == Approx(3.0).epsilon(1e-6));
    CHECK(solution.x[1] == Approx(1.0).epsilon(1e-6));
    CHECK(solution.row_dual[0] == Approx(2.0).epsilon(1e-6));
    CHECK(CheckOptimality(Corner(), solution).Within(1e-7));
  }
}

TEST_CASE("lp: a two-sided row that binds below, minimising", "[lp]") {
  // min x + 2y, 2 <= x + y <= 5, x <= 1.5: x = 1.5, y = 0.5, objective 2.5, dual of the row 2.
  LpModel model;
  model.AddColumn(1.0, 0.0, 1.5);
  model.AddColumn(2.0, 0.0, kLpInfinity);
  model.AddEntry(0, 1.0);
  model.AddEntry(1, 1.0);
  model.EndRow(2.0, 5.0);
  LpSolver solver;
  LpSolution solution;
  REQUIRE(solver.Solve(model, LpMethod::kSimplex, solution) == LpStatus::kOptimal);
  CHECK(solution.objective == Approx(2.5));
  CHECK(solution.row_dual[0] == Approx(2.0));
  CHECK(CheckOptimality(model, solution).Within(1e-9));
}

TEST_CASE("lp: infeasible, unbounded, and a solver that serves again afterwards", "[lp]") {
  LpSolver solver;
  LpSolution solution;
  for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kInteriorPoint}) {
    LpModel infeasible = Corner();  // x + y >= 10 cannot be with x <= 3, y <= 1
    infeasible.upper[1] = 1.0;
    infeasible.AddEntry(0, 1.0);
    infeasible.AddEntry(1, 1.0);
    infeasible.EndRow(10.0, kLpInfinity);
    CHECK(solver.Solve(infeasible, method, solution) == LpStatus::kInfeasible);

    LpModel unbounded = Corner();
    unbounded.row_upper[0] = kLpInfinity;
    CHECK(solver.Solve(unbounded, method, solution) == LpStatus::kUnbounded);

    REQUIRE(solver.Solve(Corner(), method, solution) == LpStatus::kOptimal);
    CHECK(solution.objective == Approx(11.0).epsilon(1e-7));
  }
}

TEST_CASE("lp: degenerate: the same row three times, and a whole edge of optima", "[lp]") {
  // max x + y under x + y <= 1 stated three times: any point of the edge is optimal, objective 1.
  LpModel model;
  model.maximize = true;
  model.AddColumn(1.0, 0.0, kLpInfinity);
  model.AddColumn(1.0, 0.0, kLpInfinity);
  for (int copy = 0; copy < 3; ++copy) {
    model.AddEntry(0, 1.0);
    model.AddEntry(1, 1.0);
    model.EndRow(-kLpInfinity, 1.0);
  }
  LpSolver solver;
  for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kInteriorPoint}) {
    LpSolution solution;
    REQUIRE(solver.Solve(model, method, solution) == LpStatus::kOptimal);
    CHECK(solution.objective == Approx(1.0).epsilon(1e-7));
    CHECK(CheckOptimality(model, solution).Within(1e-7));
    // A vertex of the edge has one zero; a point inside it has none.
    const double least = std::min(solution.x[0], solution.x[1]);
    CHECK((method == LpMethod::kSimplex ? least < 1e-9 : least > 0.01));
  }
}

TEST_CASE("lp: the checker catches every kind of wrong answer", "[lp]") {
  const LpModel model = Corner();
  const LpSolution right = {{3.0, 1.0}, {2.0}, 11.0};
  REQUIRE(CheckOptimality(model, right).Within(1e-12));

  LpSolution outside = right;  // the row holds 4.1 > 4
  outside.x[1] = 1.1;
  CHECK(CheckOptimality(model, outside).primal_infeasibility > 1e-3);

  LpSolution over = right;  // x beyond its bound
  over.x = {3.5, 0.5};
  CHECK(CheckOptimality(model, over).primal_infeasibility > 1e-3);

  LpSolution short_of_it = right;  // feasible, 10 instead of 11: only the gap tells
  short_of_it.x = {2.0, 2.0};
  CHECK(CheckOptimality(model, short_of_it).primal_infeasibility == 0.0);
  CHECK(CheckOptimality(model, short_of_it).gap > 1e-3);

  LpSolution cheap = right;  // y's reduced cost is positive although y may grow
  cheap.row_dual[0] = 1.0;
  CHECK(CheckOptimality(model, cheap).dual_infeasibility > 1e-3);

  LpSolution nothing = right;
  nothing.x[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(CheckOptimality(model, nothing).Within(1e-3));
}

// Two jobs, one GPU of each of two types. Job 0 is worth 4 on type 0 and 1 on type 1, job 1 is worth 1 on
// both. Best: job 0 a share a of type 0, job 1 type 1 and the rest: 4a = 1 gives a = 1/4, but job 1 can have
// at most one second a second, so c = 1.
TEST_CASE("lp: the level program's closed form", "[lp][gavel]") {
  gavel::Problem problem;
  problem.workers = {1, 1};
  problem.key = {0, 1};
  problem.gang = {1, 1};
  problem.weight = {1.0, 1.0};
  problem.throughput = {4.0, 1.0, 1.0, 1.0};
  for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kInteriorPoint}) {
    gavel::LevelLp lp(method);
    gavel::LevelAnswer answer;
    REQUIRE(lp.Maximize(problem, problem.throughput, answer));
    CHECK(answer.level == Approx(1.0).epsilon(1e-7));
    CHECK(answer.price[0] + answer.price[1] == Approx(1.0).epsilon(1e-6));
    CHECK(answer.x[2] + answer.x[3] == Approx(1.0).epsilon(1e-6));
  }
}

// Random level programs: both methods give the same optimum, each with its proof.
TEST_CASE("lp: two methods agree on random programs", "[lp][gavel]") {
  for (std::uint32_t round = 0; round < 30; ++round) {
    Stream random(7, Purpose::kTest, Split::kTrain, round);
    gavel::Problem problem;
    problem.workers = {1 + static_cast<int>(random.Below(8)), 1 + static_cast<int>(random.Below(8))};
    const int jobs = 1 + static_cast<int>(random.Below(20));
    for (int i = 0; i < jobs; ++i) {
      problem.key.push_back(i);
      problem.gang.push_back(1);
      problem.weight.push_back(1.0);
      problem.throughput.push_back(random.Uniform(0.1, 10.0));
      problem.throughput.push_back(random.Below(4) == 0 ? 0.0 : random.Uniform(0.1, 10.0));
    }
    gavel::LevelLp simplex(LpMethod::kSimplex), interior(LpMethod::kInteriorPoint);
    gavel::LevelAnswer a, b;
    REQUIRE(simplex.Maximize(problem, problem.throughput, a));
    REQUIRE(interior.Maximize(problem, problem.throughput, b));
    INFO("round " << round);
    CHECK(a.level == Approx(b.level).epsilon(1e-6));
    CHECK(simplex.failed_checks() + interior.failed_checks() == 0);
  }
}

}  // namespace berth
