// Gavel's sum of throughputs for jobs whose GPUs and batch are fixed, as Sia's evaluation ran it ("Gavel +
// TunedJobs", Jayaram Subramanya et al., SOSP 2023, sec. 4; siasosp23/artifacts, sia-simulator/gavel.py and
// policies/max_sum_throughput.py, after Narayanan et al., OSDI 2020): throughputs as they are, neither
// normalised nor weighted by GPUs; times that are never forgotten; who has no share fills what is left.
//
//   maximise sum_jk throughput_jk x_jk,  sum_k x_jk <= 1,  sum_j gpus_j x_jk <= GPUs of type k,  x >= 0
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "baselines/adaptive/every.hpp"
#include "baselines/lp.hpp"
#include "baselines/placement/in_service.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"
#include "env/sim/most_free_nodes.hpp"

namespace berth {
namespace {

constexpr ParamInfo kGavelTunedParams[] = {
    {"interval", "360", "s between decisions, the round"},
};
constexpr double kLeastInterval = 1e-3;  // s: a job's time is counted by it, so 0 would divide by 0
constexpr double kTooWide = 0.1;         // steps/s on a type that has fewer GPUs than the job wants

class GavelTuned final : public Scheduler {
 public:
  explicit GavelTuned(double interval) : every_(interval) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }
  void Reset(const ClusterView& view) override {
    every_.Reset();
    type_seconds_.assign(U(view.num_types()), 0.0);
    seconds_.assign(U(view.num_jobs()), {});
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    if (!every_.Due(view, decision)) return;
    jobs_.assign(view.active().begin(), view.active().end());
    const std::size_t types = U(view.num_types());
    for (int job : jobs_) {
      if (!seconds_[U(job)].empty()) continue;
      seconds_[U(job)].assign(types, every_.seconds() / 2.0);
      for (double& all : type_seconds_) all += every_.seconds() / 2.0;
    }
    const std::vector<int> chosen = Choose(view, Shares(view));
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const int type = chosen[i] < 0 && NoneInService(view, jobs_[i]) ? view.TypeOf(jobs_[i]) : chosen[i];
      if (type < 0) continue;
      seconds_[U(jobs_[i])][U(type)] += every_.seconds();
      type_seconds_[U(type)] += every_.seconds();
    }
    Emit(view, chosen, decision);
  }

 private:
  double Throughput(const ClusterView& view, int job, int type) const {
    const int gpus = view.Gang(job);
    if (gpus > view.types()[U(type)].count && !StaysOnLeaving(view, job, type)) return kTooWide;
    const auto* goodput = view.Find<GoodputState>();
    if (goodput == nullptr) return view.Rate(job, type);
    const Application& application = goodput->ApplicationOf(job);
    const SpeedOnType* speed = application.On(view.cluster().types[U(type)].name);
    if (speed == nullptr) return 0.0;
    const std::vector<int> nodes = FullNodes(gpus, view.cluster().types[U(type)].gpus_per_node);
    goodput::BatchLimits limits = application.Limits(*speed);
    limits.max_atomic = std::min(limits.max_atomic, speed->MaxAtomic(nodes));
    const goodput::BatchSplit split = goodput::SplitTuned(limits, gpus, view.BatchSize(job));
    const goodput::StepTime time = speed->At(nodes, split.atomic);
    return time.step > 0.0 ? 1.0 / goodput::TotalTime(time, split.accumulation) / application.slowdown : 0.0;
  }

