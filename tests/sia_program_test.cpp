// Sia's integer program: by hand, against exhaustive search and HiGHS, and the instances recorded from the authors'
// own code.
#include "baselines/adaptive/sia_program.hpp"

#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

#include "baselines/mip.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/skip.hpp"
#include "tools/reproduce/sia/recorded.hpp"

namespace berth::sia {
namespace {

const std::string kSiaFolders = BERTH_SOURCE_DIR "/../shared/anchors";
constexpr double kNotForIt = std::numeric_limits<double>::infinity();

// Objective, jobs that lose the configuration they hold, GPUs: what the tie rule compares.
struct SiaValue {
  double objective = 0.0;
  int changes = 0, gpus = 0;
};

SiaValue ValueOf(const Program& program, const std::vector<int>& chosen) {
  SiaValue value;
  std::vector<int> left = program.capacity;
  REQUIRE(static_cast<int>(chosen.size()) == program.jobs);
  for (std::size_t job = 0; job < chosen.size(); ++job) {
    const int k = chosen[job];
    if (!program.forced.empty() && program.forced[job] >= 0) CHECK(k == program.forced[job]);
    if (!program.previous.empty() && program.previous[job] >= 0) value.changes += k != program.previous[job];
    value.objective += k < 0 ? program.unallocated
                             : program.cost[job * program.configurations.size() + static_cast<std::size_t>(k)];
    if (k < 0) continue;
    const Configuration& its = program.configurations[static_cast<std::size_t>(k)];
    value.gpus += its.gpus;
    left[static_cast<std::size_t>(its.type)] -= its.gpus;
  }
  for (int gpus : left) CHECK(gpus >= 0);
  return value;
}

bool Better(const SiaValue& a, const SiaValue& b) {
  if (std::abs(a.objective - b.objective) > 1e-9) return a.objective < b.objective;
  return a.changes != b.changes ? a.changes < b.changes : a.gpus < b.gpus;
}

// The best of all choices, job by job.
struct Enumeration {
  const Program& program;
  std::vector<int> left = program.capacity;
  SiaValue now = {}, best = {kNotForIt, 0, 0};

