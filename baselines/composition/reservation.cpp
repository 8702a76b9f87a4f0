// Reservation by forecast: GPUs are held back for favoured jobs, the short and the urgent, that are expected
// to arrive. What favoured jobs bring, GPU-seconds on their fastest type, is counted and forecast
// (env/predict/forecast/arrival_forecast.hpp); a forecast of `a` GPUs in use on average reserves
//   ceil(a + safety sqrt(a))
// GPUs: square-root staffing (Halfin & Whitt, Operations Research 1981, eq. 2.2). The reservation lies on the
// types that favoured jobs run fastest on, within the share `most` of each; favoured jobs that run use it up.
// Favoured jobs may take any idle GPU, the others only those beyond what is still reserved. Where the cluster
// forecasts its arrivals itself (env/features/forecast/forecast.hpp), those are counted on, each with what
// arrivals have brought of favoured work so far on average.
//
// A job that has waited `patience` is favoured too, and a reservation leaves room for the largest gang among
// the others, so nobody waits for ever.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "baselines/composition/shares.hpp"
#include "baselines/placement/in_service.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/forecast/forecast.hpp"
#include "env/predict/forecast/arrival_forecast.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

constexpr const char* kWho = "reservation";
constexpr ParamInfo kReservationParams[] = {
    {"inner", "fcfs", "the scheduler of the favoured, and another one of the others"},
    {"short", "3600", "s; jobs that run no longer than this on their fastest type are favoured"},
    {"urgent", "inf", "jobs of at least this weight are favoured"},
    {"forecaster", "exponential", "of what favoured jobs bring in a bin: last | mean | holt_winters | ..."},
    {"bin", "3600", "s, above 0"},
    {"horizon", "3600", "s ahead over which the expected load is taken, above 0"},
    {"safety", "1", "GPUs reserved beyond the expected load a, in units of sqrt(a), from 0"},
    {"most", "0.5", "share of a type that may be reserved, [0, 1]"},
    {"patience", "86400", "s; a job that has waited this long is favoured"},
};

struct ReservationOptions {
  double short_s, urgent, bin_s, horizon_s, safety, most, patience_s;
  std::string forecaster;
};

class Reservation final : public Scheduler {
 public:
  Reservation(const ReservationOptions& options, const std::string& inner)
      : options_(options),
        forecast_(options.forecaster, options.bin_s),
        favoured_inner_("reservation: parameter 'inner'", inner),
        other_inner_("reservation: parameter 'inner'", inner) {}
  Knowledge knowledge() const override { return std::max(Knowledge::kEstimate, favoured_inner_.knowledge()); }
  bool resizes() const override { return favoured_inner_.resizes(); }

  void Reset(const ClusterView& view) override {
    forecast_.Reset(view.now());
    arrivals_ = work_ = 0.0;
    class_.assign(U(view.num_jobs()), Class::kUnknown);
    speed_.assign(U(view.num_types()), 0.0);
    favoured_inner_.Reset(view);
    other_inner_.Reset(view);
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    CountArrivals(view);
    CountHeld(view);
    shares_.Begin(view);
    Ask(view, favoured_inner_, true, decision);
    for (const Command& command : decision.commands) {
      if (view.IsRunning(command.job))  // it stops or moves
        held_[U(view.TypeOf(command.job))] -= HeldInService(view, command.job);
      if (command.kind == CommandKind::kStart || command.kind == CommandKind::kMove)
        held_[U(command.type)] += WidthOf(view, command);
    }
    Reserve(view);
    int held_back = 0;
    for (int type = 0; type < view.num_types(); ++type) {
      int& left = shares_.left()[U(type)];
      const int back = std::min(left, std::max(0, reserved_[U(type)] - held_[U(type)]));
      left -= back;
      held_back += back;
    }
    Ask(view, other_inner_, false, decision);
    if (first_waiting_ == kNever || held_back == 0) return;
    // When a bin ends less may be expected; when patience ends the job is favoured.
    const auto* told = view.Find<ForecastState>();
    const double bin_over = told != nullptr ? told->BinEnd() : forecast_.BinEnd();
    const double patience_over = first_waiting_ + options_.patience_s;
    decision.wake_at = std::min({decision.wake_at, bin_over, patience_over});
  }

 private:
  enum class Class : char { kUnknown, kOther, kFavoured };
  bool Favoured(int job) const { return class_[U(job)] == Class::kFavoured; }
  void Classify(const ClusterView& view, int job) {
    const bool favoured =
        view.Weight(job) >= options_.urgent || RequestedSeconds(view, job) <= options_.short_s;
    class_[U(job)] = favoured ? Class::kFavoured : Class::kOther;
  }

  void CountArrivals(const ClusterView& view) {
    forecast_.Advance(view.now());
    for (int job : view.arrived()) {
      Classify(view, job);
      ++arrivals_;
      if (!Favoured(job)) continue;
      const double brings = view.Gang(job) * RequestedSeconds(view, job);
      work_ += brings;
      forecast_.Count(brings);
      for (int type = 0; type < view.num_types(); ++type)
        speed_[U(type)] += view.Rate(job, type) / view.BestRate(job);
    }
  }