  // [jobs, types], to five decimals.
  std::vector<double> Shares(const ClusterView& view) {
    const std::size_t types = U(view.num_types());
    LpModel model;
    model.maximize = true;
    for (int job : jobs_) {
      for (int type = 0; type < view.num_types(); ++type)
        model.AddColumn(Throughput(view, job, type), 0.0, kLpInfinity);
    }
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      for (std::size_t type = 0; type < types; ++type)
        model.AddEntry(static_cast<int>(i * types + type), 1.0);
      model.EndRow(-kLpInfinity, 1.0);
    }
    for (std::size_t type = 0; type < types; ++type) {
      for (std::size_t i = 0; i < jobs_.size(); ++i)
        model.AddEntry(static_cast<int>(i * types + type), view.Gang(jobs_[i]));
      model.EndRow(-kLpInfinity, view.types()[type].count);
    }
    LpSolution solution;
    std::vector<double> shares(jobs_.size() * types, 0.0);
    if (solver_.Solve(model, LpMethod::kEmbedding, solution) != LpStatus::kOptimal &&
        solver_.Solve(model, LpMethod::kSimplex, solution) != LpStatus::kOptimal)
      return shares;
    for (std::size_t at = 0; at < shares.size(); ++at)
      shares[at] = std::clamp(std::nearbyint(solution.x[at] * 1e5) / 1e5, 0.0, 1.0);
    return shares;
  }

  // By share over the part of the type's time that the job has had, then by share; of equals the first type,
  // then the first job. Who runs on GPUs of which some are about to go takes those in service that it holds;
  // then it has what the others leave idle, or stays. On no others it stays for nothing: nobody else could
  // have them.
  std::vector<int> Choose(const ClusterView& view, const std::vector<double>& shares) {
    struct Pair {
      double priority, share;
      int type;
      std::size_t job;
    };
    std::vector<Pair> pairs;
    const std::size_t types = U(view.num_types());
    for (std::size_t type = 0; type < types; ++type) {
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const double share = shares[i * types + type];
        const double had = seconds_[U(jobs_[i])][type] / type_seconds_[type];
        pairs.push_back({share > 0.0 ? share / had : 0.0, share, static_cast<int>(type), i});
      }
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
      return a.priority != b.priority ? a.priority > b.priority : a.share > b.share;
    });
    std::vector<int> room, chosen(jobs_.size(), -1);
    order_.clear();
    for (const GpuType& type : view.types()) room.push_back(type.count);
    stays_.assign(jobs_.size(), 0);
    for (const Pair& pair : pairs) {
      const int job = jobs_[pair.job], gpus = TakesOf(view, job, pair.type);
      if (chosen[pair.job] >= 0 || gpus > room[U(pair.type)] || view.Rate(job, pair.type) <= 0.0) continue;
      if (NoneInService(view, job)) continue;
      chosen[pair.job] = pair.type;
      room[U(pair.type)] -= gpus;
      stays_[pair.job] = StaysOnLeaving(view, job, pair.type);
      if (stays_[pair.job] == 0) order_.push_back(pair.job);
    }
    for (const Pair& pair : pairs) {
      const int job = jobs_[pair.job], gpus = view.Gang(job), here = view.TypeOf(job);
      const int held = stays_[pair.job] != 0 ? HeldInService(view, job) : 0;
      if ((chosen[pair.job] >= 0 && stays_[pair.job] == 0) || view.Rate(job, pair.type) <= 0.0) continue;
      if (gpus > room[U(pair.type)] + (pair.type == here ? held : 0) || !view.IsRunning(job)) continue;
      if (held > 0) room[U(here)] += held;
      chosen[pair.job] = pair.type;
      room[U(pair.type)] -= gpus;
      stays_[pair.job] = 0;
      order_.push_back(pair.job);
    }
    return chosen;
  }

  // Larger jobs first; of equals first who stays on its type and finds its GPUs free, then as they were
  // chosen.
  void Emit(const ClusterView& view, const std::vector<int>& chosen, Decision& decision) {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (chosen[i] < 0 && view.IsRunning(jobs_[i]) && !NoneInService(view, jobs_[i]))
        decision.Stop(jobs_[i]);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return view.Gang(jobs_[a]) > view.Gang(jobs_[b]); });
    std::vector<char> taken(U(view.num_gpus()), 0);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (stays_[i] == 0) continue;
      for (int device : view.Devices(jobs_[i])) taken[U(device)] = 1;
    }
    const auto is_free = [&](int device) { return taken[U(device)] == 0 && view.InService(device); };
    for (auto at = order_.begin(); at != order_.end();) {
      const auto smaller = std::find_if(
          at, order_.end(), [&](std::size_t i) { return view.Gang(jobs_[i]) != view.Gang(jobs_[*at]); });
      std::vector<std::size_t> moves;
      for (auto i = at; i != smaller; ++i) {
        const std::span<const int> held = view.Devices(jobs_[*i]);
        if (view.IsRunning(jobs_[*i]) && view.TypeOf(jobs_[*i]) == chosen[*i] &&
            std::all_of(held.begin(), held.end(), is_free)) {
          for (int device : held) taken[U(device)] = 1;
        } else {
          moves.push_back(*i);
        }
      }
      for (std::size_t i : moves) {
        const int job = jobs_[i], type = chosen[i];
        std::vector<int> devices;
        const int first = view.first_device(type);
        for (int device = first; device < first + view.cluster().types[U(type)].count; ++device) {
          if (static_cast<int>(devices.size()) == view.Gang(job) || !is_free(device)) continue;
          devices.push_back(device);
          taken[U(device)] = 1;
        }
        view.IsRunning(job) ? decision.Move(job, type, devices) : decision.Start(job, type, devices);
      }
      at = smaller;
    }
    ForgetNodesUnlessFree(view, decision);
  }

  Every every_;
  std::vector<double> type_seconds_;          // [G] of all jobs ever
  std::vector<std::vector<double>> seconds_;  // [J][G]; empty = not seen yet
  std::vector<int> jobs_;
  std::vector<std::size_t> order_;  // of jobs_, as they were chosen
  std::vector<char> stays_;         // [jobs_] where it is, on GPUs of which some are about to go
  LpSolver solver_;
};

}  // namespace

SchedulerInfo GavelTunedInfo() {
  return {"gavel_tuned",
          "Gavel's sum of throughputs for jobs of fixed GPUs and batch, as Sia's evaluation ran it; an LP",
          "Jayaram Subramanya et al., Sia, SOSP 2023, sec. 4; Narayanan et al., OSDI 2020",
          "",
          Knowledge::kBlind,
          /*preemptive=*/true,
          kGavelTunedParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<GavelTuned>(params.Number("interval", kLeastInterval, 1e9));
          }};
}

}  // namespace berth
