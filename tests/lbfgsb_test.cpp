// L-BFGS-B and its line search against scipy 1.11.4's (and 1.17.1's) minimize(method="L-BFGS-B") from the same
// starts, with exact gradients: where they end, and after how many iterations and evaluations.
#include "env/base/lbfgsb.hpp"

#include <cmath>
#include <limits>

#include "env/base/line_search.hpp"
#include "env/predict/goodput/published_fit.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

double Rosenbrock(std::span<const double> x, std::span<double> g) {
  double f = 0.0;
  std::fill(g.begin(), g.end(), 0.0);
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double t = x[i + 1] - x[i] * x[i], u = 1.0 - x[i];
    f += 100.0 * t * t + u * u;
    g[i] += -400.0 * x[i] * t - 2.0 * u;
    g[i + 1] += 200.0 * t;
  }
  return f;
}

// x'Ax / 2 - b'x, A = [4 1 0; 1 3 -1; 0 -1 2], b = (1, -8, 5)
double Quadratic(std::span<const double> x, std::span<double> g) {
  const double ax[] = {4.0 * x[0] + x[1], x[0] + 3.0 * x[1] - x[2], 2.0 * x[2] - x[1]}, b[] = {1.0, -8.0, 5.0};
  double f = 0.0;
  for (std::size_t i = 0; i < 3; ++i) f += 0.5 * x[i] * ax[i] - b[i] * x[i], g[i] = ax[i] - b[i];
  return f;
}

struct BoundedCase {
  Objective objective;
  std::vector<double> start, low, high, x;
  int iterations, evaluations;
  LbfgsbResult::End end;
  double tolerance = 0.0;  // scipy's tol; 0 = none given
};

LbfgsbResult Solved(const BoundedCase& one) {
  LbfgsbOptions options;
  if (one.tolerance > 0.0) options.decrease = options.gradient = one.tolerance;
  return MinimizeLbfgsb(one.objective, one.start, one.low, one.high, options);
}

}  // namespace

TEST_CASE("L-BFGS-B ends where scipy's does, after as many steps") {
  using End = LbfgsbResult::End;
  const BoundedCase cases[] = {
      {Rosenbrock, {-1.2, 1.0}, {-2, -2}, {2, 2}, {0.9999999864905061, 0.9999999685713323}, 33, 46, End::kGradient},
      {Rosenbrock, {-1.2, 1.0}, {-2, -2}, {0.5, 2}, {0.5, 0.25}, 20, 30, End::kGradient},
      {Rosenbrock, {-1.2, 1.0}, {-kNone, -kNone}, {kNone, kNone}, {0.999998945349285, 0.999998020905738}, 36, 44,
       End::kDecrease},
      {Rosenbrock, {-1.2, 1.0}, {-kNone, -kNone}, {kNone, kNone}, {1.000000004003926, 1.0000000081090212}, 37, 45,
       End::kDecrease, 1e-10},
      {Rosenbrock, {3.0, -1.0}, {1.5, -kNone}, {kNone, 2.0}, {1.5, 2.0}, 5, 6, End::kGradient},
      {Rosenbrock, {-1, 1, -1, 1, -1}, {-kNone, 0.3, -kNone, -1, -2}, {0.8, kNone, kNone, 0.4, 2},
       {-0.8834660132101214, 0.7911723194212548, 0.6313710009301203, 0.4, 0.16000013356090928}, 28, 41,
       End::kDecrease},
      // one of three is fixed, the least is at the bound of another
      {Quadratic, {0, 0, 0}, {-1, -1, 0.5}, {1, 1, 0.5}, {0.5, -1.0, 0.5}, 3, 4, End::kGradient},
      {Quadratic, {0, 0, 0}, {-1, -1, -kNone}, {1, 1, kNone}, {0.49999995272736975, -1.0, 2.0000000056147584}, 6, 7,
       End::kGradient},
      {Quadratic, {0, 0, 0}, {0, 0, 0}, {kNone, kNone, kNone}, {0.2499999786546592, 0.0, 2.500000430846525}, 5, 6,
       End::kGradient},
  };
  for (const BoundedCase& one : cases) {
    const LbfgsbResult found = Solved(one);
    CAPTURE(one.x[0], one.low[0], found.x[0], found.x[1]);
    CHECK(found.iterations == one.iterations);
    CHECK(found.evaluations == one.evaluations);
    CHECK(found.end == one.end);
    for (std::size_t i = 0; i < one.x.size(); ++i) CHECK(found.x[i] == Approx(one.x[i]).margin(1e-9));
  }
}

