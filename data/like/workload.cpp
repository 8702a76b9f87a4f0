#include "data/like/workload.hpp"

#include <algorithm>
#include <cmath>

#include "data/tables/words.hpp"
#include "data/workload_list.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/shortest.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"file", "",
     "a model that berth generate --like has fitted to a log (.toml); '' = an example of a made-up cluster"},
    {"jobs", "1000", "number of jobs"},
    {"load", "1", "times the model's arrivals per hour"},
};

// A job in 114 years. A double counts hours one by one up to 9e15, so that even a billion such jobs have
// times.
constexpr double kLeastPerHour = 1e-6;

const LikeSpeed* SpeedOf(const LikeModel& model, const LikeClass& of) {
  for (const LikeSpeed& speed : model.speeds) {
    if (speed.job_type == of.job_type && speed.gpus == of.gpus) return &speed;
  }
  return nullptr;
}

// On one GPU type of the cluster; Error where the model does not know it.
double RateOn(const LikeSpeed& speed, const std::string& type) {
  std::vector<std::string> names;
  for (const auto& [name, rate] : speed.steps_per_s) {
    if (SameWord(name, type)) return rate;
    names.push_back(name);
  }
  throw Error(Join("expected GPU types that the model has speeds of, ", Listed(names), ", found '", type,
                   "' in the cluster"));
}

}  // namespace

LikeSource::LikeSource(LikeModel model, double load, int jobs, const ScenarioSettings& settings,
                       std::string description)
    : model_(std::move(model)),
      tables_(model_),
      load_(load),
      jobs_(jobs),
      description_(std::move(description)) {
  if (model_.per_hour > 0.0 && model_.per_hour * load < kLeastPerHour)
    throw Error(Join("expected per_hour times load of 0 or at least ", Shortest(kLeastPerHour),
                     " (a job in 114 years), found ", Shortest(model_.per_hour * load)));
  base_ = BaseScenario(settings, "like", description_);
  for (const LikeUser& user : model_.users) base_.tenants.push_back({user.name});
  NameList types;
  std::vector<int>& sizes = base_.throughputs.gang_sizes;
  for (const LikeClass& of : model_.classes) {
    job_type_.push_back(types.Add(of.job_type.empty() ? "job" : of.job_type));
    sizes.push_back(of.gpus);
    limits_ = limits_ || !of.limit_s.values.empty();
    shares_ = shares_ || of.gpu_milli != 1000;
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  base_.throughputs.job_types = types.names();
  const std::vector<GpuType>& gpus = base_.cluster.types;
  std::vector<double>& alone = base_.throughputs.alone;
  alone.assign(types.names().size() * sizes.size() * gpus.size(), 0.0);
  for (std::size_t i = 0; i < model_.classes.size(); ++i) {
    const LikeClass& of = model_.classes[i];
    const LikeSpeed* speed = SpeedOf(model_, of);
    const auto size =
        static_cast<std::size_t>(std::lower_bound(sizes.begin(), sizes.end(), of.gpus) - sizes.begin());
    bool runs = false;
    for (std::size_t g = 0; g < gpus.size(); ++g) {
      const double rate = speed == nullptr ? 1.0 : RateOn(*speed, gpus[g].name);
      alone[(static_cast<std::size_t>(job_type_[i]) * sizes.size() + size) * gpus.size() + g] = rate;
      runs = runs || (rate > 0.0 && gpus[g].count >= of.gpus);
    }
    if (!runs)
      throw Error(
          Join("expected a cluster on which jobs of ", Counted(of.gpus, "GPU"),
               of.job_type.empty() ? "" : Join(" and type '", of.job_type, "'"),
               " run, which the model draws, found no GPU type with as many: give another --cluster"));
    reference_.push_back(speed == nullptr ? 1.0 : 0.0);
    if (speed == nullptr) continue;
    for (const auto& [name, rate] : speed->steps_per_s) reference_[i] = std::max(reference_[i], rate);
  }
}

void LikeSource::Add(const LikeJob& job, JobTable& jobs) const {
  const auto of = static_cast<std::size_t>(job.of - model_.classes.data());
  jobs.id.push_back(jobs.size());
  jobs.arrival.push_back(job.arrival);
  jobs.job_type.push_back(job_type_[of]);
  jobs.gang.push_back(job.of->gpus);
  jobs.total_steps.push_back(job.run_s * reference_[of]);
  if (!model_.users.empty()) jobs.tenant.push_back(job.user);
  if (limits_) jobs.requested_s.push_back(job.limit_s > 0.0 ? job.limit_s : NAN);
  if (shares_) jobs.gpu_milli.push_back(job.of->gpu_milli);
}

Scenario LikeSource::Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                          int jobs) const {
  ScenarioData data = base_;
  data.seed = seed;
  LikeDraw draw(tables_, load_, Stream(seed, Purpose::kArrivals, split, env, episode),
                Stream(seed, Purpose::kJobs, split, env, episode));
  for (int i = 0; i < (jobs > 0 ? jobs : jobs_); ++i) Add(draw.Next(), data.jobs);
  return Scenario(std::move(data));
}

Scenario LikeSource::MakeUntil(std::uint64_t seed, std::uint32_t episode, double seconds) const {
  BERTH_CHECK(model_.per_hour > 0.0, "all jobs come at once");
  ScenarioData data = base_;
  data.seed = seed;
  LikeDraw draw(tables_, load_, Stream(seed, Purpose::kArrivals, Split::kEvaluate, 0, episode),
                Stream(seed, Purpose::kJobs, Split::kEvaluate, 0, episode));
  for (LikeJob job = draw.Next(); job.arrival < 2.0 * seconds; job = draw.Next()) {
    job.arrival -= seconds;
    if (job.arrival >= 0.0) Add(job, data.jobs);
  }
  return Scenario(std::move(data));
}

namespace {

std::shared_ptr<const ScenarioSource> Make(Params& params, const ScenarioSettings& settings) try {
  const std::string file = params.Text("file");
  const int jobs = static_cast<int>(params.Integer("jobs", 1, 100000000));
  const double load = params.Number("load", 1e-6, 1e6);
  return std::make_shared<LikeSource>(ReadLike(file), load, jobs, settings, params.Resolved());
} catch (const Error& error) {
  const std::string what = error.what();
  throw Error(what.starts_with("like: ") ? what : Join("like: ", what));
}

}  // namespace

WorkloadInfo LikeInfo() {
  return {"like", "jobs like those of a log: berth generate --like fits the model",
          "Berth; time rescaling: Brown et al., Neural Computation 2002; repeated jobs: Feitelson, Workload "
          "Modeling, "
          "2015, chapter 8",
          kParams, Make};
}

}  // namespace berth
