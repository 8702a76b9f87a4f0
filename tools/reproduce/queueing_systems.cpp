#include "tools/reproduce/queueing_systems.hpp"

#include <atomic>
#include <cmath>
#include <exception>
#include <thread>

#include "baselines/schedulers.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/sim/statistics.hpp"
#include "tools/reproduce/finished_run.hpp"
#include "tools/reproduce/queueing_theory.hpp"

namespace berth {
namespace {

// One replication's means, [quantities].
std::vector<double> Replicate(const QueueingSystem& system, const QueueingPlan& plan,
                              const ScenarioSource& source, std::uint64_t seed) {
  const int last = plan.warmup + plan.jobs;
  const Scenario scenario = source.Make(seed, Split::kEvaluate, system.stream, 0, last + plan.tail);
  const SchedulerTable tables[] = {BaselineSchedulers()};
  const auto scheduler = MakeScheduler(system.scheduler, tables);
  const Simulator simulator = FinishedRun(scenario, *scheduler, {0, last});
  if (!simulator.arrivals_remain()) {
    throw Error(Join(system.name, ": expected arrivals until the last measured job leaves, but a tail of ",
                     plan.tail, " jobs ran out"));
  }
  const JobTable& jobs = scenario.data().jobs;
  std::vector<double> means;
  for (const Quantity& quantity : system.quantities) {
    double sum = 0.0;
    int count = 0;
    for (int job = plan.warmup; job < last; ++job) {
      const auto j = static_cast<std::size_t>(job);
      if (quantity.weight > 0.0 && jobs.weight[j] != quantity.weight) continue;
      const bool lost = simulator.state().phase[j] == JobPhase::kRejected;
      if (quantity.kind == Quantity::Kind::kLost) {
        sum += lost ? 1.0 : 0.0;
      } else if (lost) {
        continue;
      } else {
        sum += simulator.state().completion[j] - jobs.arrival[j] - jobs.total_steps[j];
      }
      ++count;
    }
    BERTH_CHECK(count > 0, system.name, ": no job for ", quantity.name);
    means.push_back(sum / count);
  }
  return means;
}

}  // namespace

double QueueingEstimate::HalfWidth(double confidence) const {
  return StudentT(confidence, replications - 1) * error;
}

std::vector<QueueingEstimate> Measure(const QueueingSystem& system, const QueueingPlan& plan) {
  BERTH_CHECK(plan.replications >= 2, plan.replications, " replications");
  ScenarioSettings settings;
  settings.cluster = ParseCluster(system.cluster);
  const auto source = MakeWorkload(system.workload, settings);
  const auto count = static_cast<std::size_t>(plan.replications);
  std::vector<std::vector<double>> means(count);
  std::vector<std::exception_ptr> errors(count);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t r = next++; r < count; r = next++) {
      try {
        means[r] = Replicate(system, plan, *source, r + 1);
      } catch (...) {
        errors[r] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> workers;
    for (int thread = 1; thread < plan.threads; ++thread) workers.emplace_back(work);
    work();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  std::vector<QueueingEstimate> estimates;
  for (std::size_t q = 0; q < system.quantities.size(); ++q) {
    QueueingEstimate estimate;
    estimate.replications = plan.replications;
    const double n = plan.replications;
    for (const auto& row : means) estimate.mean += row[q] / n;
    double squares = 0.0;
    for (const auto& row : means) squares += (row[q] - estimate.mean) * (row[q] - estimate.mean);
    estimate.error = std::sqrt(squares / (n - 1.0) / n);
    estimates.push_back(estimate);
  }
  return estimates;
}

const std::vector<QueueingSystem>& QueueingSystems() {
  using Kind = Quantity::Kind;
  static const std::vector<QueueingSystem> kSystems = [] {
    std::vector<QueueingSystem> all;
    const SizeDistribution exponential = SizeDistribution::Parse("exponential", 1.0);
    const std::string pareto_spec = "bounded_pareto(alpha=1.5,range=100)";
    const SizeDistribution pareto = SizeDistribution::Parse(pareto_spec, 1.0);
    const SizeDistribution lognormal = SizeDistribution::Parse("lognormal(scv=2)", 1.0);
    // A rate is arrivals a second at mean size 1 s: the load of one server. Specs count by the hour.
    const auto workload = [](double rate, const std::string& sizes, const std::string& classes = "1:1") {
      return Join("queueing(rate=", 3600.0 * rate, ",mean=1,sizes=", sizes, ",classes=", classes, ")");
    };
    const std::string heavy_spec = "bounded_pareto(alpha=1.5,range=1000)";
    const SizeDistribution heavy = SizeDistribution::Parse(heavy_spec, 1.0);
    const auto add = [&](std::string name, std::string source, std::string spec, std::string cluster,
                         std::string scheduler, std::vector<Quantity> quantities) {
      all.push_back({std::move(name), std::move(source), std::move(spec), std::move(cluster),
                     std::move(scheduler), std::move(quantities)});
      all.back().stream = static_cast<std::uint32_t>(all.size());
    };
    const auto delay = [](double theory) {
      return std::vector<Quantity>{{"delay", Kind::kDelay, 0.0, theory}};
    };

    add("M/M/1 fcfs", "Erlang 1909", workload(0.8, "exponential"), "v100=1", "fcfs",
        delay(WaitMMc(1, 0.8, 1.0)));
    add("M/M/4 fcfs", "Erlang C", workload(3.2, "exponential"), "v100=4", "fcfs",
        delay(WaitMMc(4, 3.2, 1.0)));
    add("M/M/8 on two types, fcfs", "Erlang C", workload(6.4, "exponential"), "v100=4,k80=4", "fcfs",
        delay(WaitMMc(8, 6.4, 1.0)));
    add("M/D/1 fcfs", "Pollaczek-Khinchine", workload(0.8, "deterministic"), "v100=1", "fcfs",
        delay(WaitMG1(0.8, SizeDistribution::Parse("deterministic", 1.0))));
    add("M/G/1 fcfs, bounded Pareto", "Pollaczek-Khinchine", workload(0.6, pareto_spec), "v100=1", "fcfs",
        delay(WaitMG1(0.6, pareto)));
    add("M/G/1 random order, lognormal", "Pollaczek-Khinchine", workload(0.7, "lognormal(scv=2)"), "v100=1",
        "random", delay(WaitMG1(0.7, lognormal)));
    add("M/M/1 sjf", "Phipps 1956", workload(0.8, "exponential"), "v100=1", "sjf",
        delay(WaitSjf(0.8, exponential)));
    add("M/G/1 sjf, bounded Pareto", "Phipps 1956", workload(0.6, pareto_spec), "v100=1", "sjf",
        delay(WaitSjf(0.6, pareto)));
    add("M/M/1 srpt", "Schrage-Miller 1966", workload(0.8, "exponential"), "v100=1", "srpt",
        delay(DelaySrpt(0.8, exponential)));
    add("M/G/1 srpt, bounded Pareto", "Schrage-Miller 1966", workload(0.8, pareto_spec), "v100=1", "srpt",
        delay(DelaySrpt(0.8, pareto)));
    // Blind to sizes and never idle: exponential sizes forget, so the mean is that of first come, first
    // served.
    add("M/M/1 las", "memorylessness", workload(0.7, "exponential"), "v100=1", "las(quantum=0.5,slice=0.5)",
        delay(WaitMMc(1, 0.7, 1.0)));

    // Three classes, the urgent ones rarer and shorter; a class's sizes are TIMES an exponential of mean 1.
    const std::string classes = "9:0.3:0.5;3:0.3:1;1:0.4:1.5";
    const double total = 0.7;
    const auto one = [&](double share, double mean) {
      return PriorityClass{total * share, mean, 2.0 * mean * mean};
    };
    const std::vector<PriorityClass> three = {one(0.3, 0.5), one(0.3, 1.0), one(0.4, 1.5)};
    const auto by_class = [](const std::vector<double>& theory) {
      return std::vector<Quantity>{{"delay, urgent", Kind::kDelay, 9.0, theory[0]},
                                   {"delay, middle", Kind::kDelay, 3.0, theory[1]},
                                   {"delay, lowest", Kind::kDelay, 1.0, theory[2]}};
    };
    add("M/G/1 priorities", "Cobham 1954", workload(total, "exponential", classes), "v100=1", "priority",
        by_class(WaitPriority(three)));
    add("M/G/1 preemptive priorities", "White & Christie 1958", workload(total, "exponential", classes),
        "v100=1", "priority(preemptive=true)", by_class(DelayPreemptivePriority(three)));
    add("M/M/3 priorities", "Cobham 1954", workload(2.4, "exponential", "9:0.3;3:0.3;1:0.4"), "v100=3",
        "priority", by_class(WaitPriorityMMc(3, std::vector<double>{0.72, 0.72, 0.96}, 1.0)));

    const LossSystem waiting_room = MMcK(2, 5, 1.8, 1.0);
    add("M/M/2/5 fcfs", "Kleinrock 1975", workload(1.8, "exponential"), "v100=2", "fcfs(queue_limit=3)",
        {{"lost", Kind::kLost, 0.0, waiting_room.lost},
         {"delay", Kind::kDelay, 0.0, waiting_room.mean_wait}});
    // No waiting room: lost by Erlang B whatever the sizes' distribution.
    add("M/G/4/4 fcfs, hyperexponential", "Erlang B", workload(3.0, "hyperexponential(scv=4)"), "v100=4",
        "fcfs(queue_limit=0)", {{"lost", Kind::kLost, 0.0, ErlangB(4, 3.0)}});
    const std::string bursts = "mmpp(burst=8,share=0.2,burst_s=25)";
    add("MMPP/M/1 fcfs", "Neuts 1981", Join("queueing(rate=2160,mean=1,arrivals=", bursts, ")"), "v100=1",
        "fcfs", delay(DelayMmppM1(ArrivalModel::Parse(bursts, 2160.0), 1.0)));

    add("M/G/1 fcfs, heavier tail", "Pollaczek-Khinchine", workload(0.5, heavy_spec), "v100=1", "fcfs",
        delay(WaitMG1(0.5, heavy)));
    add("M/G/1 srpt, heavier tail", "Schrage-Miller 1966", workload(0.8, heavy_spec), "v100=1", "srpt",
        delay(DelaySrpt(0.8, heavy)));
    for (std::size_t i = all.size() - 2; i < all.size(); ++i) all[i].slow = true;
    add("M/G/1 ageing priorities", "Kleinrock 1964", workload(total, "exponential", classes), "v100=1",
        "ageing", by_class(WaitAgeing(three, std::vector<double>{9.0, 3.0, 1.0})));
    return all;
  }();
  return kSystems;
}

}  // namespace berth
