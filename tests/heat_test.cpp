// Temperatures (env/features/power/heat.hpp) against the differential equation integrated step by step.
#include "env/features/power/heat.hpp"

#include <cmath>

#include "env/sim/scenario.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

constexpr double kTwoPi = 6.283185307179586;

double Outside(const Surroundings& a, double t) {
  return a.mean_c + a.swing_c * std::sin(kTwoPi * (t / 86400.0 - (a.hottest_h - 6.0) / 24.0));
}

// Runge and Kutta's fourth-order method, by the equation alone.
double Integrated(const HeatPath& path, double until, int steps) {
  const double h = (until - path.since) / steps;
  const auto slope = [&](double t, double c) {
    return (Outside(path.around, t) + path.rise_c - c) / path.tau_s;
  };
  double c = path.start_c, t = path.since;
  for (int i = 0; i < steps; ++i, t += h) {
    const double k1 = slope(t, c), k2 = slope(t + h / 2, c + h / 2 * k1),
                 k3 = slope(t + h / 2, c + h / 2 * k2), k4 = slope(t + h, c + h * k3);
    c += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return c;
}

}  // namespace

TEST_CASE("heat: the closed form solves the equation, day and night") {
  for (const double swing : {0.0, 7.0}) {
    for (const double tau : {30.0, 900.0, 40000.0}) {
      const HeatPath path{{22.0, swing, 15.0}, 1234.5, 31.0, 44.0, tau};
      for (const double after : {0.1 * tau, tau, 3.0 * tau}) {
        CAPTURE(swing, tau, after);
        CHECK(path.At(path.since + after) ==
              Approx(Integrated(path, path.since + after, 2000)).epsilon(1e-9));
      }
    }
  }
  CHECK(Surroundings{20.0, 5.0, 15.0}.At(15.0 * 3600.0) == Approx(25.0).epsilon(1e-14));
  CHECK(Surroundings{20.0, 5.0, 15.0}.At(3.0 * 3600.0 + 86400.0) == Approx(15.0).epsilon(1e-14));
  for (double hour = 0.0; hour < 24.0; hour += 0.37) {
    CHECK(Surroundings{20.0, 5.0, 14.0}.At(hour * 3600.0) ==
          Approx(Outside({20.0, 5.0, 14.0}, hour * 3600.0)).epsilon(1e-13));
  }
}

TEST_CASE("heat: a crossing in constant surroundings is where the logarithm says") {
  const HeatPath path{{20.0, 0.0, 15.0}, 100.0, 30.0, 70.0, 50.0};  // towards 90 C
  CHECK(path.Crossing(80.0, true) == Approx(100.0 + 50.0 * std::log(60.0 / 10.0)).epsilon(1e-14));
  CHECK(path.At(path.Crossing(80.0, true)) == Approx(80.0).margin(1e-9));
  CHECK(path.Crossing(90.0, true) == kNever);
  CHECK(path.Crossing(25.0, true) == 100.0);    // it is there
  CHECK(path.Crossing(25.0, false) == kNever);  // it warms
}

TEST_CASE("heat: with a swing no crossing is passed, and the first is found by asking again") {
  for (const bool rising : {true, false}) {
    for (double limit = 60.0; limit <= 84.0; limit += 1.5) {
      HeatPath path{{20.0, 8.0, 15.0}, 5000.0, rising ? 25.0 : 95.0, 55.0, 600.0};  // 67 to 83 C in the end
      const double sign = rising ? 1.0 : -1.0;
      double first = kNever;  // by looking every second
      for (double t = path.since; t < path.since + 2.0 * 86400.0 && first == kNever; t += 1.0) {
        if (sign * (path.At(t) - limit) >= 0.0) first = t;
      }
      double asked = path.Crossing(limit, rising);
      for (int again = 0; again < 100 && asked < path.since + 2.0 * 86400.0; ++again) {
        if (std::abs(path.At(asked) - limit) <= kThereC) break;
        HeatPath on = path;
        on.since = asked, on.start_c = path.At(asked);
        asked = on.Crossing(limit, rising);
      }
      CAPTURE(rising, limit, first);
      if (first == kNever) {
        CHECK(asked >= path.since + 2.0 * 86400.0);
      } else {
        CHECK(asked <= first + 1e-3);
        CHECK(asked >= first - 1.0 - 1e-3);
      }
    }
  }
}

}  // namespace berth
