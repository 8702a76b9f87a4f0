// Gavel's objectives against the reference's own answers and independent optima (../shared/gavel/golden):
// objective values, not allocations, since LP optima are not unique. Tolerances are golden/README.md's.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/gavel/objectives.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"

namespace berth::gavel {
namespace {

using nlohmann::json;

const char* const kGolden = BERTH_SOURCE_DIR "/../shared/gavel/golden/golden_public.json";
const std::vector<std::string> kTypes = {"k80", "p100", "v100"};  // the goldens' column order
constexpr int kV100 = 2;

bool HaveGoldens() {
  return std::filesystem::exists(kGolden);
}
const char* const kNeeds = "needs ../shared/gavel/golden/golden_public.json";

// At least one: a file of none would let every case here pass without a check.
json Instances() {
  std::ifstream file(kGolden);
  json instances = json::parse(file)["instances"];
  REQUIRE_FALSE(instances.empty());
  return instances;
}

Problem ReadProblem(const json& instance) {
  Problem problem;
  for (const std::string& type : kTypes) problem.workers.push_back(instance["cluster_spec"][type]);
  for (const json& job : instance["jobs"]) {
    problem.key.push_back(job["job_id"]);
    problem.gang.push_back(job["scale_factor"]);
    problem.weight.push_back(job["priority_weight"]);
    for (const std::string& type : kTypes) problem.throughput.push_back(job["throughput"][type]);
    problem.remaining.push_back(job["num_steps_remaining"]);
    problem.since.push_back(job["time_since_start"]);
  }
  return problem;
}

// How far x is from satisfying the base constraints.
double Violation(const Problem& problem, const Allocation& x) {
  double worst = 0.0;
  for (int i = 0; i < problem.jobs(); ++i) {
    double sum = 0.0;
    for (int j = 0; j < problem.types(); ++j) {
      sum += x[problem.at(i, j)];
      worst = std::max(worst, -x[problem.at(i, j)]);
    }
    worst = std::max(worst, sum - 1.0);
  }
  for (int j = 0; j < problem.types(); ++j) {
    double used = 0.0;
    for (int i = 0; i < problem.jobs(); ++i)
      used += problem.gang[static_cast<std::size_t>(i)] * x[problem.at(i, j)];
    worst = std::max(worst, used - problem.workers[static_cast<std::size_t>(j)]);
  }
  return worst;
}

void CheckExact(const Problem& problem, const Allocation& x, const json& policy) {
  const json& rows = policy["allocation"];
  for (int i = 0; i < problem.jobs(); ++i) {
    for (int j = 0; j < problem.types(); ++j) {
      CHECK(x[problem.at(i, j)] ==
            Approx(rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].get<double>())
                .epsilon(1e-9)
                .margin(1e-12));
    }
  }
}

double MaxMinLevel(const Problem& problem, const Allocation& x) {
  const auto prop = ProportionalThroughput(problem), speed = EffectiveThroughput(problem, x);
  double level = 1e300;
  for (std::size_t i = 0; i < speed.size(); ++i) {
    level = std::min(level, problem.gang[i] * speed[i] / (problem.weight[i] * prop[i]));
  }
  return level;
}

double Makespan(const Problem& problem, const Allocation& x) {
  const auto speed = EffectiveThroughput(problem, x);
  double longest = 0.0;
  for (std::size_t i = 0; i < speed.size(); ++i) longest = std::max(longest, problem.remaining[i] / speed[i]);
  return longest;
}

const LpMethod kMethods[] = {LpMethod::kSimplex, LpMethod::kInteriorPoint};

}  // namespace

TEST_CASE("gavel goldens: isolated, proportional, fifo", "[gavel][golden]") {
  if (!HaveGoldens()) return test::Skip(kNeeds);
  for (const json& instance : Instances()) {
    INFO(instance["id"]);
    const Problem problem = ReadProblem(instance);
    const json& policies = instance["policies"];
    CheckExact(problem, IsolatedAllocation(problem), policies["isolated"]);
    CheckExact(problem, ProportionalAllocation(problem), policies["proportional"]);
    CheckExact(problem, FifoAllocation(problem, {0, 1, 2}), policies["fifo_perf"]);
    const auto prop = ProportionalThroughput(problem);
    const auto isolated = EffectiveThroughput(problem, IsolatedAllocation(problem));
    for (std::size_t i = 0; i < prop.size(); ++i) {
      CHECK(prop[i] == Approx(instance["proportional_throughput"][i].get<double>()).epsilon(1e-9));
      CHECK(isolated[i] == Approx(instance["isolated_throughput"][i].get<double>()).epsilon(1e-9));
    }
  }
}

