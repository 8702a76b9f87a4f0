// Exact schedules: against exhaustive search on a grid of whole seconds, and through the simulator.
#include "tools/bench/optimality.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tools/bench/exact_schedule.hpp"
#include "tools/results.hpp"

namespace berth::bench {
namespace {

// All whole-second starts of every job on every type, checked second by second: knows nothing of sequences.
// Where times are whole seconds, so are the starts of some best schedule.
class GridSearch {
 public:
  GridSearch(const ExactProblem& problem, Aim aim) : problem_(problem), aim_(aim) {
    for (int j = 0; j < problem.jobs(); ++j) {
      horizon_ +=
          static_cast<int>(*std::max_element(problem.seconds[U(j)].begin(), problem.seconds[U(j)].end()));
      horizon_ += static_cast<int>(problem.arrival[U(j)]);
    }
    busy_.assign(U(problem.types()), std::vector<int>(U(horizon_), 0));
    Try(0, 0.0);
  }
  double best() const { return best_; }

 private:
  void Try(int job, double value) {
    if (job == problem_.jobs()) {
      best_ = std::min(best_, value);
      return;
    }
    for (int g = 0; g < problem_.types(); ++g) {
      const int length = static_cast<int>(problem_.seconds[U(job)][U(g)]), gang = problem_.gang[U(job)];
      for (int start = static_cast<int>(problem_.arrival[U(job)]); start + length <= horizon_; ++start) {
        bool fits = true;
        for (int t = start; t < start + length; ++t)
          fits = fits && busy_[U(g)][U(t)] + gang <= problem_.gpus[U(g)];
        if (!fits) continue;
        const double end = start + length;
        for (int t = start; t < start + length; ++t) busy_[U(g)][U(t)] += gang;
        Try(job + 1, aim_ == Aim::kMakespan ? std::max(value, end) : value + end);
        for (int t = start; t < start + length; ++t) busy_[U(g)][U(t)] -= gang;
      }
    }
  }
  const ExactProblem& problem_;
  const Aim aim_;
  int horizon_ = 0;
  std::vector<std::vector<int>> busy_;  // [G][second] GPUs
  double best_ = std::numeric_limits<double>::infinity();
};

ExactProblem SmallInstance(int index) {
  Stream stream(11, Purpose::kTest, Split::kTrain, static_cast<std::uint32_t>(index));
  ExactProblem problem;
  problem.gpus = {1 + static_cast<int>(stream.Below(2)), 1 + static_cast<int>(stream.Below(2))};
  const int largest = *std::max_element(problem.gpus.begin(), problem.gpus.end());
  for (int j = 0; j < 3; ++j) {
    problem.arrival.push_back(static_cast<double>(stream.Below(3)));
    problem.gang.push_back(1 + static_cast<int>(stream.Below(static_cast<std::uint32_t>(largest))));
    problem.seconds.push_back({1.0 + stream.Below(4), 1.0 + stream.Below(4)});
  }
  return problem;
}

// Starts every job where and when the schedule says; where the GPU that it waits for is a rounding error
// late, at that completion.
class Replay : public Scheduler {
 public:
  explicit Replay(const ExactSchedule& schedule) : schedule_(schedule) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }
  void Decide(const ClusterView& view, Decision& decision) override {
    std::vector<int> free(view.free_gpus().begin(), view.free_gpus().end());
    for (int job : view.waiting()) {
      const int type = schedule_.type[U(job)];
      if (schedule_.start[U(job)] <= view.now() + 1e-9) {
        if (free[U(type)] < view.Gang(job)) continue;
        free[U(type)] -= view.Gang(job);
        decision.Start(job, type);
      } else {
        decision.wake_at = std::min(decision.wake_at, schedule_.start[U(job)]);
      }
    }
  }

 private:
  const ExactSchedule& schedule_;
};

}  // namespace

TEST_CASE("optimality: branch and bound finds what exhaustive search over start times finds") {
  for (int index = 0; index < 60; ++index) {
    const ExactProblem problem = SmallInstance(index);
    CAPTURE(index);
    for (const Aim aim : {Aim::kSumCompletion, Aim::kMakespan}) {
      CHECK(SolveExactly(problem, aim).value == GridSearch(problem, aim).best());
    }
  }
}

