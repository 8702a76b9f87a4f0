// Public logs replayed whole: simulation alone, the log has been read. Clusters as in `berth reproduce hpc`.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "data/workloads.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/work.hpp"

namespace berth::bench {
namespace {

ScenarioSettings On(int gpus) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(Join("p100=", gpus));
  return settings;
}

// One GPU type with as many devices as make the log's demand 80% of them, at least its largest gang.
Scenario ReadLog(const char* format, const std::string& path) {
  const Scenario first = FindFormat(format).read(path, On(100000));
  const JobTable& jobs = first.data().jobs;
  double gpu_seconds = 0.0;
  for (std::size_t j = 0; j < jobs.arrival.size(); ++j) gpu_seconds += jobs.total_steps[j] * jobs.gang[j];
  const double demand = gpu_seconds / (jobs.arrival.back() - jobs.arrival.front());
  ScenarioData data = first.data();
  data.cluster = On(std::max(*std::max_element(jobs.gang.begin(), jobs.gang.end()),
                             static_cast<int>(std::ceil(demand / 0.8 / 8.0)) * 8))
                     .cluster;
  return Slice(Scenario(std::move(data)), 0, first.num_jobs());
}

std::string Existing(const std::string& path) {
  if (!std::filesystem::exists(path)) throw CannotRun("needs " + path + " (--traces)");
  return path;
}

Measured Philly(const BenchSetup& setup, const char* scheduler) {
  const Scenario log = ReadLog("philly", Existing(setup.traces + "/philly/philly_sorted.csv.gz"));
  Measured measured;
  for (const SimulationCost& cost : Simulate(log, scheduler, {}, setup.repeats))
    measured.values.push_back(cost.cpu_s);
  measured.detail = {{"jobs", log.num_jobs()}, {"gpus", log.num_gpus()}};
  return measured;
}

// All ten clusters, one after the other.
Measured Itp(const BenchSetup& setup, const char* scheduler) {
  const std::string archive = Existing(setup.traces + "/microsoft-itp-elasticflow/raw-traces.tar.gz");
  Measured measured;
  measured.values.assign(static_cast<std::size_t>(setup.repeats), 0.0);
  int jobs = 0;
  for (int cluster = 1; cluster <= 10; ++cluster) {
    const Scenario log = ReadLog("itp", Join(archive, ":cluster", cluster < 10 ? "0" : "", cluster, ".csv"));
    jobs += log.num_jobs();
    const auto costs = Simulate(log, scheduler, {}, setup.repeats);
    for (std::size_t i = 0; i < costs.size(); ++i) measured.values[i] += costs[i].cpu_s;
  }
  measured.detail = {{"jobs", jobs}, {"clusters", 10}};
  return measured;
}

constexpr BenchRow kReplayRows[] = {
    {"replay/philly_fcfs", "the Philly log, 82,247 jobs, fcfs", "CPU s", Bound::kAtMost, 1, 0,
     [](const BenchSetup& setup) { return Philly(setup, "fcfs"); }},
    {"replay/philly_easy", "the same, easy", "CPU s", Bound::kAtMost, 1, 0,
     [](const BenchSetup& setup) { return Philly(setup, "easy"); }},
    {"replay/itp_fcfs", "the ten ITP logs, 69,351 jobs together, fcfs", "CPU s", Bound::kAtMost, 1, 0,
     [](const BenchSetup& setup) { return Itp(setup, "fcfs"); }},
    {"replay/itp_easy", "the same, easy", "CPU s", Bound::kAtMost, 1, 0,
     [](const BenchSetup& setup) { return Itp(setup, "easy"); }},
};

}  // namespace

std::span<const BenchRow> ReplayRows() {
  return kReplayRows;
}

}  // namespace berth::bench
