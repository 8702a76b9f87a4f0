// Shockwave (Zheng, Pan, Khan, Venkataraman & Akella, NSDI 2023): a market over the rounds to come. Every few
// rounds, and whenever jobs came or went, it plans who runs in which round of a window (market_window.hpp).
//
//   share = min(1, GPUs / jobs);  a job's fair finish time is its run time over the share, averaged over the
//   time for which each share held: 0.9 x that average + 0.1 x the last
//   rho = (time since arrival + time left / share) / fair finish time
//   fair at the window's end: (its end - arrival + time left then / share) <= rho_max x fair finish time
//
// GPUs that the plan leaves idle in a round go to jobs that it leaves out, the longest remaining first, as in
// the authors' program. Where GPU types differ, run times are those at the mean rate of the GPUs on which the
// job can run, and a round on a type brings the progress of that type. Of a job that changes its batch size
// it forecasts what is left (batch_forecast.hpp), and takes that to be done at one pace.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "baselines/fairness/batch_forecast.hpp"
#include "baselines/fairness/market_window.hpp"
#include "baselines/placement/in_service.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/sim/plan.hpp"

namespace berth {
namespace {

constexpr ParamInfo kShockwaveParams[] = {
    {"window", "20", "rounds planned at once"},
    {"round", "120", "s of a round, under clocks without rounds"},
    {"replan", "8", "rounds after which a new plan is made anyway"},
    {"rho_exponent", "5", "of rho, in the weights of jobs that cannot be finish-time fair (the paper's k)"},
    {"makespan", "0.001", "what a second of the longest remaining run weighs (the paper's lambda)"},
    {"rho_max", "1", "finish-time fairness asked for"},
    {"absolute", "false",
     "true: times count from the log's start and not from arrival, as the authors' program has it"},
    {"future", "posterior",
     "of a job that changes its batch size: posterior (the paper's), known (its schedule) or none (that it "
     "stays "
     "as fast as it is)"},
    {"jobs", "200", "jobs in a plan, those of greatest rho; the others get what is idle"},
    {"gap", "0.01", "relative gap at which the integer programs end (published: 0.001, within 15 s)"},
    {"nodes", "100", "nodes of their search trees, from 1"},
};

constexpr double kMomentum = 0.9;   // of the average against the last fair finish time
constexpr double kRounding = 1e-6;  // s

// Figures that differ in their last bits alone, as rates that were learned may, must not decide between equal
// optima.
double Rounded(double x) {
  return std::round(x * 1e9) / 1e9;
}

struct Settings {
  WindowOptions window;
  int replan = 8;
  bool absolute = false;
  Forecast forecast = Forecast::kPosterior;
  std::size_t jobs = 200;
};

class Shockwave final : public Scheduler {
 public:
  explicit Shockwave(const Settings& settings) : settings_(settings) {}
  Knowledge knowledge() const override { return Knowledge::kEstimate; }

  void Reset(const ClusterView& view) override {
    const ClockKind kind = view.clock().kind;
    options_ = settings_.window;
    if (kind == ClockKind::kRounds || kind == ClockKind::kReferenceRounds)
      options_.round_s = view.clock().round_s;
    fair_.assign(U(view.num_jobs()), {});
    known_.clear(), planned_.clear(), room_.clear();
    made_at_ = -kNever, next_ = -kNever;
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    if (view.active().empty()) return;
    const bool begins = view.now() >= next_ - kRounding || view.running().empty();
    plan_.Begin(view, /*preemptive=*/true);
    if (begins) {
      KeepOnLeaving(view, plan_);
      const bool changed =
          !std::equal(known_.begin(), known_.end(), view.active().begin(), view.active().end());
      const double since = std::floor((view.now() - made_at_ + kRounding) / options_.round_s);
      if (changed || Room(view) != room_ || !(since < std::min(settings_.replan, options_.rounds))) {
        Replan(view, changed);
        round_ = 0;
      } else {
        round_ = static_cast<int>(since);
      }
      next_ = made_at_ + (round_ + 1) * options_.round_s;
      for (std::size_t i = 0; i < planned_.size(); ++i) {
        const int job = planned_[i], type = window_.type[i][U(round_)];
        if (type >= 0 && !view.IsDone(job) && FitsOrStays(view, plan_, job, type))
          PutOrStay(view, plan_, job, type);
      }
    } else {
      for (int job : view.running()) plan_.Keep(view, job);
    }
    FillIdle(view);
    plan_.Emit(view, decision);
    OfferIdle(view, plan_, view.running(), decision);
    decision.wake_at = std::min(decision.wake_at, next_);
  }

