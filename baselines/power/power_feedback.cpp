// Feedback control of admission: as many GPUs are let to the inner scheduler as hold the measured power at
// a target, whatever jobs draw. A proportional-integral controller in its velocity form, a step for every
// sample of the feature monitoring:
//
//   error_k = target - (watts_k - idle) / (peak - idle)                       of the whole cluster
//   x_k = x_{k-1} + kp (error_k - error_{k-1}) + ki error_k, kept in [0, 1]   share of the GPUs let out
//
// A step up counts only where somebody was held back: with an idle cluster x would rise for nothing, and
// let a burst through. x_0 = target, which is right if every job draws peak power. Lefurgy, Wang & Ware,
// "Power capping: a prelude to power shifting", Cluster Computing 2008 (control of measured power);
// Hellerstein, Diao, Parekh & Tilbury, Feedback Control of Computing Systems, 2004, ch. 9 (PI admission,
// anti-windup by the limits).
//
// What was admitted stays so; a job that finds nothing running is admitted, whatever it asks for. Without
// monitoring everybody is.
#include <algorithm>

#include "baselines/composition/inner.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/monitoring/monitoring.hpp"

namespace berth {
namespace {

constexpr ParamInfo kPowerFeedbackParams[] = {
    {"target", "0.7", "share of the span from idle to peak power that the cluster is to draw, 0 to 1"},
    {"kp", "0", "proportional gain"},
    {"ki", "0.3", "integral gain"},
    {"inner", "fcfs", "the scheduler of those admitted"},
};

class PowerFeedback final : public Scheduler {
 public:
  PowerFeedback(double target, double kp, double ki, Inner inner)
      : target_(target), kp_(kp), ki_(ki), inner_(std::move(inner)) {}
  Knowledge knowledge() const override { return inner_.knowledge(); }
  bool resizes() const override { return inner_.resizes(); }

  void Reset(const ClusterView& view) override {
    inner_.Reset(view);
    admitted_.assign(U(view.num_jobs()), 0);
    share_ = target_;
    error_ = 0.0;
    full_ = false;
    const auto* series = view.Find<MonitoringState>();
    samples_ = series == nullptr ? 0 : series->samples();
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    const MonitoringState* series = view.Find<MonitoringState>();
    if (series != nullptr) Control(view, *series);
    inner_.Begin(view);
    double gpus = 0.0, used = 0.0;
    for (const GpuType& type : view.types()) gpus += type.count;
    for (int job : view.active()) {
      if (view.LastTypeOf(job) >= 0) admitted_[U(job)] = 1;  // it has run
      if (admitted_[U(job)] != 0) used += view.Gang(job);
    }
    full_ = false;
    for (int job : view.active()) {
      if (admitted_[U(job)] == 0) {
        full_ = full_ || (series != nullptr && used > 0.0 && used + view.Gang(job) > share_ * gpus);
        if (full_) continue;  // in the order of arrival
        admitted_[U(job)] = 1;
        used += view.Gang(job);
      }
      inner_.Show(view, job);
    }
    inner_.Decide(view, decision);
    if (full_) {
      const double last = series->time.empty() ? 0.0 : series->time.back();
      decision.wake_at =
          std::min(decision.wake_at, last + view.features().Find<MonitoringSettings>()->interval_s);
    }
  }

 private:
  void Control(const ClusterView& view, const MonitoringState& series) {
    double idle = 0.0, peak = 0.0;
    for (const GpuType& type : view.types()) {
      idle += type.count * type.idle_power_w;
      peak += type.count * type.peak_power_w;
    }
    for (; samples_ < series.samples(); ++samples_) {
      if (peak <= idle) continue;  // nothing to control
      const double error = target_ - (series.watts[U(samples_)] - idle) / (peak - idle);
      const double step = kp_ * (samples_ > 0 ? error - error_ : 0.0) + ki_ * error;
      if (full_ || step < 0.0) share_ = std::clamp(share_ + step, 0.0, 1.0);
      error_ = error;
    }
  }

  double target_, kp_, ki_;
  Inner inner_;
  std::vector<char> admitted_;  // [J]
  double share_ = 1.0, error_ = 0.0;
  bool full_ = false;  // somebody was held back at the last decision
  int samples_ = 0;    // acted on
};

}  // namespace

SchedulerInfo PowerFeedbackInfo() {
  return {"power_feedback",
          "admits jobs so that the measured power stays at a target, by PI control; O(n) + inner's",
          "Lefurgy, Wang & Ware 2008; Hellerstein, Diao, Parekh & Tilbury 2004 (PI control)",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kPowerFeedbackParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const double target = params.Number("target", 0.0, 1.0);
            const double kp = params.Number("kp", 0.0, 100.0), ki = params.Number("ki", 0.0, 100.0);
            return std::make_unique<PowerFeedback>(
                target, kp, ki, Inner("power_feedback: parameter 'inner'", params.Text("inner")));
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
