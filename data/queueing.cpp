// Workloads of queueing theory: single-GPU jobs at one step a second on every type, so that a size is seconds
// and a cluster of c GPUs is c equal servers.
#include <vector>

#include "data/arrivals.hpp"
#include "data/sizes.hpp"
#include "data/workload_list.hpp"
#include "data/workloads.hpp"

namespace berth {
namespace {

constexpr ParamInfo kQueueingParams[] = {
    {"rate", "0.8", "mean arrivals per hour; 0 = all jobs arrive at time 0"},
    {"jobs", "1000", "number of jobs"},
    kArrivalsParam,
    {"mean", "3600", "mean size, s on one GPU"},
    kSizesParam,
    {"classes", "1:1",
     "WEIGHT:SHARE[:TIMES];...: a share of the jobs gets the weight, and TIMES the size [1]; shares add up "
     "to 1"},
};

// Classes are drawn from the far half of the jobs' stream, so that they change no size drawn.
constexpr std::uint64_t kClassDraws = std::uint64_t{1} << 33;
constexpr double kSharesSum = 1e-9;

struct Class {
  double weight, share, times;
};

std::vector<Class> ParseClasses(const std::string& text) {
  const std::string where = "queueing: parameter 'classes'";
  std::vector<Class> classes;
  double shares = 0.0;
  for (const std::string& part : SplitOutsideParentheses(text, ';')) {
    const std::vector<std::string> fields = SplitOutsideParentheses(part, ':');
    if (fields.size() < 2 || fields.size() > 3) {
      throw Error(Join(where, ": expected WEIGHT:SHARE or WEIGHT:SHARE:TIMES, found '", part, "'"));
    }
    std::vector<double> values;
    for (const std::string& field : fields) {
      values.push_back(ParseNumber(field, where));
      if (!(values.back() > 0.0) || values.back() > 1e12) {
        throw Error(Join(where, ": expected numbers > 0, found '", part, "'"));
      }
    }
    classes.push_back({values[0], values[1], fields.size() == 3 ? values[2] : 1.0});
    shares += values[1];
  }
  if (shares < 1.0 - kSharesSum || shares > 1.0 + kSharesSum) {
    throw Error(Join(where, ": expected shares that add up to 1, found ", shares));
  }
  return classes;
}

class Queueing : public ScenarioSource {
 public:
  Queueing(ArrivalModel arrivals, SizeDistribution sizes, std::vector<Class> classes, int jobs,
           const ScenarioSettings& settings, std::string description)
      : arrivals_(std::move(arrivals)),
        sizes_(std::move(sizes)),
        classes_(std::move(classes)),
        jobs_(jobs),
        description_(std::move(description)) {
    base_ = BaseScenario(settings, "queueing", description_);
    base_.throughputs.job_types = {"job"};
    base_.throughputs.gang_sizes = {1};
    base_.throughputs.alone.assign(settings.cluster.types.size(), 1.0);  // steps/s
  }

  Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                int jobs) const override {
    ScenarioData data = base_;
    data.seed = seed;
    ArrivalProcess arrivals(arrivals_, Stream(seed, Purpose::kArrivals, split, env, episode));
    Stream sizes(seed, Purpose::kJobs, split, env, episode);
    Stream picks(seed, Purpose::kJobs, split, env, episode);
    picks.Seek(kClassDraws);
    for (int i = 0; i < (jobs > 0 ? jobs : jobs_); ++i) {
      const Class& one = Pick(picks);
      data.jobs.id.push_back(i);
      data.jobs.arrival.push_back(arrivals.Next());
      data.jobs.job_type.push_back(0);
      data.jobs.gang.push_back(1);
      data.jobs.total_steps.push_back(one.times * sizes_.Draw(sizes));
      data.jobs.weight.push_back(one.weight);
    }
    return Scenario(std::move(data));
  }
  bool fixed() const override { return false; }
  std::string Describe() const override { return description_; }

 private:
  const Class& Pick(Stream& stream) const {
    double left = stream.Uniform();
    std::size_t i = 0;
    while (i + 1 < classes_.size() && left >= classes_[i].share) left -= classes_[i++].share;
    return classes_[i];
  }

  ArrivalModel arrivals_;
  SizeDistribution sizes_;
  std::vector<Class> classes_;
  int jobs_;
  std::string description_;
  ScenarioData base_;  // all but the jobs
};

std::shared_ptr<const ScenarioSource> MakeQueueing(Params& params, const ScenarioSettings& settings) {
  const double rate = params.Number("rate", 0.0, 1e9);
  const int jobs = static_cast<int>(params.Integer("jobs", 1, 100000000));
  ArrivalModel arrivals = ArrivalModel::Parse(params.Text(kArrivalsParam.name), rate);
  SizeDistribution sizes =
      SizeDistribution::Parse(params.Text(kSizesParam.name), params.Number("mean", 1e-6, 1e12));
  std::vector<Class> classes = ParseClasses(params.Text("classes"));
  std::string description = WithParam(params.Resolved(), kArrivalsParam.name, arrivals.spec);
  description = WithParam(description, kSizesParam.name, sizes.spec());
  return std::make_shared<Queueing>(std::move(arrivals), std::move(sizes), std::move(classes), jobs, settings,
                                    std::move(description));
}

}  // namespace

WorkloadInfo QueueingInfo() {
  return {"queueing", "single-GPU jobs of queueing theory: arrivals x sizes x priority classes",
          "Kleinrock 1975, 1976; the closed forms of tools/reproduce/queueing_theory.hpp", kQueueingParams,
          MakeQueueing};
}

}  // namespace berth