TEST_CASE("gavel goldens: max-min fairness", "[gavel][golden]") {
  if (!HaveGoldens()) return test::Skip(kNeeds);
  for (const json& instance : Instances()) {
    for (const LpMethod method : kMethods) {
      for (const bool aware : {true, false}) {
        INFO(instance["id"] << (method == LpMethod::kSimplex ? " simplex" : " ipm")
                            << (aware ? " aware" : ""));
        const Problem problem = aware ? ReadProblem(instance) : WithUnitThroughput(ReadProblem(instance));
        const json& policy = instance["policies"][aware ? "max_min_fairness_perf" : "max_min_fairness"];
        LevelLp lp(method);
        Allocation x;
        double level = 0.0;
        REQUIRE(MaxMinFairness(problem, lp, x, &level));
        const double optimum = policy["objective_opt"];
        CHECK(level == Approx(optimum).epsilon(1e-6));
        CHECK(MaxMinLevel(problem, x) == Approx(optimum).epsilon(1e-6));
        CHECK(Violation(problem, x) <= 1e-7);
        CHECK(lp.failed_checks() == 0);
      }
    }
  }
}

TEST_CASE("gavel goldens: makespan, exact and as the reference bisects", "[gavel][golden]") {
  if (!HaveGoldens()) return test::Skip(kNeeds);
  for (const json& instance : Instances()) {
    for (const LpMethod method : kMethods) {
      for (const bool aware : {true, false}) {
        INFO(instance["id"] << (method == LpMethod::kSimplex ? " simplex" : " ipm")
                            << (aware ? " aware" : ""));
        const Problem problem =
            aware ? ReadProblem(instance) : WithThroughputOf(ReadProblem(instance), kV100);
        const json& policy = instance["policies"][aware ? "min_total_duration_perf" : "min_total_duration"];
        LevelLp lp(method);
        MakespanAnswer exact, bisected;
        REQUIRE(ExactMakespan(problem, lp, exact));
        const double optimum = policy["objective_opt"];
        CHECK(exact.seconds == Approx(optimum).epsilon(1e-6));
        CHECK(Makespan(problem, exact.x) == Approx(optimum).epsilon(1e-6));
        CHECK(Violation(problem, exact.x) <= 1e-7);

        const std::vector<Probe> probes = BisectionSequence(exact.seconds);
        const json& recorded = policy["bisection"];
        REQUIRE(probes.size() == recorded.size());
        for (std::size_t k = 0; k < probes.size(); ++k) {
          CHECK(probes[k].seconds == recorded[k][0].get<double>());
          CHECK(probes[k].feasible == (recorded[k][1] == "optimal"));
        }
        REQUIRE(BisectedMakespan(problem, lp, bisected));
        CHECK(bisected.seconds == policy["T_last_feasible"].get<double>());
        CHECK(Makespan(problem, bisected.x) <= bisected.seconds * (1.0 + 1e-6));
        CHECK(Violation(problem, bisected.x) <= 1e-7);
      }
    }
  }
}

TEST_CASE("gavel goldens: finish-time fairness, first and second call", "[gavel][golden]") {
  if (!HaveGoldens()) return test::Skip(kNeeds);
  for (const json& instance : Instances()) {
    for (const LpMethod method : kMethods) {
      for (const bool aware : {true, false}) {
        const std::string name = aware ? "finish_time_fairness_perf" : "finish_time_fairness";
        INFO(instance["id"] << " " << name << (method == LpMethod::kSimplex ? " simplex" : " ipm"));
        Problem problem = ReadProblem(instance);
        if (!aware) problem = WithThroughputOf(problem, kV100);
        LevelLp lp(method);
        FinishTimeFairness fairness;
        for (const std::string call : {"", "_second_call"}) {
          const json& policy = instance["policies"][name + call];
          if (call != "") {
            problem.remaining = policy["num_steps_remaining"].get<std::vector<double>>();
            problem.since = policy["time_since_start"].get<std::vector<double>>();
          }
          Allocation x;
          double rho = 0.0;
          REQUIRE(fairness.Solve(problem, lp, x, &rho));
          CHECK(rho == Approx(policy["objective_opt"].get<double>()).epsilon(1e-6));
          CHECK(Violation(problem, x) <= 1e-7);
        }
      }
    }
  }
}

}  // namespace berth::gavel