 private:
  // A job's fair finish times so far, s after its arrival.
  struct Fair {
    double first = -1.0, since = 0.0, last = 0.0;  // s: of the first and the last estimate, and the last
    double sum = 0.0;                              // of those before, times how long each held
    double Mean(double now) const {
      const double all = now - first;
      const double mean = all > 0.0 ? (sum + last * (now - since)) / all : last;
      return kMomentum * mean + (1.0 - kMomentum) * last;
    }
  };

  static std::vector<int> Room(const ClusterView& view) {
    std::vector<int> room;
    for (const GpuType& type : view.types()) room.push_back(type.count);
    return room;
  }

  // A gang that stays on GPUs of which some are about to go may do so, and competes for the others it holds.
  static bool MayRun(const ClusterView& view, int job, int type) {
    const bool stays = StaysOnLeaving(view, job, view.TypeOf(job)) && !NoneInService(view, job);
    return stays ? type == view.TypeOf(job) : CanRun(view, job, type);
  }

  // Steps a second at the mean of the GPUs on which it can run; 0 = nowhere.
  static double MeanRate(const ClusterView& view, int job) {
    double sum = 0.0, gpus = 0.0;
    for (int type = 0; type < view.num_types(); ++type) {
      if (!MayRun(view, job, type)) continue;
      const double count = view.types()[U(type)].count;
      sum += count * view.Rate(job, type), gpus += count;
    }
    return gpus > 0.0 ? sum / gpus : 0.0;
  }

  // By the same mean.
  static TrainingTimes MeanTimes(const ClusterView& view, const BatchForecast& forecast, int job) {
    double gpus = 0.0, past = 0.0, left = 0.0;
    for (int type = 0; type < view.num_types(); ++type) {
      if (!MayRun(view, job, type)) continue;
      const double count = view.types()[U(type)].count;
      const TrainingTimes its = forecast.On(view, job, type);
      gpus += count, left += count / std::max(its.left, kRounding);
      past += its.past > 0.0 ? count / its.past : 0.0;
    }
    return {past > 0.0 ? gpus / past : 0.0, gpus / left};
  }

  void Replan(const ClusterView& view, bool changed) {
    room_ = Room(view);
    const double gpus = std::accumulate(room_.begin(), room_.end(), 0);
    const double share = std::min(1.0, gpus / view.num_active());
    struct Candidate {
      int job;
      WindowJob its;
    };
    std::vector<Candidate> all;
    const BatchForecast forecast(view, settings_.forecast);
    for (int job : view.active()) {
      const double rate = MeanRate(view, job), total = view.TotalSteps(job);
      if (rate <= 0.0 || total <= 0.0) continue;
      WindowJob its;
      its.gang = NoneInService(view, job) ? view.Gang(job) : TakesOf(view, job, view.TypeOf(job));
      its.done = Rounded(std::clamp(1.0 - view.RemainingSteps(job) / total, 0.0, 1.0));
      its.seconds = std::max(1e-9, Rounded(total / rate));
      double whole = its.seconds;  // s, of the job alone
      for (int type = 0; type < view.num_types(); ++type) {
        const double pace = view.Rate(job, type) * options_.round_s / total;
        its.pace.push_back(MayRun(view, job, type) ? std::max(1e-9, Rounded(pace)) : 0.0);
      }
      if (forecast.Applies(job) && its.done < 1.0) {
        const TrainingTimes times = MeanTimes(view, forecast, job);
        its.seconds = std::max(1e-9, Rounded(times.left / (1.0 - its.done)));
        whole = times.past + times.left;
        for (int type = 0; type < view.num_types(); ++type) {
          double& pace = its.pace[U(type)];
          if (pace <= 0.0) continue;
          const double left = std::max(forecast.On(view, job, type).left, kRounding);
          pace = std::max(1e-9, Rounded((1.0 - its.done) * options_.round_s / left));
        }
      }
      Fair& fair = fair_[U(job)];
      if (changed || fair.first < 0.0) {
        if (fair.first < 0.0) fair.first = view.now();
        fair.sum += fair.last * (view.now() - std::max(fair.since, fair.first));
        fair.since = view.now(), fair.last = whole / share;
      }
      const double from = settings_.absolute ? 0.0 : view.Arrival(job);
      const double aim = fair.Mean(view.now()) + (settings_.absolute ? view.Arrival(job) : 0.0);
      const double left = (1.0 - its.done) * its.seconds / share;
      its.ratio = (view.now() - from + left) / aim;
      const double end = view.now() + options_.rounds * options_.round_s - from;
      const double slack = (options_.rho_max * aim - end) * share / its.seconds;
      its.least = slack < 0.0 ? kNever : 1.0 - slack;
      all.push_back({job, std::move(its)});
    }
    if (all.size() > settings_.jobs) {
      std::stable_sort(all.begin(), all.end(),
                       [](const Candidate& a, const Candidate& b) { return a.its.ratio > b.its.ratio; });
      all.resize(settings_.jobs);
    }
    std::vector<WindowJob> jobs;
    planned_.clear();
    for (Candidate& candidate : all)
      planned_.push_back(candidate.job), jobs.push_back(std::move(candidate.its));
    window_ = PlanWindow(jobs, room_, options_);
    known_.assign(view.active().begin(), view.active().end());
    made_at_ = view.now();
  }