  // GPUs that favoured jobs hold, the largest gang of the others by type, and since when the first of them
  // waits.
  void CountHeld(const ClusterView& view) {
    held_.assign(U(view.num_types()), 0);
    largest_.assign(U(view.num_types()), 0);
    first_waiting_ = kNever;
    for (int job : view.active()) {
      if (class_[U(job)] == Class::kUnknown) Classify(view, job);  // it came before Reset
      if (view.IsWaiting(job) && view.now() >= view.Arrival(job) + options_.patience_s)
        class_[U(job)] = Class::kFavoured;
      if (Favoured(job)) {
        if (view.IsRunning(job)) held_[U(view.TypeOf(job))] += HeldInService(view, job);
        continue;
      }
      if (view.IsWaiting(job)) first_waiting_ = std::min(first_waiting_, view.Arrival(job));
      for (int type = 0; type < view.num_types(); ++type) {
        if (view.Rate(job, type) > 0.0) largest_[U(type)] = std::max(largest_[U(type)], view.Gang(job));
      }
    }
  }

  // GPU-seconds that favoured jobs will bring within the horizon.
  double Expected(const ClusterView& view) const {
    const auto* told = view.Find<ForecastState>();
    if (told == nullptr) return forecast_.Expected(options_.horizon_s);
    return arrivals_ > 0.0 ? told->ExpectedJobs(options_.horizon_s) * work_ / arrivals_ : 0.0;
  }

  void Reserve(const ClusterView& view) {
    reserved_.assign(U(view.num_types()), 0);
    const double load = Expected(view) / options_.horizon_s;
    if (load <= 0.0) return;
    double wanted = std::ceil(load + options_.safety * std::sqrt(load));
    order_.resize(U(view.num_types()));
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return speed_[U(a)] > speed_[U(b)]; });
    for (int type : order_) {
      const int count = view.types()[U(type)].count;
      const int most = std::min(static_cast<int>(options_.most * count), count - largest_[U(type)]);
      const double here = std::min(wanted, static_cast<double>(std::max(0, most)));
      reserved_[U(type)] = static_cast<int>(here);
      wanted -= here;
    }
  }

  // Shows `inner` its jobs; it may hold what they hold and take what is left.
  void Ask(const ClusterView& view, Inner& inner, bool favoured, Decision& decision) {
    inner.Begin(view);
    const std::vector<int>& left = shares_.left();
    std::vector<int>& may_hold = order_;  // [G]
    may_hold = left;
    for (int job : view.running()) {
      if (Favoured(job) == favoured) may_hold[U(view.TypeOf(job))] += HeldInService(view, job);
    }
    for (int type = 0; type < view.num_types(); ++type) inner.Limit(type, may_hold[U(type)], left[U(type)]);
    for (int job : view.active()) {
      if (Favoured(job) == favoured) inner.Show(view, job);
    }
    shares_.Decide(view, inner, decision);
  }

  ReservationOptions options_;
  ArrivalForecast forecast_;
  Inner favoured_inner_, other_inner_;
  Shares shares_{kWho};
  std::vector<Class> class_;            // [J]
  std::vector<double> speed_;           // [G] of favoured jobs so far, of their fastest type
  std::vector<int> held_, reserved_;    // [G] GPUs
  std::vector<int> largest_;            // [G] the largest gang of the others
  std::vector<int> order_;              // scratch
  double arrivals_ = 0.0, work_ = 0.0;  // jobs so far, and GPU-seconds of the favoured among them
  double first_waiting_ = kNever;       // s, earliest arrival of the others that wait
};

}  // namespace

SchedulerInfo ReservationInfo() {
  return {"reservation",
          "holds GPUs back for short and urgent jobs that are forecast to arrive; O(n G) + inner's",
          "Berth: forecasts (Holt-Winters and others) with square-root staffing, Halfin & Whitt 1981",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kReservationParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            ReservationOptions options;
            options.short_s = params.Number("short", 0.0, kNever);
            options.urgent = params.Number("urgent", 0.0, kNever);
            options.bin_s = params.Number("bin", 1e-3, 1e12);
            options.horizon_s = params.Number("horizon", 1e-3, 1e12);
            options.safety = params.Number("safety", 0.0, 1e6);
            options.most = params.Number("most", 0.0, 1.0);
            options.patience_s = params.Number("patience", 0.0, kNever);
            options.forecaster = params.Text("forecaster");
            const std::string inner = params.Text("inner");
            try {
              return std::make_unique<Reservation>(options, inner);
            } catch (const Error& error) {
              const std::string what = error.what();
              if (what.rfind(kWho, 0) == 0) throw;
              throw Error(Join(kWho, ": parameter 'forecaster': ", what));
            }
          },
          /*claims=*/{.types = false, .times = false}};
}

}  // namespace berth
