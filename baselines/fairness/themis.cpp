// Themis (Mahajan, Balasubramanian, Singhvi, Venkataraman, Akella, Phanishayee & Chawla, NSDI 2020): GPUs are
// leased, and those whose lease has ended are auctioned among the apps that are worst off. An app is a job.
//
//   rho(G) = T_sh(G) / T_id                          finish-time fairness; it is fair where rho <= 1
//   T_sh(G) = now - arrival + steps left / rate(G)   as if it kept the GPUs G to its end
//   T_id = T_cluster N_avg                           T_cluster: on the cluster alone, on as many GPUs as it
//   can use;
//                                                    N_avg: the mean number of jobs since it arrived
//
// Where GPUs are free, the share 1 - f of those who could use them, of the greatest rho, bid with rho of each
// width on each type; partial_allocation.hpp says who wins what and which part c of it he may keep. What is
// left goes to the others in random order, step by step.
// What the paper leaves open: CHOICES.md.
#include <algorithm>
#include <cmath>
#include <optional>

#include "baselines/elastic/width_plan.hpp"
#include "baselines/fairness/partial_allocation.hpp"
#include "baselines/placement/in_service.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"

namespace berth {
namespace {

constexpr ParamInfo kThemisParams[] = {
    {"lease", "1200", "s for which GPUs are given, from 1"},
    {"f", "0.8", "fairness knob: the share 1 - f of the apps, the worst off, may bid; from 0 to below 1"},
};

constexpr double kShortest = 1.0;  // s, of a lease
constexpr double kLeastRho = 1e-300;
constexpr double kLeaseRounding = 1e-9;  // of GPUs and s

struct Lease {
  int gpus;
  double until;  // s
};

class Themis final : public Scheduler {
 public:
  Themis(double lease, double f) : lease_(lease), f_(f) {}
  Knowledge knowledge() const override { return Knowledge::kEstimate; }
  bool resizes() const override { return true; }

  void Reset(const ClusterView& view) override {
    random_.emplace(view.seed(), Purpose::kScheduler);
    leases_.assign(U(view.num_jobs()), {});
    seen_at_.assign(U(view.num_jobs()), -1.0), seen_sum_.assign(U(view.num_jobs()), 0.0);
    last_ = view.now(), jobs_ = 0, sum_ = 0.0;
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    Count(view);
    KeepLeases(view);
    Offer(view);
    plan_.MoveOffLeaving(view, decision);
    plan_.Emit(view, decision);
    for (int job : view.active()) {
      for (const Lease& lease : leases_[U(job)]) decision.wake_at = std::min(decision.wake_at, lease.until);
    }
  }

 private:
  struct App {
    int job;
    double rho;
    std::vector<AuctionBid> bids;
  };

  // The sum over time of the number of jobs, for N_avg.
  void Count(const ClusterView& view) {
    sum_ += jobs_ * (view.now() - last_);
    last_ = view.now(), jobs_ = view.num_active();
    for (int job : view.active()) {
      if (seen_at_[U(job)] < 0.0) seen_at_[U(job)] = view.now(), seen_sum_[U(job)] = sum_;
    }
  }
  double MeanJobs(const ClusterView& view, int job) const {
    const double since = view.now() - seen_at_[U(job)];
    return since > 0.0 ? (sum_ - seen_sum_[U(job)]) / since : view.num_active();
  }

  // Puts those whose leases last where they are, on the widest that these GPUs allow; at last those whose
  // GPUs are about to go, if the type has room for them still.
  void KeepLeases(const ClusterView& view) {
    plan_.Begin(view);
    for (int job : view.waiting()) leases_[U(job)].clear();
    std::vector<int> running(view.running().begin(), view.running().end());
    std::stable_partition(running.begin(), running.end(), [&](int job) { return AllInService(view, job); });
    for (int job : running) {
      auto& its = leases_[U(job)];
      if (its.empty()) its.push_back({view.Width(job), view.now() + lease_});  // another started it
      std::erase_if(its, [&](const Lease& lease) { return lease.until <= view.now() + kLeaseRounding; });
      if (plan_.WidthOf(job) > 0) continue;  // on GPUs that nobody else can have
      int gpus = 0;
      for (const Lease& lease : its) gpus += lease.gpus;
      int width = Widest(view, job, view.TypeOf(job), std::min(gpus, view.Width(job)));
      if (WidthPlan::Takes(view, job, view.TypeOf(job), width) > plan_.room(view.TypeOf(job))) width = 0;
      for (int over = gpus - width; over > 0;) {  // given back, the newest first
        const int back = std::min(over, its.back().gpus);
        its.back().gpus -= back, over -= back;
        if (its.back().gpus == 0) its.pop_back();
      }
      if (width > 0) plan_.Put(view, job, view.TypeOf(job), width);
    }
  }

