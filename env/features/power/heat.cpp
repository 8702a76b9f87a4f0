#include "env/features/power/heat.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/portable_math.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

constexpr double kDay = 86400.0;
constexpr double kTwoPi = 6.28318530717958647693;

struct Angle {
  double sin, cos;
};

// Of `turns` full turns, to the same bits everywhere: Taylor series on an eighth of a turn. An error of the
// argument of one part in 10^16 is all that is left.
Angle OfTurns(double turns) {
  turns -= std::floor(turns);
  const int quarter = static_cast<int>(std::floor(turns * 4.0 + 0.5));  // nearest, 0..4
  const double x = (turns - 0.25 * quarter) * kTwoPi;                   // within pi / 4
  const double x2 = x * x;
  double sin = 0.0, cos = 0.0;
  for (int k = 8; k >= 0; --k) {  // Horner: (2k)! and (2k + 1)! term by term
    cos = 1.0 - x2 / ((2.0 * k + 1.0) * (2.0 * k + 2.0)) * cos;
    sin = 1.0 - x2 / ((2.0 * k + 2.0) * (2.0 * k + 3.0)) * sin;
  }
  sin *= x;
  switch (quarter % 4) {
    case 0:
      return {sin, cos};
    case 1:
      return {cos, -sin};
    case 2:
      return {-sin, -cos};
    default:
      return {-cos, sin};
  }
}

Angle AngleAt(double t, double hottest_h) {
  return OfTurns(t / kDay - (hottest_h - 6.0) / 24.0);
}

}  // namespace

double Surroundings::At(double t) const {
  return swing_c == 0.0 ? mean_c : mean_c + swing_c * AngleAt(t, hottest_h).sin;
}

double HeatPath::Settled(double t) const {
  const double level = around.mean_c + rise_c;
  if (around.swing_c == 0.0) return level;
  const Angle angle = AngleAt(t, around.hottest_h);
  const double lag = kTwoPi / kDay * tau_s;
  return level + around.swing_c * (angle.sin - lag * angle.cos) / (1.0 + lag * lag);
}

double HeatPath::At(double t) const {
  if (t <= since) return start_c;
  return Settled(t) + (start_c - Settled(since)) * Exp(-(t - since) / tau_s);
}

double HeatPath::Crossing(double limit_c, bool rising) const {
  const double sign = rising ? 1.0 : -1.0;
  if (sign * (start_c - limit_c) >= 0.0) return since;
  if (around.swing_c == 0.0) {
    const double settled = Settled(since);
    if (sign * (settled - limit_c) <= 0.0) return kNever;
    return since + tau_s * Log((start_c - settled) / (limit_c - settled));
  }
  // Forward by what is missing over the fastest that it can move, so that no crossing is passed.
  const double lag = kTwoPi / kDay * tau_s;
  const double day = kTwoPi / kDay * around.swing_c / std::sqrt(1.0 + lag * lag);
  const double apart = std::abs(start_c - Settled(since));
  double t = since;
  for (int step = 0; step < 1000 && t < since + kDay; ++step) {
    const double missing = sign * (limit_c - At(t));
    if (missing <= 0.5 * kThereC) return t;
    t += missing / (day + apart / tau_s * Exp(-(t - since) / tau_s));
  }
  return std::min(t, since + kDay);
}

}  // namespace berth
