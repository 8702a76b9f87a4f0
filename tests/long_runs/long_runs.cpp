// Environment steps and jobs without end in one process: is its memory flat?
//
//   berth_long_runs --what hetero_cluster|task_placement|jobs --count N [--seconds S] [--seed N] --out DIR
//
// It ends after N steps or jobs, or S seconds. A line each fiftieth of the way, also in DIR/WHAT.csv; the last
// line is what tools/campaign reads: {"executions": n, "findings": [files]}. A finding is memory that grew.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "baselines/schedulers.hpp"
#include "data/workloads.hpp"
#include "env/gym/task_placement.hpp"
#include "env/sim/metrics.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/work.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

constexpr int kEnvs = 16;  // as `berth train`
constexpr int kJobs = 10000;  // of an episode
// Of what is resident after the first tenth: what allocators and the kernel round up to.
constexpr double kFlat = 1.01, kFlatBytes = 1 << 20;

double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0.0;
  file >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Does some more and says how much it was.
using Work = std::function<std::int64_t()>;

Work Steps(std::unique_ptr<BatchEnv> env, std::uint64_t seed) {
  const std::shared_ptr<BatchEnv> shared = std::move(env);
  return [shared, actor = std::make_shared<bench::RandomActor>(*shared, seed)] { return actor->Step(1024); };
}

Work WorkOf(const std::string& what, std::uint64_t seed) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(kDefaultCluster);
  if (what == "hetero_cluster") return Steps(bench::DefaultEnv(kEnvs, /*threads=*/1), seed);
  if (what == "task_placement") {
    TaskPlacementOptions options;
    options.seed = seed;
    return Steps(MakeTaskPlacement(MakeWorkload(kDefaultWorkload, settings), options, kEnvs, /*threads=*/1),
                 seed);
  }
  if (what != "jobs") throw Error(Join("--what: expected hetero_cluster, task_placement or jobs, found '", what, "'"));
  const std::shared_ptr<const ScenarioSource> source =
      MakeWorkload(Join("synthetic(rate=0.9,jobs=", kJobs, ",gangs=multi)"), settings);
  return [source, seed, episode = std::uint32_t{0}]() mutable -> std::int64_t {
    const Scenario scenario = source->Make(seed, Split::kEvaluate, 0, episode++, kJobs);
    const auto scheduler = MakeScheduler("srpt", AllSchedulers());
    return Run(scenario, *scheduler, "srpt", {}).metrics.jobs;
  };
}

int RunLong(const std::vector<std::string>& arguments) {
  Options options("long_runs", "--what WHAT --out DIR", "steps or jobs without end in one process");
  options.Value("what", "hetero_cluster", "hetero_cluster, task_placement (steps) or jobs");
  options.Value("count", "1000000000", "steps or jobs");
  options.Value("seconds", "1e9", "ends after so long");
  options.Value("seed", "0", "seed");
  options.Value("out", "", "folder");
  if (!options.Parse(arguments)) return 0;
  const std::string what = options.Text("what"), folder = options.Required("out");
  const std::int64_t count = options.Integer("count", 1, std::int64_t{1} << 60);
  const double seconds = options.Number("seconds", 1.0, 1e9), begin = bench::WallSeconds();
  const auto seed = static_cast<std::uint64_t>(options.Integer("seed", 0, std::int64_t{1} << 40));
  const Work work = WorkOf(what, seed);
  std::filesystem::create_directories(folder);
  std::ofstream csv(std::filesystem::path(folder) / (what + ".csv"));
  csv << "done,cpu_s,per_cpu_s,resident_bytes\n";
  std::int64_t done = 0, told = 0;
  double told_cpu = bench::CpuSeconds(), told_at = begin, early = 0.0, resident = 0.0;
  while (done < count && bench::WallSeconds() - begin < seconds) {
    done += work();
    const double part = std::max(static_cast<double>(done) / static_cast<double>(count),
                                 (bench::WallSeconds() - begin) / seconds);
    if (early == 0.0 && part >= 0.1) early = ResidentBytes();
    const bool ends = part >= 1.0;
    const double told_part = std::max(static_cast<double>(done - told) / static_cast<double>(count),
                                      (bench::WallSeconds() - told_at) / seconds);
    if (!ends && told_part < 0.02) continue;
    const double cpu = bench::CpuSeconds();
    resident = ResidentBytes();
    const double rate = static_cast<double>(done - told) / (cpu - told_cpu);
    csv << done << ',' << cpu << ',' << rate << ',' << static_cast<std::int64_t>(resident) << std::endl;
    std::cout << what << ": " << done << " done, " << rate << " per CPU-second, " << resident / 1e6 << " MB"
              << std::endl;
    told = done, told_cpu = cpu, told_at = bench::WallSeconds();
  }
  Json findings = Json::array();
  if (resident > kFlat * early + kFlatBytes) {
    const std::string file = (std::filesystem::path(folder) / Join("findings/", what, '_', seed, ".txt")).string();
    std::filesystem::create_directories(std::filesystem::path(folder) / "findings");
    std::ofstream(file) << what << ": resident memory grew from " << early << " to " << resident << " bytes over "
                        << done << '\n';
    findings.push_back(file);
  }
  std::cout << Json{{"executions", done}, {"findings", findings}, {"resident_bytes", {early, resident}}} << '\n';
  return findings.empty() ? 0 : 1;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  try {
    return berth::RunLong({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "berth_long_runs: " << error.what() << '\n';
    return 2;
  }
}
