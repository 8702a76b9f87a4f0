// The speed model that the published simulators of Pollux and Sia give a job: the same loss, bounds and start
// as FitSpeed, least by L-BFGS-B. That stops where the loss has kinks, and early where its tolerance is wide,
// so it is a worse model than FitSpeed's; a job that has it chooses other batches.
#pragma once

#include <span>

#include "env/predict/goodput/speed_fit.hpp"

namespace berth::goodput {

// `tolerance`: scipy.optimize.minimize's `tol`, 1e-5 in Sia (siasosp23/artifacts, goodput.py); 0 = its
// defaults, as in Pollux (petuum/adaptdl, osdi21-artifact). `observations` in the order in which they were
// made: not empty, positive times (BERTH_CHECK). Any thread; a tenth of a millisecond or less.
SpeedModel FitSpeedAsPublished(std::span<const Observation> observations, double tolerance);

}  // namespace berth::goodput