  // The widest that it can run on with at most so many GPUs; 0 = none.
  static int Widest(const ClusterView& view, int job, int type, int gpus) {
    int width = std::min(gpus, view.MaxGang(job));
    while (width >= view.MinGang(job) && view.RateAt(job, type, width) <= 0.0) --width;
    return width >= view.MinGang(job) ? width : 0;
  }

  // T_id, s: T_cluster N_avg.
  double Independent(const ClusterView& view, int job) const {
    double fastest = 0.0;
    for (int type = 0; type < view.num_types(); ++type) {
      const int most = std::min(view.MaxGang(job), view.types()[U(type)].count);
      for (int width = view.MinGang(job); width <= most; ++width) {
        fastest = std::max(fastest, view.RateAt(job, type, width));
      }
    }
    if (fastest <= 0.0) fastest = view.BestRate(job);  // too many of its GPUs are out of service
    return view.TotalSteps(job) / fastest * MeanJobs(view, job);
  }

  // All that it could have of what is on offer, the first for nothing; that alone if there is no more.
  App Bids(const ClusterView& view, int job) const {
    App app{job, 0.0, {}};
    const double steps = view.RemainingSteps(job), alone = Independent(view, job);
    const auto rho = [&](double seconds_to_go) {
      const double shared = view.now() - view.Arrival(job) + seconds_to_go;
      return alone > 0.0 ? std::max(shared / alone, kLeastRho) : 1.0;
    };
    const int has = plan_.WidthOf(job), here = has > 0 ? plan_.TypeOf(job) : view.TypeOf(job);
    double idle = kNever;  // s to go without more GPUs
    if (has > 0) {
      idle = steps / view.RateAt(job, here, has);
    } else {  // nothing for a lease, then the least that it runs on
      double rate = 0.0;
      for (int type = 0; type < view.num_types(); ++type) {
        const int least = WidthPlan::Least(view, job, type);
        if (least > 0) rate = std::max(rate, view.RateAt(job, type, least));
      }
      if (rate > 0.0) idle = lease_ + steps / rate;
    }
    app.rho = idle < kNever ? rho(idle) : 1.0;
    app.bids.push_back({-1, 0, app.rho});
    for (int k = -1; k < view.num_types(); ++k) {  // where it is comes first
      const int type = k < 0 ? here : k;
      if (type < 0 || (k >= 0 && (type == here || has > 0))) continue;
      const int most = std::min(has + plan_.room(type), view.MaxGang(job));
      for (int width = std::max(has + 1, view.MinGang(job)); width <= most; ++width) {
        const double rate = view.RateAt(job, type, width);
        if (rate > 0.0) app.bids.push_back({type, width - has, rho(steps / rate)});
      }
    }
    return app;
  }