TEST_CASE("optimality: waiting for a faster GPU, and leaving one idle for a gang, by hand") {
  // Type 0 takes 2 s a job, type 1 takes 9 s: both jobs run on type 0 one after the other, 2 + 4.
  ExactProblem waits{{1, 1}, {0, 0}, {1, 1}, {{2, 9}, {2, 9}}};
  CHECK(SolveExactly(waits, Aim::kSumCompletion).value == 6.0);
  CHECK(SolveExactly(waits, Aim::kMakespan).value == 4.0);
  // Two GPUs. A job of 10 s at 0, a gang of two for 1 s at 1: the long one waits for it, 2 + 12 = 14, against
  // 10 + 11 = 21 for starting it at once.
  ExactProblem gang{{2}, {0, 1}, {1, 2}, {{10}, {1}}};
  const ExactSchedule idle = SolveExactly(gang, Aim::kSumCompletion);
  CHECK(idle.value == 14.0);
  CHECK(idle.start == std::vector<double>{2.0, 1.0});
  CHECK(SolveExactly(gang, Aim::kMakespan).value == 11.0);
}

TEST_CASE(
    "optimality: the simulator reaches the optimum by the optimal schedule; who stops no job never beats "
    "it") {
  for (int index = 0; index < 24; ++index) {
    CAPTURE(index);
    const ExactProblem problem = RandomInstance(index);
    REQUIRE(problem.jobs() <= kOptimalityJobs);
    const Scenario scenario = ToScenario(problem);
    const double arrivals = std::accumulate(problem.arrival.begin(), problem.arrival.end(), 0.0);
    const ExactSchedule jct = SolveExactly(problem, Aim::kSumCompletion);
    const ExactSchedule last = SolveExactly(problem, Aim::kMakespan);
    Replay by_jct(jct), by_last(last);
    // relative to 1e-9: run times come back from steps and rates
    CHECK(Run(scenario, by_jct, "replay", {}).metrics.mean_jct_s * problem.jobs() ==
          Approx(jct.value - arrivals).epsilon(1e-9));
    CHECK(Run(scenario, by_last, "replay", {}).metrics.makespan_s == Approx(last.value).epsilon(1e-9));
    for (const SchedulerInfo& info : BaselineSchedulers()) {
      if (info.preemptive) continue;
      CAPTURE(info.name);
      const auto scheduler = MakeScheduler(info.name, AllSchedulers());
      const Metrics metrics = Run(scenario, *scheduler, info.name, {}).metrics;
      if (metrics.unfinished > 0) continue;  // who turns jobs away is not compared
      CHECK(metrics.mean_jct_s * metrics.jobs >= (jct.value - arrivals) * (1.0 - 1e-9));
      CHECK(metrics.makespan_s >= last.value * (1.0 - 1e-9));
    }
  }
}

TEST_CASE("optimality: annealing, genetic and milp keep to the gaps that are stated of them") {
  // All jobs there at the start, so that nothing but the plan stands between them and the optimum. Mean gaps
  // over these instances, rounded up to a quarter percent.
  struct Stated {
    const char* spec;
    Aim aim;
    double gap;
  };
  constexpr Stated kStated[] = {
      {"annealing", Aim::kSumCompletion, 0.0075},
      {"genetic", Aim::kSumCompletion, 0.0075},
      {"tabu_search", Aim::kSumCompletion, 0.0025},
      {"milp", Aim::kSumCompletion, 0.0025},
      {"annealing(objective=makespan)", Aim::kMakespan, 0.01},
      {"genetic(objective=makespan)", Aim::kMakespan, 0.015},
      {"tabu_search(objective=makespan)", Aim::kMakespan, 0.0125},
      {"milp(objective=makespan)", Aim::kMakespan, 0.005},
  };
  constexpr int kInstances = 50;
  for (const Stated& stated : kStated) {
    double gap = 0.0;
    for (int k = 0; k < kInstances; ++k) {
      const ExactProblem problem = RandomInstance(2 * k);
      const double optimum = SolveExactly(problem, stated.aim).value;
      const auto scheduler = MakeScheduler(stated.spec, AllSchedulers());
      const Metrics metrics = Run(ToScenario(problem), *scheduler, stated.spec, {}).metrics;
      const double value =
          stated.aim == Aim::kMakespan ? metrics.makespan_s : metrics.mean_jct_s * metrics.jobs;
      gap += (value / optimum - 1.0) / kInstances;
    }
    CAPTURE(stated.spec, gap);
    CHECK(gap <= stated.gap);
  }
}

TEST_CASE("optimality: the table counts what it compared") {
  const auto rows = MeasureOptimality({"fcfs", "srpt"}, 6);
  REQUIRE(rows.size() == 2);
  for (const OptimalityRow& row : rows) {
    CHECK(row.instances == 6);
    CHECK(row.failed == 0);
    CHECK(row.jct.median <= row.jct.max);
    CHECK(row.jct.mean <= row.jct.max);
  }
  CHECK_FALSE(rows[0].preemptive);
  CHECK(rows[1].preemptive);
  CHECK(rows[0].jct.max >= rows[0].jct.p95);
}

}  // namespace berth::bench