// |x - 0.3| + x^2 / 10 has no slope of 0, and rounding decides on which side of the kink it is looked at. On the way
// the curvature that was learned in a step to a bound turns out to be no use, and is forgotten.
TEST_CASE("L-BFGS-B stops at a kink as scipy's does") {
  const auto kink = [](std::span<const double> x, std::span<double> g) {
    g[0] = (x[0] > 0.3 ? 1.0 : x[0] < 0.3 ? -1.0 : 0.0) + 0.2 * x[0];
    return std::abs(x[0] - 0.3) + 0.1 * x[0] * x[0];
  };
  const LbfgsbResult found = Solved({kink, {2.0}, {-5.0}, {5.0}, {}, 0, 0, LbfgsbResult::End::kDecrease});
  CHECK(found.x[0] == Approx(0.299999999184344).epsilon(1e-13));
  CHECK(found.iterations == 8);
  CHECK(found.evaluations == 46);
}

// sqrt(1 + (s - 3)^2) from 0: the first step that lowers it by a thousandth of the slope's promise and leaves
// at most nine tenths of the slope. 0.1 is not far enough, 4.1 the most that may follow.
TEST_CASE("a step along a line is low and flat enough") {
  const auto value = [](double s) { return std::sqrt(1.0 + (s - 3.0) * (s - 3.0)); };
  const auto slope = [&](double s) { return (s - 3.0) / value(s); };
  LineSearch search({.curvature = 0.1}, value(0.0), slope(0.0), 0.1);
  int tried = 0;
  while (!search.Take(value(search.step()), slope(search.step()))) REQUIRE(++tried < 20);
  CHECK(tried > 0);
  CHECK(std::abs(slope(search.step())) <= 0.1 * -slope(0.0));
  CHECK(value(search.step()) <= value(0.0) + 1e-3 * search.step() * slope(0.0));
  LineSearch short_of_it({.largest = 0.5}, value(0.0), slope(0.0), 0.5);  // it still falls steeply there
  CHECK(short_of_it.Take(value(0.5), slope(0.5)));
}

// Made-up observations; scipy 1.11.4 with the artifacts' loss and automatic gradients, tol = 1e-5 and none.
// beta_n of the first is 1.1 times the lower bound, since nobody saw several nodes.
TEST_CASE("speeds are fitted to where the artifacts' scipy stops") {
  using goodput::Observation;
  using goodput::SpeedModel;
  struct Stop {
    std::vector<Observation> seen;
    double tolerance;
    SpeedModel model;
  };
  const std::vector<Observation> two = {{{1, 1}, 32, {0.1144, 0.1143}}, {{1, 2}, 32, {0.122, 0.1219}}},
                                 four = {{{1, 1}, 16, {0.082, 0.0819}}, {{1, 2}, 32, {0.1181, 0.118}},
                                         {{1, 4}, 64, {0.1679, 0.1664}}, {{2, 8}, 64, {0.2826, 0.174}}};
  const Stop stops[] = {
      {two, 1e-5, {0.05905, 0.00173095102321, 0.0165171555243, 1.1e-8, 0.0150155959312, 1e-8, 1.23189852338}},
      {two, 0.0, {0.05905, 0.00172968772247, 0.0165915321062, 1.1e-8, 0.0150832110056, 1e-8, 1.23171655684}},
      {four, 1e-5,
       {0.0544235506198, 0.00180036717952, 0.033921756317, 0.020138648549, 0.00908450027468, 1e-8, 1.25240968434}},
  };
  for (const Stop& stop : stops) {
    CAPTURE(stop.seen.size(), stop.tolerance);
    const SpeedModel found = goodput::FitSpeedAsPublished(stop.seen, stop.tolerance);
    const auto near = [](double x) { return Approx(x).epsilon(1e-6).margin(0.0); };
    CHECK(found.alpha_c == near(stop.model.alpha_c));
    CHECK(found.beta_c == near(stop.model.beta_c));
    CHECK(found.alpha_n == near(stop.model.alpha_n));
    CHECK(found.beta_n == near(stop.model.beta_n));
    CHECK(found.alpha_r == near(stop.model.alpha_r));
    CHECK(found.beta_r == near(stop.model.beta_r));
    CHECK(found.gamma == near(stop.model.gamma));
  }
}

}  // namespace berth
