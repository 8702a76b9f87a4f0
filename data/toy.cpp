// A small workload with a known shape, for tests and first steps: two kinds of jobs, each at home on another
// type.
#include "data/workload_list.hpp"
#include "data/workloads.hpp"

namespace berth {
namespace {

constexpr ParamInfo kToyParams[] = {
    {"rate", "60", "mean arrivals per hour, Poisson; 0 = all jobs arrive at time 0"},
    {"jobs", "20", "number of jobs"},
    {"size", "60", "mean run time on the better type, s, exponential"},
};

class Toy : public ScenarioSource {
 public:
  Toy(double rate, int jobs, double size, const ScenarioSettings& settings, std::string description)
      : rate_(rate), jobs_(jobs), size_(size), description_(std::move(description)) {
    base_ = BaseScenario(settings, "toy", description_);
    base_.throughputs.job_types = {"even", "odd"};
    base_.throughputs.gang_sizes = {1};
    for (int job_type = 0; job_type < 2; ++job_type) {
      for (std::size_t g = 0; g < settings.cluster.types.size(); ++g) {
        base_.throughputs.alone.push_back(static_cast<int>(g % 2) == job_type ? 2.0 : 1.0);  // steps/s
      }
    }
  }
  Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                int jobs) const override {
    ScenarioData data = base_;
    data.seed = seed;
    Stream job_stream(seed, Purpose::kJobs, split, env, episode);
    Stream arrivals(seed, Purpose::kArrivals, split, env, episode);
    double now = 0.0;
    for (int i = 0; i < (jobs > 0 ? jobs : jobs_); ++i) {
      if (i > 0 && rate_ > 0.0) now += arrivals.Exponential(3600.0 / rate_);
      data.jobs.id.push_back(i);
      data.jobs.arrival.push_back(now);
      data.jobs.job_type.push_back(static_cast<int>(job_stream.Below(2)));
      data.jobs.gang.push_back(1);
      data.jobs.total_steps.push_back(1.0 + 2.0 * job_stream.Exponential(size_));
    }
    return Scenario(std::move(data));
  }
  bool fixed() const override { return false; }
  std::string Describe() const override { return description_; }

 private:
  double rate_;
  int jobs_;
  double size_;
  std::string description_;
  ScenarioData base_;
};

std::shared_ptr<const ScenarioSource> MakeToy(Params& params, const ScenarioSettings& settings) {
  const double rate = params.Number("rate", 0.0, 1e9);
  const int jobs = static_cast<int>(params.Integer("jobs", 1, 100000000));
  const double size = params.Number("size", 1e-3, 1e9);
  return std::make_shared<Toy>(rate, jobs, size, settings, params.Resolved());
}

}  // namespace

WorkloadInfo ToyInfo() {
  return {"toy", "two kinds of single-GPU jobs, each twice as fast on every other GPU type", "Berth",
          kToyParams, MakeToy};
}

}  // namespace berth
