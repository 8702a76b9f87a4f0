// Gavel's job generator (Narayanan et al., OSDI 2020; generate_job in its utils.py): the same
// distributions in the same order of draws, from our own counter-based streams.
#include <algorithm>
#include <array>
#include <cmath>

#include "data/arrivals.hpp"
#include "data/job_needs.hpp"
#include "data/throughputs.hpp"
#include "data/workload_list.hpp"
#include "data/workloads.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr ParamInfo kOwnParams[] = {
    {"rate", "1.8", "mean arrivals per hour; 0 = all jobs arrive at time 0"},
    {"jobs", "1000", "number of jobs"},
    {"gangs", "single",
     "single | multi: 1, 2, 4, 8 GPUs with probability 0.7, 0.1, 0.15, 0.05 | GPUs:probability/...: "
     "1:0.8/2:0.2"},
    {"table", "gavel",
     "of throughputs: gavel (k80, p100, v100) | modern (t4 to b200): berth list throughputs"},
    {"priorities", "false", "a fifth of the jobs get weight 5"},
    {"slo", "false",
     "deadline at 1.2, 2 or 10 times the run time alone on V100s (modern: A100s), a third each"},
    kArrivalsParam,
};
constexpr auto kSyntheticParams = [] {
  std::array<ParamInfo, std::size(kOwnParams) + std::size(kJobNeedsParams)> all{};
  std::copy(std::begin(kJobNeedsParams), std::end(kJobNeedsParams),
            std::copy(std::begin(kOwnParams), std::end(kOwnParams), all.begin()));
  return all;
}();

// The reference draws SLOs from a stream of their own: here the far half of the jobs' stream, so that
// slo=true changes no job.
constexpr std::uint64_t kSloDraws = std::uint64_t{1} << 33;

struct GangShare {
  int gpus;
  double up_to;  // cumulated probability; of the last one 1
};

// The paper's two mixes, or "GPUs:probability/...", in which the probabilities add up to 1.
std::vector<GangShare> ParseGangs(const std::string& text) {
  if (text == "single") return {{1, 1.0}};
  if (text == "multi") return {{1, 0.7}, {2, 0.8}, {4, 0.95}, {8, 1.0}};
  std::vector<GangShare> gangs;
  double sum = 0.0;
  const auto expected = [&](const std::string& found) {
    return Error(Join(
        "synthetic: gangs: expected single, multi or such as 1:0.8/2:0.2 of 1, 2, 4, 8 GPUs, found ", found));
  };
  for (const std::string& part : SplitOutsideParentheses(text, '/')) {
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos) throw expected(Join("'", text, "'"));
    const double gpus = ParseNumber(part.substr(0, colon), "synthetic: gangs");
    const double share = ParseNumber(part.substr(colon + 1), "synthetic: gangs");
    if (gpus != 1.0 && gpus != 2.0 && gpus != 4.0 && gpus != 8.0) throw expected(Join("'", part, "'"));
    if (!(share > 0.0 && share <= 1.0)) throw expected(Join("'", part, "', a probability beyond (0, 1]"));
    sum += share;
    gangs.push_back({static_cast<int>(gpus), sum});
  }
  if (std::abs(sum - 1.0) > 1e-9) throw expected(Join("'", text, "', probabilities of sum ", sum));
  gangs.back().up_to = 1.0;
  return gangs;
}

struct Options {
  const ShippedThroughputs* table = nullptr;
  ArrivalModel arrivals;
  int jobs = 0;
  std::vector<GangShare> gangs;
  bool priorities = false, slo = false;
  JobNeeds needs;
};

// Job types that cannot run on several GPUs in the reference: drawn again for a gang.
bool Distributed(const std::string& job_type) {
  return job_type != "A3C" && job_type != "CycleGAN" && !job_type.starts_with("Recommendation");
}

