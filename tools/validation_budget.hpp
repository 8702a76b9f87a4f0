// How much validating a training affords by itself: a tenth of its own time, measured.
#pragma once

namespace berth {

class ValidationBudget {
 public:
  static constexpr double kShare = 0.1;         // of the training's time
  static constexpr double kShortest = 2.0;      // s: a training that is over before is not validated
  static constexpr int kFewest = 2, kMost = 8;  // workloads
  static constexpr int kTimes = 3;  // validations that workloads are counted for, where there is time

  // `baselines`: schedulers that the first validation measures beside the policy.
  explicit ValidationBudget(int baselines) : baselines_(baselines) {}

  // `wall_s` of training are over, `fraction` of all of it: is it time to time a run (Plan)? Once, and again
  // at the end where the first one took too long: others may have had the cores.
  bool WantsPlan(double wall_s, double fraction) const;
  // `run_s`: what a run of the policy on one workload took.
  void Plan(double wall_s, double fraction, double run_s);
  int workloads() const { return workloads_; }  // of a validation; 0: it affords none

  // Is a validation paid for by what is over, and the last one (fraction 1) after it by the rest?
  bool Affords(double wall_s, double fraction) const;
  void Spend(double seconds, bool validation);  // on one, or on planning

 private:
  double Cost(bool first) const;  // s of a validation: two runs a workload, and the baselines' in the first

  int baselines_, workloads_ = 0;
  bool planned_ = false, any_ = false;
  double run_s_ = 0.0, spent_s_ = 0.0;
};

}  // namespace berth