  // Those whom the plan leaves out, the longest remaining run first, each where it is or on the fastest type.
  void FillIdle(const ClusterView& view) {
    if (plan_.total_room() == 0) return;
    left_out_.clear();
    const BatchForecast forecast(view, settings_.forecast);
    for (int job : view.active()) {
      const double rate = plan_.Placed(job) ? 0.0 : MeanRate(view, job);
      if (rate <= 0.0) continue;
      const double left =
          forecast.Applies(job) ? MeanTimes(view, forecast, job).left : view.RemainingSteps(job) / rate;
      left_out_.push_back({-Rounded(left), job});
    }
    FillByRank(view, left_out_, plan_);
  }

  Settings settings_;
  WindowOptions options_;
  std::vector<Fair> fair_;    // [J]
  std::vector<int> known_;    // active at the last plan
  std::vector<int> room_;     // [G] GPUs in service then
  std::vector<int> planned_;  // whom window_.type is of
  WindowPlan window_;
  double made_at_ = 0.0, next_ = 0.0;  // s, of the plan and of the next round
  int round_ = 0;                      // of the plan
  Plan plan_;
  Ranking left_out_;
};

}  // namespace

SchedulerInfo ShockwaveInfo() {
  return {"shockwave",
          "who runs in which of the next rounds: Nash welfare and finish-time fairness; the cost of integer "
          "programs",
          "Zheng et al., Shockwave, NSDI 2023, and its program",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          kShockwaveParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            Settings settings;
            settings.window.rounds = static_cast<int>(params.Integer("window", 1, 10000));
            settings.window.round_s = params.Number("round", 1.0, 1e9);
            settings.replan = static_cast<int>(params.Integer("replan", 1, 1000000));
            settings.window.power = params.Number("rho_exponent", 0.0, 1000.0);
            settings.window.makespan = params.Number("makespan", 0.0, 1e6);
            settings.window.rho_max = params.Number("rho_max", 0.0, 1e6);
            settings.absolute = params.Bool("absolute");
            constexpr Forecast kForecasts[] = {Forecast::kPosterior, Forecast::kKnown, Forecast::kNone};
            settings.forecast = kForecasts[params.Choice("future", {"posterior", "known", "none"})];
            settings.jobs = static_cast<std::size_t>(params.Integer("jobs", 1, 1000000));
            settings.window.gap = params.Number("gap", 0.0, 1.0);
            settings.window.nodes = static_cast<int>(params.Integer("nodes", 1, 1000000000));
            return std::make_unique<Shockwave>(settings);
          }};
}

}  // namespace berth