  void Try(int job) {
    if (job == program.jobs) {
      if (Better(now, best)) best = now;
      return;
    }
    const auto at = static_cast<std::size_t>(job);
    for (int k = -1; k < static_cast<int>(program.configurations.size()); ++k) {
      if (program.forced[at] >= 0 && k != program.forced[at]) continue;
      const SiaValue before = now;
      now.changes += program.previous[at] >= 0 && k != program.previous[at];
      if (k < 0) {
        now.objective += program.unallocated;
        Try(job + 1);
      } else {
        const auto its = static_cast<std::size_t>(k);
        const Configuration& configuration = program.configurations[its];
        int& gpus = left[static_cast<std::size_t>(configuration.type)];
        now.objective += program.cost[at * program.configurations.size() + its];
        now.gpus += configuration.gpus;
        gpus -= configuration.gpus;
        if (gpus >= 0 && std::isfinite(now.objective)) Try(job + 1);
        gpus += configuration.gpus;
      }
      now = before;
    }
  }
};

// Anything goes: GPU counts that are no powers of two, costs above and below that of no GPUs, negative and infinite
// ones, equal rows, jobs that hold what they can no longer have.
Program SmallProgram(Stream& random) {
  Program program;
  const int types = 1 + static_cast<int>(random.Below(3)), configurations = 1 + static_cast<int>(random.Below(6));
  const int scale = random.Below(3) == 0 ? 8 : 1;  // of 8, GPUs left modulo 8 say nothing
  for (int type = 0; type < types; ++type) program.capacity.push_back(scale * static_cast<int>(random.Below(10)));
  for (int k = 0; k < configurations; ++k)
    program.configurations.push_back(
        {static_cast<int>(random.Below(static_cast<std::uint32_t>(types))), 1, scale * (1 + static_cast<int>(random.Below(7)))});
  program.jobs = static_cast<int>(random.Below(7));
  program.unallocated = random.Below(4) == 0 ? 0.37 : 1.1;
  const bool coarse = random.Below(3) > 0, few = random.Below(2) > 0;
  std::vector<int> left = program.capacity;
  for (int job = 0; job < program.jobs; ++job) {
    const bool same = job > 0 && random.Below(4) == 0;  // as the job before
    for (int k = 0; k < configurations; ++k) {
      double cost = random.Uniform(-0.2, 1.5);
      if (few) cost = 0.1 * (1 + static_cast<double>(random.Below(5)));
      if (coarse || few) cost = std::round(100.0 * cost) / 100.0;
      if (random.Below(10) == 0) cost = kNotForIt;
      program.cost.push_back(same ? program.cost[program.cost.size() - static_cast<std::size_t>(configurations)] : cost);
    }
    const auto any = [&] { return static_cast<int>(random.Below(static_cast<std::uint32_t>(configurations + 2))) - 2; };
    program.previous.push_back(std::max(any(), -1));
    int forced = random.Below(5) == 0 ? std::max(any(), -1) : -1;
    if (forced >= 0) {
      const Configuration& its = program.configurations[static_cast<std::size_t>(forced)];
      int& gpus = left[static_cast<std::size_t>(its.type)];
      const std::size_t entry = static_cast<std::size_t>(job) * program.configurations.size() + static_cast<std::size_t>(forced);
      if (its.gpus > gpus || !std::isfinite(program.cost[entry])) forced = -1;
      else gpus -= its.gpus;
    }
    program.forced.push_back(forced);
  }
  return program;
}

// Jobs of power-law speed-ups on a cluster of 4- and 8-GPU nodes, costs as Sia makes them.
Program MediumProgram(Stream& random, int jobs, int types, int nodes, bool rounded) {
  Program program;
  program.jobs = jobs;
  for (int type = 0; type < types; ++type) {
    const int whole = type % 2 == 0 ? 4 : 8;
    program.capacity.push_back(whole * nodes);
    for (int gpus = 1; gpus < whole; gpus *= 2) program.configurations.push_back({type, 1, gpus});
    for (int count = 1; count <= nodes; ++count) program.configurations.push_back({type, count, whole * count});
  }
  for (int job = 0; job < jobs; ++job) {
    const double power = random.Uniform(0.3, 1.0);
    const int most = 1 << random.Below(6);
    std::vector<double> speed;
    for (int type = 0; type < types; ++type) speed.push_back(random.Uniform(1.0, 5.0));
    program.previous.push_back(-1);
    for (const Configuration& its : program.configurations) {
      double cost = 1.1 / std::sqrt(speed[static_cast<std::size_t>(its.type)] * std::pow(its.gpus, power));
      if (rounded) cost = std::round(100.0 * cost) / 100.0;
      program.cost.push_back(its.gpus <= most ? cost : 100.0);
    }
    program.forced.push_back(-1);
  }
  return program;
}

double ByHighs(const Program& program) {
  LpModel model;
  std::vector<std::vector<int>> columns(static_cast<std::size_t>(program.jobs));
  const std::size_t configurations = program.configurations.size();
  for (std::size_t entry = 0; entry < program.cost.size(); ++entry) {
    if (program.cost[entry] > program.unallocated) continue;
    const int column = model.AddColumn(program.cost[entry] - program.unallocated, 0, 1);
    columns[entry / configurations].push_back(column);
    model.integer.push_back(column);
  }
  std::vector<std::vector<std::array<int, 2>>> rows(program.capacity.size());
  for (std::size_t job = 0; job < columns.size(); ++job) {
    for (int column : columns[job]) model.AddEntry(column, 1);
    model.EndRow(-kLpInfinity, 1);
    auto column = columns[job].begin();
    for (std::size_t k = 0; k < configurations; ++k) {
      if (program.cost[job * configurations + k] > program.unallocated) continue;
      const Configuration& its = program.configurations[k];
      rows[static_cast<std::size_t>(its.type)].push_back({*column++, its.gpus});
    }
  }
  for (std::size_t type = 0; type < rows.size(); ++type) {
    for (const auto& [column, gpus] : rows[type]) model.AddEntry(column, gpus);
    model.EndRow(-kLpInfinity, program.capacity[type]);
  }
  const MipAnswer answer = SolveMip(model, {});
  REQUIRE(answer.proven);
  return answer.objective + program.unallocated * program.jobs;
}

// Two jobs, four GPUs of one type, 1, 2 or 4 of them at once.
Program TwoJobs() {
  Program program;
  program.capacity = {4};
  program.configurations = {{0, 1, 1}, {0, 1, 2}, {0, 1, 4}};
  program.cost = {1.0, 0.7, 0.5, 1.0, 0.8, 0.3};
  program.jobs = 2;
  return program;
}

}  // namespace

TEST_CASE("sia: the integer program by hand", "[sia]") {
  // All for the second costs 1.1 + 0.3, all for the first 1.6; two GPUs each 0.7 + 0.8 = 1.5; so 1.4.
  Program program = TwoJobs();
  Answer answer = Solve(program);
  CHECK(answer.chosen == std::vector<int>{-1, 2});
  CHECK(answer.objective == Approx(1.4));
  CHECK(answer.bound == Approx(1.4));
  CHECK(answer.proven);
  // No GPUs at 1.3: now 1.5 is the least.
  program.unallocated = 1.3;
  CHECK(Solve(program).chosen == std::vector<int>{1, 1});
  // The first must keep one GPU: three are left, of which the second can use two.
  program.forced = {0, -1};
  CHECK(Solve(program).chosen == std::vector<int>{0, 1});
  // No GPUs at 0.2: that is the least for both.
  program.forced.clear(), program.unallocated = 0.2;
  CHECK(Solve(program).chosen == std::vector<int>{-1, -1});
  CHECK(Solve(Program{}).proven);
}

TEST_CASE("sia: the tie rule by hand", "[sia]") {
  Program program = TwoJobs();
  // Two GPUs each or one for either: 1.4 each way, and no better one. Fewest GPUs: 1 + 2.
  program.cost = {0.7, 0.7, 5.0, 0.9, 0.7, 5.0};
  CHECK(Solve(program).chosen == std::vector<int>{0, 1});
  // The first holds two: it keeps them.
  program.previous = {1, -1};
  CHECK(Solve(program).chosen == std::vector<int>{1, 1});
  // Equal jobs of which one fits: the first, unless the second holds it.
  program.capacity = {1}, program.cost = {0.7, 5.0, 5.0, 0.7, 5.0, 5.0}, program.previous = {-1, -1};
  CHECK(Solve(program).chosen == std::vector<int>{0, -1});
  program.previous = {-1, 0};
  CHECK(Solve(program).chosen == std::vector<int>{-1, 0});
  const Answer answer = Solve(program);
  CHECK(answer.ties_proven);
}

TEST_CASE("sia: small programs against exhaustive search, ties included", "[sia]") {
  Stream random(/*seed=*/1, Purpose::kTest);
  for (int draw = 0; draw < 6000; ++draw) {
    CAPTURE(draw);
    const Program program = SmallProgram(random);
    Enumeration all{program};
    all.Try(0);
    const Answer answer = Solve(program);
    const SiaValue value = ValueOf(program, answer.chosen);
    CHECK(answer.proven);
    CHECK(answer.ties_proven);
    CHECK(value.objective == Approx(answer.objective).margin(1e-12));
    CHECK(std::abs(value.objective - all.best.objective) <= 1e-8);
    CHECK(answer.bound <= all.best.objective + 1e-12);
    CHECK(answer.bound >= all.best.objective - 1e-7);
    // Where two objectives differ by less than 1e-9 the step decides which is less.
    if (std::abs(value.objective - all.best.objective) > 1e-9) continue;
    CHECK(value.changes == all.best.changes);
    CHECK(value.gpus == all.best.gpus);
  }
}

TEST_CASE("sia: larger programs against HiGHS", "[sia]") {
  Stream random(/*seed=*/2, Purpose::kTest);
  struct Size {
    int jobs, types, nodes;
  };
  for (const Size& size : {Size{12, 3, 3}, {30, 3, 3}, {60, 2, 6}, {40, 6, 3}, {18, 12, 2}}) {
    for (const bool rounded : {true, false}) {
      CAPTURE(size.jobs, size.types, rounded);
      const Program program = MediumProgram(random, size.jobs, size.types, size.nodes, rounded);
      const Answer answer = Solve(program);
      CHECK(answer.proven);
      CHECK(ValueOf(program, answer.chosen).objective == Approx(answer.objective));
      CHECK(answer.objective == Approx(ByHighs(program)).margin(2e-6));
    }
  }
}

TEST_CASE("sia: out of steps it has an answer and a bound, or branches", "[sia]") {
  Stream random(/*seed=*/3, Purpose::kTest);
  bool some_unproven = false;
  for (int draw = 0; draw < 12; ++draw) {
    const Program program = MediumProgram(random, 30, 3, 6, draw % 2 == 0);
    const Answer exact = Solve(program), hasty = Solve(program, {0, 0, 0});
    CHECK(exact.ties_proven);
    CHECK(ValueOf(program, hasty.chosen).objective >= exact.objective - 1e-9);
    CHECK(hasty.bound <= exact.objective + 1e-9);
    if (hasty.proven) CHECK(hasty.objective == Approx(exact.objective));
    some_unproven = some_unproven || !hasty.proven;
    // The tie rule given up, the objective is still proven.
    const Answer plain = Solve(program, {30'000'000, 0, 0});
    CHECK(plain.proven);
    CHECK(plain.objective == Approx(exact.objective));
    CHECK(Solve(program).chosen == exact.chosen);
    // Branch and cut instead of the dynamic program.
    const Answer branched = Solve(program, {0, 0});
    CHECK(branched.proven);
    CHECK(ValueOf(program, branched.chosen).objective == Approx(exact.objective));
  }
  CHECK(some_unproven);
}

TEST_CASE("sia: the programs recorded from the authors' code, every optimum", "[sia][golden]") {
  if (!std::filesystem::exists(kSiaFolders + "/sia")) return test::Skip("needs records of Sia's own code (not shipped)");
  int instances = 0;
  for (const RecordedProgram& instance : Folder(kSiaFolders + "/sia", kSiaFolders + "/pollux/profiles").Programs()) {
    CAPTURE(instance.id);
    const Program& program = instance.program;
    const Answer answer = Solve(program);
    const double optimum = instance.objective;
    CHECK(std::abs(ValueOf(program, answer.chosen).objective - optimum) <= 1e-9);
    CHECK(std::abs(answer.bound - optimum) <= 1e-9);
    CHECK(answer.proven);
    CHECK(answer.ties_proven);
    CHECK(answer.steps < 100'000);  // a few milliseconds
    ++instances;
  }
  CHECK(instances == 24);
}

TEST_CASE("sia: programs that are none", "[sia]") {
  const auto says = [](const Program& program, const std::string& part) {
    return test::Says(test::MessageOf([&] { Solve(program); }), part);
  };
  Program program = TwoJobs();
  program.forced = {2, 0};
  CHECK(says(program, "job 1 is forced to configuration 0 of 1 GPU of type 0, where 0 are left"));
  program = TwoJobs(), program.configurations[1].type = 3;
  CHECK(says(program, "configuration 1: expected a type below 1, found 3"));
  program = TwoJobs(), program.configurations[1].gpus = 0;
  CHECK(says(program, "configuration 1: expected 1 <= nodes <= GPUs, found 1 node and 0 GPUs"));
  program = TwoJobs(), program.capacity = {-4};
  CHECK(says(program, "capacity of type 0: expected at least 0 GPUs, found -4"));
  program = TwoJobs(), program.cost.pop_back();
  CHECK(says(program, "cost: expected jobs x configurations = 6 entries, found 5"));
  program = TwoJobs(), program.cost[4] = std::nan("");
  CHECK(says(program, "cost of job 1, configuration 1: expected a number, found nan"));
  program = TwoJobs(), program.unallocated = kNotForIt;
  CHECK(says(program, "unallocated: expected a finite cost, found inf"));
  program = TwoJobs(), program.previous = {0};
  CHECK(says(program, "previous: expected an entry for each of 2 jobs, found 1"));
  program = TwoJobs(), program.forced = {-1, 3};
  CHECK(says(program, "forced of job 1: expected a configuration below 3 or -1, found 3"));
  program = TwoJobs(), program.forced = {-1, 2}, program.cost[5] = kNotForIt;
  CHECK(says(program, "job 1 is forced to configuration 2, whose cost is infinite"));
  program = TwoJobs(), program.jobs = -1;
  CHECK(says(program, "jobs: expected at least 0, found -1"));
}

}  // namespace berth::sia
