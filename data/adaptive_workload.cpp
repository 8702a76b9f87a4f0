// Jobs of applications that choose their batch size, in the shares that published workloads have them.
#include <algorithm>
#include <array>
#include <vector>

#include "data/adaptive_jobs.hpp"
#include "data/arrivals.hpp"
#include "data/workload_list.hpp"
#include "data/workloads.hpp"

namespace berth {
namespace {

constexpr ParamInfo kAdaptiveWorkloadParams[] = {
    {"mix", "pollux",
     "pollux | newtrace | helios: the applications of a published workload and what they ask for: up to 48 "
     "GPUs of one type (pollux), or 16"},
    {"rate", "20", "mean arrivals per hour; pollux and newtrace at their own load: 20"},
    {"jobs", "160", "number of jobs"},
    kArrivalsParam,
};

// What a user asks for.
struct Request {
  int gpus, batch;
};
struct ApplicationClass {
  const char* application;
  std::array<double, 3> share;    // by mix
  std::vector<Request> requests;  // equally likely
};

// Shares and requests counted in the workloads of petuum/adaptdl (osdi21-artifact, simulator/workloads: 1,280
// jobs at load 1) and of siasosp23/artifacts (newTrace: 9,600 jobs, Helios: 1,600); requests to the nearest
// equal shares. Those of imagenet differ: Sia's clusters have no 48 GPUs of one type. Three in ten jobs of
// cifar10 in Sia's workloads have one of three further requests, which are left out.
const std::vector<ApplicationClass>& Classes() {
  static const std::vector<ApplicationClass> kClasses = {
      {"cifar10", {0.387, 0.526, 0.821}, {{6, 2048}, {8, 2048}, {12, 4096}, {16, 4096}}},
      {"ncf", {0.393, 0.0, 0.0}, {{1, 32768}}},
      {"deepspeech2", {0.087, 0.220, 0.062}, {{6, 320}, {8, 320}, {12, 640}}},
      {"bert", {0.067, 0.210, 0.044}, {{6, 384}, {8, 384}, {12, 384}, {16, 384}}},
      {"yolov3", {0.046, 0.036, 0.044}, {{4, 64}}},
      {"imagenet", {0.020, 0.0, 0.0}, {{24, 3200}, {32, 6400}, {48, 6400}}},
      {"imagenet", {0.0, 0.008, 0.029}, {{10, 1600}, {12, 3200}, {14, 3200}}},
  };
  return kClasses;
}

class Adaptive : public ScenarioSource {
 public:
  Adaptive(std::size_t mix, int jobs, ArrivalModel arrivals, const ScenarioSettings& settings,
           std::string description)
      : mix_(mix), jobs_(jobs), arrivals_(std::move(arrivals)), description_(std::move(description)) {
    base_ = BaseScenario(settings, "adaptive", description_);
    base_.features = KnowingJobs(base_.features);
    ThroughputTable& table = base_.throughputs;
    for (const ApplicationClass& of : Classes()) {
      if (of.share[mix_] == 0.0) continue;
      table.job_types.emplace_back(of.application);
      for (const Request& request : of.requests) table.gang_sizes.push_back(request.gpus);
    }
    std::sort(table.gang_sizes.begin(), table.gang_sizes.end());
    table.gang_sizes.erase(std::unique(table.gang_sizes.begin(), table.gang_sizes.end()),
                           table.gang_sizes.end());
    // The feature says what they are.
    table.alone.assign(table.job_types.size() * table.gang_sizes.size() * base_.cluster.types.size(), 1.0);
  }
  Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                int jobs) const override {
    ScenarioData data = base_;
    data.seed = seed;
    Stream draw(seed, Purpose::kJobs, split, env, episode);
    ArrivalProcess arrivals(arrivals_, Stream(seed, Purpose::kArrivals, split, env, episode));
    double all = 0.0;
    for (const ApplicationClass& of : Classes()) all += of.share[mix_];
    for (int i = 0; i < (jobs > 0 ? jobs : jobs_); ++i) {
      double at = draw.Uniform() * all;
      int job_type = -1;
      const ApplicationClass* chosen = nullptr;
      for (const ApplicationClass& of : Classes()) {
        if (of.share[mix_] == 0.0) continue;
        if (chosen != nullptr && at < 0.0) break;
        chosen = &of, ++job_type, at -= of.share[mix_];
      }
      const Request& request = chosen->requests[draw.Below(chosen->requests.size())];
      data.jobs.id.push_back(i);
      data.jobs.arrival.push_back(arrivals.Next());
      data.jobs.job_type.push_back(job_type);
      data.jobs.gang.push_back(request.gpus);
      data.jobs.batch_size.push_back(request.batch);
      data.jobs.total_steps.push_back(1.0);
    }
    return Scenario(std::move(data));
  }
  bool fixed() const override { return false; }
  std::string Describe() const override { return description_; }

 private:
  std::size_t mix_;
  int jobs_;
  ArrivalModel arrivals_;
  std::string description_;
  ScenarioData base_;
};

std::shared_ptr<const ScenarioSource> MakeAdaptiveWorkload(Params& params, const ScenarioSettings& settings) {
  const auto mix = static_cast<std::size_t>(params.Choice("mix", {"pollux", "newtrace", "helios"}));
  const double rate = params.Number("rate", 0.0, 1e9);
  const int jobs = static_cast<int>(params.Integer("jobs", 1, 100000000));
  ArrivalModel arrivals = ArrivalModel::Parse(params.Text("arrivals"), rate);
  return std::make_shared<Adaptive>(mix, jobs, std::move(arrivals), settings, params.Resolved());
}

}  // namespace

WorkloadInfo AdaptiveWorkloadInfo() {
  return {"adaptive",
          "jobs that choose their batch size and run on any number of GPUs; the feature goodput is on",
          "Qiao et al., Pollux, OSDI 2021; Jayaram Subramanya et al., Sia, SOSP 2023",
          kAdaptiveWorkloadParams, MakeAdaptiveWorkload};
}

}  // namespace berth
