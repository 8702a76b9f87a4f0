// Sia (Jayaram Subramanya et al., SOSP 2023, section 3): every round which configuration, so many GPUs of one
// type, each job has, as the integer program of sia_program answers for costs that follow from goodputs
// (sia_matrix). A job starts on one GPU and at most doubles; its speed on a type that it has not run on is
// projected from another (section 3.3). Without the feature goodput a job's speeds are those of its widths,
// and a job whose gang is no configuration is refused.
//
// TIES between choices of least cost: sia_program. The artifact leaves them to its solver.
#include <algorithm>
#include <memory>
#include <vector>

#include "baselines/adaptive/every.hpp"
#include "baselines/adaptive/sia_configurations.hpp"
#include "baselines/adaptive/sia_matrix.hpp"
#include "baselines/adaptive/sia_program.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"

namespace berth {
namespace {

constexpr ParamInfo kSiaParams[] = {
    {"exponent", "-0.5", "of goodputs in costs, below 0: the lower, the fairer"},
    {"unallocated", "1.1", "cost of a job without GPUs, where the worst configuration costs 1 (lambda_n)"},
    {"interval", "60", "s between decisions"},
};

class Sia final : public Scheduler {
 public:
  Sia(double power, double unallocated, double interval)
      : rule_{power, 3000.0}, unallocated_(unallocated), every_(interval) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }
  bool resizes() const override { return true; }

  void Reset(const ClusterView& view) override {
    every_.Reset();
    configurations_.Reset(view);
    if (view.some_jobs()) return;  // each as it comes
    for (int job = 0; job < view.num_jobs(); ++job) CheckGang(view, job);
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    if (!every_.Due(view, decision)) return;
    goodput_ = view.Find<GoodputState>();
    jobs_.assign(view.active().begin(), view.active().end());
    sia::Program program;
    for (const GpuType& type : view.types()) program.capacity.push_back(type.count);
    program.configurations = configurations_.list();
    program.unallocated = unallocated_;
    program.jobs = static_cast<int>(jobs_.size());
    for (int job : jobs_) {
      if (view.some_jobs()) CheckGang(view, job);
      const int held = configurations_.Held(view, job);
      const bool starting =
          goodput_ != nullptr && view.IsRunning(job) && goodput_->jobs[U(job)].trains_from > view.now();
      program.previous.push_back(held);
      program.forced.push_back(starting ? held : -1);
      const std::vector<double> costs = CostsOf(view, job, held);
      program.cost.insert(program.cost.end(), costs.begin(), costs.end());
    }
    configurations_.Emit(view, jobs_, sia::Solve(program).chosen, decision);
  }

 private:
  // Would the simulator let the job have it?
  static bool CanHave(const ClusterView& view, int job, const sia::Configuration& c) {
    return c.gpus >= view.MinGang(job) && c.gpus <= view.MaxGang(job) &&
           view.RateAt(job, c.type, c.gpus) > 0.0;
  }

  // A job that no configuration suits would wait for ever.
  void CheckGang(const ClusterView& view, int job) const {
    const auto can = [&](const sia::Configuration& c) { return CanHave(view, job, c); };
    if (std::ranges::any_of(configurations_.list(), can)) return;
    const int least = view.MinGang(job), most = view.MaxGang(job);
    throw Error(Join("sia: job ", job,
                     " of the workload: expected a gang that is a configuration of a type it runs on (",
                     configurations_.ToString(view), "), found ",
                     least == most ? Join("a gang of ", least) : Join("gangs of ", least, " to ", most)));
  }

  std::vector<double> CostsOf(const ClusterView& view, int job, int held) {
    std::vector<float> goodputs;
    double penalty = 30.0;
    int restarts = view.Preemptions(job);
    if (goodput_ == nullptr) {
      for (const sia::Configuration& c : configurations_.list())
        goodputs.push_back(
            static_cast<float>(CanHave(view, job, c) ? view.RateAt(job, c.type, c.gpus) : 0.0));
    } else {
      penalty = goodput_->ApplicationOf(job).told_restart_s;
      restarts = std::max(goodput_->jobs[U(job)].starts - 1, 0);
      goodputs = Learned(view, job);
    }
    const double factor = sia::RestartFactor(view.now() - view.Arrival(job), restarts, penalty);
    std::vector<double> costs =
        sia::Costs(sia::NormalisedGoodputs(goodputs, configurations_.list()), held, factor, rule_);
    for (std::size_t k = 0; k < costs.size(); ++k) {  // what the simulator would not let it have
      if (!CanHave(view, job, configurations_.list()[k])) costs[k] = kNever;
    }
    return costs;
  }

  // By what it has seen on the type, else projected from the first type on which it has seen something.
  std::vector<float> Learned(const ClusterView& view, int job) const {
    const GoodputState::Job& its = goodput_->jobs[U(job)];
    const Application& application = *its.application;
    std::vector<float> goodputs(configurations_.list().size(), 0.0F);
    int from = -1, most = 0;
    for (int type = 0; type < static_cast<int>(its.learned.size()); ++type) {
      const GoodputState::Learned& learned = its.learned[U(type)];
      if (!learned.known()) continue;
      if (from < 0) from = type;
      const SpeedOnType& speed = *application.On(view.cluster().types[U(type)].name);
      most = std::max(most, std::min({std::max(2 * learned.most_gpus, 1), view.num_gpus(),
                                      goodput::MostReplicas(application.Limits(speed))}));
    }
    if (from < 0) return goodputs;
    for (std::size_t k = 0; k < configurations_.list().size(); ++k) {
      const sia::Configuration& c = configurations_.list()[k];
      if (c.gpus > most || c.gpus > view.MaxGang(job)) continue;
      const SpeedOnType* here = application.On(view.cluster().types[U(c.type)].name);
      if (here == nullptr) continue;
      const bool known = its.learned[U(c.type)].known();
      const int type = known ? c.type : from;
      const int size = view.cluster().types[U(type)].gpus_per_node;
      const int nodes = known ? c.nodes : (c.gpus + size - 1) / size;
      double goodput = goodput_->Expected(view.cluster(), job, type, {nodes, c.gpus}, view.BatchSize(job));
      if (!known)
        goodput *=
            here->SamplesPerSecond() / application.On(view.cluster().types[U(type)].name)->SamplesPerSecond();
      goodputs[k] = static_cast<float>(goodput);
    }
    return goodputs;
  }

  sia::CostRule rule_;
  double unallocated_;
  Every every_;
  sia::Configurations configurations_;
  const GoodputState* goodput_ = nullptr;  // null = off
  std::vector<int> jobs_;
};

std::unique_ptr<Scheduler> MakeSia(Params& params) {
  const double power = params.Number("exponent", -100.0, -1e-6);
  const double unallocated = params.Number("unallocated", 0.0, 1e6);
  return std::make_unique<Sia>(power, unallocated, params.Number("interval", 0.0, 1e9));
}

}  // namespace

SchedulerInfo SiaInfo() {
  return {"sia",
          "elastic, on mixed GPU types: configurations by their goodputs; the cost of an integer program",
          "Jayaram Subramanya et al., Sia, SOSP 2023, sec. 3; siasosp23/artifacts",
          "",
          Knowledge::kBlind,
          /*preemptive=*/true,
          kSiaParams,
          MakeSia};
}

}  // namespace berth
