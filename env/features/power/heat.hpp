// The temperature of a body that is heated with constant power in surroundings that are warm by day:
//
//   C dT/dt = P - (T - A(t)) / R,   A(t) = mean + swing sin(2 pi (t / 86400 s - (hottest hour - 6) / 24))
//
// With tau = R C and w = 2 pi / 86400 s its solution is
//
//   T(t) = S(t) + (T(t0) - S(t0)) exp(-(t - t0) / tau)
//   S(t) = mean + R P + swing (sin - w tau cos) / (1 + (w tau)^2)      (sin, cos at A's angle)
//
// (a linear equation; a GPU as one such body: Skadron et al., ISCA 2003).
#pragma once

namespace berth {

struct Surroundings {
  double mean_c = 25.0, swing_c = 0.0;
  double hottest_h = 15.0;  // h after time 0; below 0 = before it
  double At(double t) const;
};

struct HeatPath {
  Surroundings around;
  double since = 0.0;    // s
  double start_c = 0.0;  // T(since)
  double rise_c = 0.0;   // R P
  double tau_s = 1.0;

  double At(double t) const;  // t >= since
  // When it next stands at `limit_c`, coming from below (rising) or above, `since` where it is there already;
  // kNever = not while P stays. With a swing it may say a time at which it does not stand there yet and is to
  // be asked again, but never one after the crossing.
  double Crossing(double limit_c, bool rising) const;

 private:
  double Settled(double t) const;  // S(t)
};

// How near counts as there, K: what rounding leaves at times of years is far less.
inline constexpr double kThereC = 1e-6;

}  // namespace berth
