#include "tools/bench/golden_suite.hpp"

#include <algorithm>

#include "baselines/schedulers.hpp"
#include "env/base/rng.hpp"
#include "tools/results.hpp"

namespace berth::bench {
namespace {

constexpr std::uint64_t kSeed = 42;
constexpr int kJobs = 12;

const std::vector<std::vector<double>> kRates = {{4.0, 2.0, 1.0}, {2.0, 2.0, 0.5}, {1.0, 2.0, 0.0}};

GpuType TypeOf(const char* name, int count) {
  GpuType type;
  type.name = name;
  type.count = count;
  return type;
}

// Two jobs on one GPU: type 1 beside 1 costs neither anything; of two types the lower keeps its rate and the
// other has half of its own; 0 beside 0 and 2 beside 2 cannot.
std::vector<double> Pairs() {
  std::vector<double> pairs;
  for (std::size_t a = 0; a < kRates.size(); ++a) {
    for (std::size_t b = 0; b < kRates.size(); ++b) {
      for (std::size_t g = 0; g < kRates[a].size(); ++g) {
        const bool together = (a != b || a == 1) && kRates[a][g] > 0.0 && kRates[b][g] > 0.0;
        pairs.push_back(together ? kRates[a][g] / (a > b ? 2.0 : 1.0) : 0.0);
        pairs.push_back(together ? kRates[b][g] / (b > a ? 2.0 : 1.0) : 0.0);
      }
    }
  }
  return pairs;
}

// FNV-1a, 64 bits.
void Mix(std::uint64_t& hash, const void* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3ULL;
  }
}

}  // namespace

Scenario RandomScenario(std::uint64_t seed, int jobs, const Clock& clock) {
  ScenarioData data;
  data.name = "tiny";
  data.cluster.types = {TypeOf("v100", 4), TypeOf("p100", 5), TypeOf("k80", 4)};
  data.throughputs.gang_sizes = {1, 2, 4};
  for (std::size_t t = 0; t < kRates.size(); ++t) {
    data.throughputs.job_types.push_back("job" + std::to_string(t));
    for (int size = 0; size < 3; ++size) {
      data.throughputs.alone.insert(data.throughputs.alone.end(), kRates[t].begin(), kRates[t].end());
    }
  }
  data.throughputs.pairs = Pairs();
  data.clock = clock;
  data.seed = seed;
  Stream stream(seed, Purpose::kTest);
  double now = 0.0;
  for (int i = 0; i < jobs; ++i) {
    now += 5.0 * stream.Below(9);
    data.jobs.id.push_back(i);
    data.jobs.arrival.push_back(now);
    // in the order in which these were first drawn
    data.jobs.total_steps.push_back(20.0 * (1 + stream.Below(60)));
    data.jobs.job_type.push_back(static_cast<int>(stream.Below(3)));
    data.jobs.gang.push_back(1 << stream.Below(3));
  }
  for (int i = 0; i < jobs; ++i) data.jobs.weight.push_back(stream.Below(2) == 0 ? 1.0 : 5.0);
  return Scenario(std::move(data));
}

Scenario TenantScenario(std::uint64_t seed, int jobs, const Clock& clock) {
  ScenarioData data = RandomScenario(seed, jobs, clock).data();
  data.tenants = {{"x", 1.0}, {"y", 2.0}, {"z", 3.0}};
  Stream stream(seed, Purpose::kTest, Split::kEvaluate);
  constexpr double kTimes[] = {kNever, 0.5, 1.5, 4.0};  // the time that a job takes alone, at best
  for (std::size_t job = 0; job < data.jobs.arrival.size(); ++job) {
    const auto& rates = kRates[static_cast<std::size_t>(data.jobs.job_type[job])];
    const double alone = data.jobs.total_steps[job] / *std::max_element(rates.begin(), rates.end());
    data.jobs.tenant.push_back(static_cast<int>(stream.Below(3)));
    data.jobs.deadline.push_back(data.jobs.arrival[job] + kTimes[stream.Below(4)] * alone);
  }
  return Scenario(std::move(data));
}

std::vector<Clock> GoldenClocks() {
  return {{ClockKind::kEvent}, {ClockKind::kRounds, 60.0}};
}

Scenario GoldenScenario(const Clock& clock) {
  return RandomScenario(kSeed, kJobs, clock);
}

Scenario GoldenTenantScenario(const Clock& clock) {
  return TenantScenario(kSeed, kJobs, clock);
}

RunResult GoldenRun(const std::string& scheduler, const Scenario& scenario) {
  const auto decider = MakeScheduler(scheduler, AllSchedulers());
  RunOptions options;
  options.keep_events = true;
  return Run(scenario, *decider, scheduler, options);
}

std::vector<GoldenSignature> GoldenSignatures() {
  std::vector<GoldenSignature> list;
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    for (const Clock& clock : GoldenClocks()) {
      list.push_back({info.name, clock.ToString(), GoldenRun(info.name, GoldenScenario(clock)).signature});
    }
  }
  return list;
}

std::uint64_t SuiteSignature(const std::vector<GoldenSignature>& list) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const GoldenSignature& row : list) {
    Mix(hash, row.scheduler.c_str(), row.scheduler.size() + 1);
    Mix(hash, row.clock.c_str(), row.clock.size() + 1);
    for (int byte = 0; byte < 8; ++byte) {  // little-endian everywhere
      const auto value = static_cast<unsigned char>(row.signature >> (8 * byte));
      Mix(hash, &value, 1);
    }
  }
  return hash;
}

}  // namespace berth::bench
