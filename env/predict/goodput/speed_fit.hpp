// The speed model of a job from what the job has seen so far (Qiao et al., Pollux, OSDI 2021, section 4.1;
// `fit_perf_params` of petuum/adaptdl, osdi21-artifact, simulator/goodput.py).
//
// With what was not seen the fit is hopeful, so that a job is let try it:
//   one atomic batch only           alpha_c is half of the mean computing time
//   nothing on several nodes        alpha_n, beta_n are at least 1.1 alpha_r, 1.1 beta_r
//   nothing on several GPUs a node  alpha_r = beta_r = 1e-8
//   never more than two replicas    beta_n = beta_r = 1e-8 (before the second line)
#pragma once

#include <span>

#include "env/predict/goodput/speed_model.hpp"

namespace berth::goodput {

struct Observation {
  Shape shape;
  int atomic = 1;
  StepTime time;  // s, both > 0
};

// RMSLE of compute + RMSLE of step + 1e-3 (gamma - 1)^2 + 1e-2 ((beta_n / alpha_n)^2 + (beta_r / alpha_r)^2);
// RMSLE: root mean square of the difference of logarithms. `observations` not empty.
double FitLoss(const SpeedModel& model, std::span<const Observation> observations);

// Least loss with every alpha and beta >= 1e-8, gamma in [1, 10] and what the table above fixes: a local
// minimum, from adaptdl's start. `observations`: not empty, positive times (BERTH_CHECK). Any thread; a
// tenth or two of a millisecond for ten observations.
SpeedModel FitSpeed(std::span<const Observation> observations);

}  // namespace berth::goodput
