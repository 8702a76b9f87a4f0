// What `reproduce learned` says is left to gain: the bound of a log's mean JCT, and the searched order.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "baselines/schedulers.hpp"
#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tools/reproduce/finished_run.hpp"
#include "tools/reproduce/learned/least_makespan.hpp"
#include "tools/reproduce/learned/searched_order.hpp"
#include "tools/reproduce/learned/srpt_bound.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

// Jobs {arrival, seconds alone, gang} on GPUs of one type.
Scenario OneType(int gpus, const std::vector<std::array<double, 3>>& wanted) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=2");
  settings.clock = {ClockKind::kEvent};
  const int count = static_cast<int>(wanted.size());
  // Types of jobs that run on two GPUs as well as on one.
  const auto source = MakeWorkload("synthetic(rate=1,gangs=2:1)", settings);
  ScenarioData data = source->Make(1, Split::kTrain, 0, 0, count).data();
  for (int job = 0; job < count; ++job) {
    data.jobs.arrival[U(job)] = wanted[U(job)][0];
    data.jobs.gang[U(job)] = static_cast<int>(wanted[U(job)][2]);
  }
  data.cluster.types[0].count = gpus;
  const Scenario rates(data);
  for (int job = 0; job < count; ++job)
    data.jobs.total_steps[U(job)] = wanted[U(job)][1] * rates.BestRate(job);
  return Scenario(std::move(data));
}

double MeanOf(const Scenario& scenario, const std::string& spec, double Metrics::*figure) {
  const auto scheduler = MakeScheduler(spec, AllSchedulers());
  const Window all{0, scenario.num_jobs()};
  return Measure(FinishedRun(scenario, *scheduler, all), all).*figure;
}

}  // namespace

TEST_CASE("headroom: the bound by hand, and no scheduler is below it") {
  // On one machine of 2 GPUs: 2, 10 and 1 s of work; the second waits for both others.
  const Scenario three = OneType(2, {{0, 4, 1}, {0, 10, 2}, {1, 1, 2}});
  CHECK(SrptBound(three, {0, 3}) == Approx((2.0 + 13.0 + 2.0) / 3.0));
  CHECK(SrptBound(three, {2, 3}) == Approx(1.0));
  CHECK(SrptBound(OneType(4, {{0, 4, 1}, {0, 10, 1}}), {0, 2}) == Approx(7.0));  // alone: nobody waits
  Stream stream(3, Purpose::kTest);
  std::vector<std::array<double, 3>> jobs;
  for (int job = 0; job < 40; ++job)
    jobs.push_back({job * 3.0, 5.0 + 60.0 * stream.Uniform(), 1.0 + stream.Below(2)});
  const Scenario busy = OneType(4, jobs);
  const double least = SrptBound(busy, {0, 40});
  for (const char* spec : {"srpt", "fcfs", "las"}) {
    INFO(spec);
    CHECK(MeanOf(busy, spec, &Metrics::mean_jct_s) >= least);
  }
}

TEST_CASE("headroom: the least makespan by hand, and no scheduler is below it") {
  CHECK(LeastMakespan(OneType(2, {{0, 4, 1}, {0, 10, 2}})) == Approx(12.0));  // the work
  CHECK(LeastMakespan(OneType(4, {{0, 4, 1}, {0, 10, 1}})) == Approx(10.0));  // the longest
  // Two jobs, a fast GPU and a slow one: they change places, so that each ends when all is done.
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=1,k80=1");
  settings.clock = {ClockKind::kEvent};
  ScenarioData data =
      MakeWorkload("synthetic(rate=0,jobs=2)", settings)->Make(1, Split::kTrain, 0, 0, 2).data();
  data.jobs.job_type = {0, 0}, data.jobs.total_steps = {6e5, 6e5};
  const Scenario two(data);
  CHECK(LeastMakespan(two) == Approx(12e5 / (two.Rate(0, 0) + two.Rate(0, 1))));
  settings.cluster = ParseCluster("v100=8,p100=8,k80=8");
  settings.clock = {ClockKind::kRounds, 360.0};
  const Scenario drawn =
      MakeWorkload("synthetic(rate=0,jobs=60,gangs=multi)", settings)->Make(1, Split::kTrain, 0, 0, 60);
  const double least = LeastMakespan(drawn);
  for (const char* spec : {"gavel(objective=makespan)", "srpt", "fcfs"}) {
    INFO(spec);
    CHECK(MeanOf(drawn, spec, &Metrics::makespan_s) >= least);
  }
  CHECK(MeanOf(drawn, "gavel(objective=makespan)", &Metrics::makespan_s) < 1.3 * least);
}

TEST_CASE("headroom: a searched order is no worse than the rules' and the same again") {
  std::vector<std::array<double, 3>> jobs = {{0, 500, 1}};
  for (int job = 0; job < 12; ++job) jobs.push_back({0.0, 400.0 - 30.0 * job, 1});
  const Scenario sequence = OneType(1, jobs);
  const std::vector<JobOrder> rules = {StartOrder(sequence, "fcfs")};
  const std::string spec = "priority";
  OrderSearch search{spec, OrderSearch::Cost::kBoundedSlowdown, {0, sequence.num_jobs()}, 0, 7};
  const Scenario by_rule = SearchedOrder(sequence, rules, search);
  search.trials = 400;
  const Scenario searched = SearchedOrder(sequence, rules, search);
  double Metrics::*const slowdown = &Metrics::hpc_bounded_slowdown;
  CHECK(MeanOf(by_rule, spec, slowdown) == Approx(MeanOf(sequence, "fcfs", slowdown)));
  CHECK(MeanOf(searched, spec, slowdown) < 0.7 * MeanOf(by_rule, spec, slowdown));
  CHECK(MeanOf(searched, spec, slowdown) >= MeanOf(sequence, "sjf", slowdown) * 0.99);
  CHECK(SearchedOrder(sequence, rules, search).data().jobs.weight == searched.data().jobs.weight);
  std::vector<double> weights = searched.data().jobs.weight;
  std::sort(weights.begin(), weights.end());
  for (std::size_t k = 0; k < weights.size(); ++k) CHECK(weights[k] == static_cast<double>(k + 1));
}

TEST_CASE("headroom: the mean completion time of a searched order on jobs whose best is known") {
  const Scenario sequence = OneType(2, {{0, 100, 2}, {0, 30, 1}, {0, 20, 1}, {0, 10, 2}});
  const JobOrder smallest = SmallestFirst(sequence);
  CHECK(smallest == JobOrder{2, 3, 1, 0});  // 20, 20, 30 and 200 GPU seconds
  const std::string spec = "priority(preemptive=true,overtake=true)";
  const OrderSearch search{spec, OrderSearch::Cost::kJct, {0, 4}, 100, 3};
  const std::vector<JobOrder> beginnings = {{0, 1, 2, 3}, smallest};
  // The job of two GPUs for 10 s before those of one: 10, 30, 40, 140.
  CHECK(MeanOf(SearchedOrder(sequence, beginnings, search), spec, &Metrics::mean_jct_s) == Approx(55.0));
}

}  // namespace berth