class Synthetic : public ScenarioSource {
 public:
  Synthetic(const Options& options, const ScenarioSettings& settings, std::string description)
      : options_(options), description_(std::move(description)) {
    base_ = BaseScenario(settings, "synthetic", description_);
    base_.throughputs = options.table->Table(settings.cluster);
    ClusterSpec reference;
    reference.types.resize(1);
    reference.types[0].name = options.table->reference;
    reference_ = options.table->Table(reference);
  }

  Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                int jobs) const override {
    ScenarioData data = base_;
    data.seed = seed;
    Stream job_stream(seed, Purpose::kJobs, split, env, episode);
    ArrivalProcess arrivals(options_.arrivals, Stream(seed, Purpose::kArrivals, split, env, episode));
    Stream slo_stream(seed, Purpose::kJobs, split, env, episode);
    slo_stream.Seek(kSloDraws);
    const int count = jobs > 0 ? jobs : options_.jobs;
    for (int i = 0; i < count; ++i) AddJob(job_stream, slo_stream, arrivals.Next(), data.jobs);
    options_.needs.AddTo(data, seed, split, env, episode);
    return Scenario(std::move(data));
  }
  bool fixed() const override { return false; }
  std::string Describe() const override { return description_; }

 private:
  void AddJob(Stream& stream, Stream& slo_stream, double arrival, JobTable& jobs) const {
    const std::vector<std::string>& job_types = base_.throughputs.job_types;
    const double u = stream.Uniform();  // drawn whether or not it is used
    const int gang = Gang(u);
    const bool is_long = stream.Uniform() >= 0.8;
    const double duration = 60.0 * Pow(10.0, is_long ? stream.Uniform(3.0, 4.0) : stream.Uniform(1.5, 3.0));
    int job_type = 0;
    do {
      job_type = static_cast<int>(stream.Below(static_cast<std::uint32_t>(job_types.size())));
    } while (gang > 1 && !Distributed(job_types[static_cast<std::size_t>(job_type)]));
    const double rate = AloneRate(reference_, job_type, gang, 0, 1);
    jobs.id.push_back(jobs.size());
    jobs.arrival.push_back(arrival);
    jobs.job_type.push_back(job_type);
    jobs.gang.push_back(gang);
    jobs.total_steps.push_back(std::max(1.0, std::floor(duration * rate)));
    if (options_.priorities) jobs.weight.push_back(stream.Uniform() < 0.2 ? 5.0 : 1.0);
    if (options_.slo) {
      const double v = slo_stream.Uniform();
      jobs.deadline.push_back(arrival + duration * (v < 0.33 ? 1.2 : v < 0.67 ? 2.0 : 10.0));
    }
  }

  // The reference compares the first bound with <, the others with <=.
  int Gang(double u) const {
    const std::vector<GangShare>& gangs = options_.gangs;
    std::size_t i = 0;
    while (i + 1 < gangs.size() && !(i == 0 ? u < gangs[i].up_to : u <= gangs[i].up_to)) ++i;
    return gangs[i].gpus;
  }

  Options options_;
  std::string description_;
  ScenarioData base_;          // all but the jobs
  ThroughputTable reference_;  // of the GPU type on which durations are run times
};

// Every job that may be drawn must run somewhere on the cluster, or some seed would fail.
void CheckDrawable(const Options& options, const ClusterSpec& cluster) {
  const ThroughputTable table = options.table->Table(cluster);
  const int types = static_cast<int>(cluster.types.size());
  for (const auto& [gang, up_to] : options.gangs) {
    for (int job_type = 0; job_type < static_cast<int>(table.job_types.size()); ++job_type) {
      const std::string& name = table.job_types[static_cast<std::size_t>(job_type)];
      if (gang > 1 && !Distributed(name)) continue;
      bool runs = false;
      for (int g = 0; g < types; ++g) {
        const bool fits = cluster.types[static_cast<std::size_t>(g)].count >= gang;
        runs = runs || (fits && AloneRate(table, job_type, gang, g, types) > 0.0);
      }
      if (runs) continue;
      throw Error(Join("synthetic: gangs draws '", name, "' in gangs of ", gang,
                       ", which no GPU type of --cluster can run"));
    }
  }
}

// Where the table lacks a type, the others that have all are named.
const ShippedThroughputs& TableFor(const std::string& name, const ClusterSpec& cluster) try {
  const ShippedThroughputs& table = FindThroughputs(name);
  if (const GpuType* type = table.Lacking(cluster)) {
    std::string others;
    for (const ShippedThroughputs& other : ThroughputTables()) {
      if (other.Lacking(cluster) == nullptr)
        others += Join("; table=", other.name, " has all of this cluster");
    }
    throw Error(Join(
        "expected GPU types that '", name, "' has, ", Listed(table.gpu_types), ", found '", type->name,
        "' in the cluster", others, "; or another cluster, as --cluster ", table.reference, "=8",
        others.empty() ? "; for other types make a scenario of your own: berth convert --format table" : ""));
  }
  return table;
} catch (const Error& error) {
  throw Error(Join("synthetic: table: ", error.what()));
}

std::shared_ptr<const ScenarioSource> MakeSynthetic(Params& params, const ScenarioSettings& settings) {
  Options options;
  const double rate = params.Number("rate", 0.0, 1e9);
  options.table = &TableFor(params.Text("table"), settings.cluster);
  options.arrivals = ArrivalModel::Parse(params.Text(kArrivalsParam.name), rate);
  options.jobs = static_cast<int>(params.Integer("jobs", 1, 100000000));
  options.gangs = ParseGangs(params.Text("gangs"));
  options.priorities = params.Bool("priorities");
  options.slo = params.Bool("slo");
  options.needs = JobNeeds::Parse(params);
  CheckDrawable(options, settings.cluster);
  return std::make_shared<Synthetic>(
      options, settings,
      WithoutOff(WithParam(params.Resolved(), kArrivalsParam.name, options.arrivals.spec)));
}

}  // namespace

WorkloadInfo SyntheticInfo() {
  return {"synthetic", "deep-learning jobs with measured throughputs, Poisson arrivals unless told otherwise",
          "Narayanan et al., OSDI 2020, generator of the artefact", kSyntheticParams, MakeSynthetic};
}

}  // namespace berth
