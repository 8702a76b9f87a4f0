// How long a training step takes: the seven-parameter model of Pollux (Qiao et al., OSDI 2021, section 3.2).
//
//   SpeedModel model{.alpha_c = 0.1, .beta_c = 0.01, .alpha_n = 0.2, .alpha_r = 0.05};
//   const StepTime time = model.At({.nodes = 2, .replicas = 8}).Time(/*atomic=*/32);
//   const double seconds = TotalTime(time, /*accumulation=*/1);
//
// A replica is one GPU. The atomic batch is what a replica computes at once. With `accumulation` s a step is
// s + 1 of them, and gradients are exchanged after the last.
#pragma once

namespace berth::goodput {

// replicas >= nodes >= 1
struct Shape {
  int nodes = 1;
  int replicas = 1;
  bool operator==(const Shape&) const = default;
};

// Seconds. `step`: an atomic batch and the exchange of gradients; `compute`: the batch alone.
struct StepTime {
  double step = 0.0;
  double compute = 0.0;
};

// Seconds of a step with `accumulation` extra atomic batches, T_iter of section 3.2:
// s T_grad + (T_grad^gamma + T_sync^gamma)^(1/gamma).
inline double TotalTime(const StepTime& time, int accumulation) {
  return time.step + accumulation * time.compute;
}

class ShapeTimes;

// The parameters, named as in `PerfParams` of petuum/adaptdl (goodput.py). A value type; any thread.
struct SpeedModel {
  static constexpr double kTiny = 1e-8;  // s: a network time that is none, as in adaptdl

  // alpha: s. beta_c: s a sample. beta_n, beta_r: s a replica beyond the second.
  double alpha_c = 0.0, beta_c = 0.0;  // computing
  double alpha_n = 0.0, beta_n = 0.0;  // exchange between nodes
  double alpha_r = 0.0, beta_r = 0.0;  // exchange within a node
  double gamma = 1.0;                  // overlap of both: 1 = none; 10 is nearly the larger of the two

  double Compute(int atomic) const { return alpha_c + beta_c * atomic; }  // T_grad, s
  double Network(Shape shape) const;                                      // T_sync, s; about 1e-8 on one GPU
  ShapeTimes At(Shape shape) const;

  bool operator==(const SpeedModel&) const = default;
};

// The model on one shape: what the network contributes is worked out once for all batches.
class ShapeTimes {
 public:
  ShapeTimes(const SpeedModel& model, Shape shape);
  StepTime Time(int atomic) const;  // atomic >= 1
  StepTime operator()(int atomic) const { return Time(atomic); }

 private:
  double alpha_c_, beta_c_, gamma_;
  double network_;  // to the power of gamma
};

}  // namespace berth::goodput