  void Offer(const ClusterView& view) {
    const auto room = [&] {
      std::vector<int> left;
      for (int type = 0; type < view.num_types(); ++type) left.push_back(std::max(0, plan_.room(type)));
      return left;
    };
    const std::vector<int> offered = room();
    if (std::all_of(offered.begin(), offered.end(), [](int gpus) { return gpus == 0; })) return;
    std::vector<App> apps;
    for (int job : view.active()) {
      if (plan_.OnLeaving(job)) continue;  // more GPUs would be all of them anew
      App app = Bids(view, job);
      if (app.bids.size() > 1) apps.push_back(std::move(app));
    }
    if (apps.empty()) return;
    std::stable_sort(apps.begin(), apps.end(), [](const App& a, const App& b) { return a.rho > b.rho; });
    const auto n = static_cast<double>(apps.size());
    const auto bidders =
        std::min(apps.size(), static_cast<std::size_t>(std::ceil((1.0 - f_) * n - kLeaseRounding)));
    std::vector<std::vector<AuctionBid>> bids;
    for (std::size_t i = 0; i < bidders; ++i) bids.push_back(std::move(apps[i].bids));
    const AuctionResult result = PartialAllocation(bids, offered);
    std::vector<int> losers;
    for (std::size_t i = 0; i < bidders; ++i) {
      const AuctionBid& won = bids[i][U(result.chosen[i])];
      if (won.gpus > 0) {
        Keep(view, apps[i].job, won, result.kept[i]);
      } else {
        losers.push_back(apps[i].job);
      }
    }
    std::vector<int> others;
    for (std::size_t i = bidders; i < apps.size(); ++i) others.push_back(apps[i].job);
    for (std::size_t i = others.size(); i > 1; --i) {
      std::swap(others[i - 1], others[random_->Below(static_cast<std::uint32_t>(i))]);
    }
    Share(view, others);
    Share(view, losers);
  }

  // c times what it won, in GPU-seconds of a lease: fewer GPUs where it can run on fewer, else for less time.
  void Keep(const ClusterView& view, int job, const AuctionBid& won, double kept) {
    const int has = plan_.WidthOf(job);
    const double gpus = kept * won.gpus;
    int width = Widest(view, job, won.type, has + static_cast<int>(std::floor(gpus + kLeaseRounding)));
    double seconds = lease_;
    if (width <= has) {
      width = std::max(has + 1, view.MinGang(job));
      while (view.RateAt(job, won.type, width) <= 0.0) ++width;
      seconds *= std::min(1.0, gpus / (width - has));
    }
    Give(view, job, won.type, width, seconds);
  }

  void Give(const ClusterView& view, int job, int type, int width, double seconds) {
    const int has = plan_.WidthOf(job);
    if (has > 0) {
      plan_.Widen(view, job, width);
    } else {
      plan_.Put(view, job, type, width);
    }
    leases_[U(job)].push_back({width - has, view.now() + std::max(kShortest, seconds)});
  }

  // Each in turn the next width, where it is or on the type where that is fastest, until nobody can use more.
  void Share(const ClusterView& view, const std::vector<int>& jobs) {
    for (bool given = true; given;) {
      given = false;
      for (int job : jobs) {
        if (plan_.OnLeaving(job)) continue;  // as above, since it has come to the width that it runs on
        const int has = plan_.WidthOf(job);
        int best = -1, best_width = 0;
        double best_rate = has > 0 ? view.RateAt(job, plan_.TypeOf(job), has) : 0.0;
        for (int type = 0; type < view.num_types(); ++type) {
          if (has > 0 && type != plan_.TypeOf(job)) continue;
          const int most = std::min(has + plan_.room(type), view.MaxGang(job));
          for (int width = std::max(has + 1, view.MinGang(job)); width <= most; ++width) {
            const double rate = view.RateAt(job, type, width);
            if (rate <= 0.0) continue;
            if (rate > best_rate || (rate == best_rate && type == view.TypeOf(job))) {
              best = type, best_width = width, best_rate = rate;
            }
            break;
          }
        }
        if (best < 0 || best_width <= has) continue;
        Give(view, job, best, best_width, lease_);
        given = true;
      }
    }
  }

  double lease_, f_;
  std::optional<Stream> random_;
  WidthPlan plan_;
  std::vector<std::vector<Lease>> leases_;      // [J]
  std::vector<double> seen_at_, seen_sum_;      // [J] s and job-seconds when it was first there
  double last_ = 0.0, jobs_ = 0.0, sum_ = 0.0;  // s of the last look, jobs then, job-seconds until then
};

}  // namespace

SchedulerInfo ThemisInfo() {
  return {
      "themis",
      "GPUs on lease, auctioned among those whose finish-time fairness is worst; O(bids prod of free GPUs)",
      "Mahajan et al., Themis, NSDI 2020; auction: Cole, Gkatzelis and Goel, EC 2013",
      "",
      Knowledge::kEstimate,
      /*preemptive=*/true,
      kThemisParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        const double lease = params.Number("lease", 1.0, 1e12);
        return std::make_unique<Themis>(lease, params.Number("f", 0.0, 0.999999));
      }};
}

}  // namespace berth
