#include "tools/scenario_defaults.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

#include "env/base/index.hpp"
#include "env/gym/signals/load_prices.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr int kDraws = 16, kDrawnJobs = 256;
constexpr double kRunsInTau = 2.0, kRoundsInTau = 10.0, kBatchesInTau = 3.0, kFills = 2.5;
constexpr int kFewestWarmupJobs = 100, kEpisodeOverWarmup = 3, kPieces = 8;

struct Sums {
  double logs = 0.0, run_s = 0.0, gpu_s = 0.0;
  int jobs = 0;
  std::vector<double> gpus;     // [G] of slices 0
  std::vector<TypePart> parts;  // [G]
  // GPU s a second, by TypedWork::speed: jobs that are as fast everywhere are one to the prices.
  std::map<std::vector<double>, double> arriving;
};

void Add(const Scenario& scenario, int begin, int end, int draws, Sums& sums) {
  const JobTable& jobs = scenario.data().jobs;
  const std::vector<GpuType>& types = scenario.data().cluster.types;
  const double span = end - begin > 1 ? jobs.arrival[U(end - 1)] - jobs.arrival[U(begin)] : 0.0;
  std::vector<double> speed(types.size());
  for (int job = begin; job < end; ++job) {
    const double best = scenario.BestRate(job), run_s = jobs.total_steps[U(job)] / best;
    const double gpu_s = scenario.WorkingGpus(job) * run_s;
    sums.logs += std::log(run_s);
    sums.run_s += run_s;
    sums.gpu_s += gpu_s;
    ++sums.jobs;
    if (!(span > 0.0)) continue;
    for (std::size_t g = 0; g < types.size(); ++g) speed[g] = scenario.Rate(job, static_cast<int>(g)) / best;
    sums.arriving[speed] += gpu_s / span / draws;
  }
  const std::size_t most = std::max(types.size(), sums.gpus.size());  // a mix may have several clusters
  sums.gpus.resize(most), sums.parts.resize(most);
  for (std::size_t g = 0; g < types.size(); ++g) {
    sums.parts[g] = types[g].part;
    if (types[g].part.whole < 0) sums.gpus[g] += static_cast<double>(types[g].count) / draws;
  }
}

// The nearest, by ratio, of what one would say: 2 min, 90 s, 10 h.
double Said(double seconds) {
  constexpr double kSteps[] = {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0};
  const double unit = seconds < 120.0 ? 1.0 : seconds < 7200.0 ? 60.0 : seconds < 172800.0 ? 3600.0 : 86400.0;
  const double decade = std::pow(10.0, std::floor(std::log10(seconds / unit)));
  const auto off = [&](double step) { return std::abs(std::log(step * decade * unit / seconds)); };
  return decade * unit * *std::min_element(std::begin(kSteps), std::end(kSteps), [&](double a, double b) {
           return off(a) < off(b);
         });
}

}  // namespace

WorkloadNumbers NumbersOf(const ScenarioSource& source, Window jobs) {
  Sums sums;
  WorkloadNumbers numbers;
  Clock clock;
  for (int draw = 0; draw < (source.fixed() ? 1 : kDraws); ++draw) {
    const Scenario scenario = source.Make(/*seed=*/0, Split::kTrain, static_cast<std::uint32_t>(draw),
                                          /*episode=*/0, source.fixed() ? 0 : kDrawnJobs);
    const int all = scenario.num_jobs(), end = jobs.end < 0 ? all : std::min(jobs.end, all);
    Add(scenario, std::min(jobs.begin, end), end, source.fixed() ? 1 : kDraws, sums);
    if (source.fixed()) numbers.jobs = end - std::min(jobs.begin, end);
    clock = scenario.data().clock;
  }
  if (sums.jobs == 0) return numbers;
  numbers.typical_run_s = std::exp(sums.logs / sums.jobs);
  const double gpus = std::accumulate(sums.gpus.begin(), sums.gpus.end(), 0.0);
  numbers.held_jobs = gpus / (sums.gpu_s / sums.run_s);
  std::vector<TypedWork> arriving;
  for (const auto& [speed, work] : sums.arriving) {
    arriving.push_back({work, speed});
    arriving.back().speed.resize(sums.gpus.size());
  }
  numbers.load = FindLoadPrices(arriving, sums.gpus, sums.parts).load;
  if (numbers.load == 0.0) {
    constexpr int kItsOwn = 0;
    if (!source.fixed())
      numbers.batch_jobs = source.Make(/*seed=*/0, Split::kTrain, 0, 0, kItsOwn).num_jobs();
    numbers.batch_s = std::max(numbers.batch_jobs, numbers.jobs) * sums.gpu_s / sums.jobs / gpus;
  }
  if (clock.kind == ClockKind::kRounds) numbers.round_s = clock.round_s;
  return numbers;
}

double DefaultTau(const WorkloadNumbers& numbers) {
  return Said(std::max({kRunsInTau * numbers.typical_run_s, kRoundsInTau * numbers.round_s,
                        kBatchesInTau * numbers.batch_s, 1.0}));
}

int DefaultWarmupJobs(const WorkloadNumbers& numbers) {
  if (numbers.batch_jobs > 0) return 0;
  const int wanted = static_cast<int>(std::min(std::ceil(kFills * numbers.held_jobs), 1e6));
  const int most = numbers.jobs > 0 ? std::max(kFewestWarmupJobs, numbers.jobs / kPieces) : wanted;
  return std::max(kFewestWarmupJobs, std::min(wanted, most));
}

int DefaultEpisodeJobs(const WorkloadNumbers& numbers) {
  if (numbers.batch_jobs > 0) return numbers.batch_jobs;
  return kEpisodeOverWarmup * DefaultWarmupJobs(numbers);
}

std::string ResolveDefaults(Options& options, const WorkloadNumbers& numbers,
                            const std::vector<std::string>& names) {
  std::string said;
  const auto say = [&](const std::string& text) { said += (said.empty() ? "" : ", ") + text; };
  for (const std::string& name : names) {
    if (options.Text(name) != kAutoValue) continue;
    if (name == "tau") {
      const double tau = DefaultTau(numbers);
      options.Assign(name, Join(tau));
      say(Join("tau ", tau, " s (", Fixed(tau / numbers.typical_run_s, 1), " typical run times)"));
    } else if (name == "episode-jobs") {
      options.Assign(name, std::to_string(DefaultEpisodeJobs(numbers)));
      say(Join("episodes of ", DefaultEpisodeJobs(numbers), " jobs (the GPUs hold ",
               Fixed(numbers.held_jobs, 0), ")"));
    } else {
      BERTH_CHECK(name == "warmup-jobs", name);
      options.Assign(name, std::to_string(DefaultWarmupJobs(numbers)));
      say(Join("up to ", DefaultWarmupJobs(numbers), " jobs of warm-up"));
    }
  }
  return said;
}

}  // namespace berth
