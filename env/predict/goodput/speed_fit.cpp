// The loss is a sum of two norms of residuals and of squares. Its model at a point takes residuals as linear
// (Gauss-Newton) and keeps the norms' own curvature; Levenberg's and Marquardt's damping makes steps safe,
// and bounds that a step would leave are held. Where a norm comes near 0, as with few observations, the loss
// has a kink: roots are of mean + epsilon^2, with epsilon small, then smaller. (scipy's L-BFGS-B, which
// adaptdl uses, stops at such kinks.)
#include "env/predict/goodput/speed_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"
#include "env/predict/goodput/speed_box.hpp"

namespace berth::goodput {
namespace {

using Matrix = std::array<Values, kUnknowns>;

struct Norm {  // of residuals r [n]: sums of r^2, r J, J'J
  double square = 0.0;
  Values slope{};
  Matrix product{};
  void Add(double r, const Values& d) {
    square += r * r;
    for (int i = 0; i < kUnknowns; ++i) {
      slope[i] += r * d[i];
      for (int j = 0; j <= i; ++j) product[i][j] += d[i] * d[j];
    }
  }
};

struct Point {
  Values x{};
  double loss = std::numeric_limits<double>::infinity();
  Values slope{};
  Matrix curvature{}, damping{};  // lower triangles; damping: without the norms' radial part, diagonal used
};

class Fit {
 public:
  explicit Fit(std::span<const Observation> seen) : box_(BoxOf(seen)), rows_(RowsOf(seen)) {}

  Values Solve() const {
    Values x = box_.start;
    for (const double epsilon : {1e-2, 1e-3, 1e-4, 1e-6, 1e-9}) x = Descend(x, epsilon);
    return x;
  }

 private:
  Values Descend(const Values& from, double epsilon) const {
    Point at = Evaluate(from, epsilon, true);
    double damping = 1e-3;
    for (int i = 0; i < 200; ++i) {
      const Values x = Step(at, damping);
      if (x == at.x) break;
      const double loss = Evaluate(x, epsilon, false).loss;
      if (loss < at.loss) {
        const double won = at.loss - loss;
        at = Evaluate(x, epsilon, true);
        damping = std::max(damping * 0.2, 1e-9);
        if (won < 1e-12) break;
      } else {
        damping *= 5.0;
        if (damping > 1e9) break;
      }
    }
    return at.x;
  }

  Point Evaluate(const Values& x, double epsilon, bool derivatives) const {
    const double gamma = x[kGamma], count = static_cast<double>(rows_.size());
    Norm compute, step;
    for (const Row& row : rows_) {
      const double c = x[kAlphaC] + x[kBetaC] * row.atomic;
      const double n = row.alpha < 0 ? SpeedModel::kTiny + SpeedModel::kTiny * row.beyond
                                     : x[row.alpha] + x[row.alpha + 1] * row.beyond;
      const double log_c = Log(c), log_n = Log(n);
      // (c^gamma + n^gamma)^(1/gamma) by way of the larger one: nothing overflows
      const double more = std::max(log_c, log_n), ratio = Exp(gamma * (std::min(log_c, log_n) - more));
      const double log_t = more + Log(1.0 + ratio) / gamma;
      const double u = log_c - row.log_compute, v = log_t - row.log_step;
      if (!derivatives) {
        compute.square += u * u;
        step.square += v * v;
        continue;
      }
      const double of_less = ratio / (1.0 + ratio);
      const double of_c = log_c >= log_n ? 1.0 - of_less : of_less, of_n = 1.0 - of_c;
      Values d{};
      d[kAlphaC] = 1.0 / c;
      d[kBetaC] = row.atomic / c;
      compute.Add(u, d);
      d[kAlphaC] *= of_c;
      d[kBetaC] *= of_c;
      if (row.alpha >= 0) {
        d[row.alpha] = of_n / n;
        d[row.alpha + 1] = of_n * row.beyond / n;
      }
      d[kGamma] = (of_c * log_c + of_n * log_n - log_t) / gamma;
      step.Add(v, d);
    }
    Point at;
    at.x = x;
    at.loss = 0.0;
    for (const Norm* norm : {&compute, &step}) {
      const double root = std::sqrt(norm->square / count + epsilon * epsilon);
      at.loss += root;
      if (!derivatives) continue;
      const double weight = 1.0 / (count * root), radial = weight * weight / root;
      for (int i = 0; i < kUnknowns; ++i) {
        at.slope[i] += weight * norm->slope[i];
        at.damping[i][i] += weight * norm->product[i][i];
        for (int j = 0; j <= i; ++j)
          at.curvature[i][j] += weight * norm->product[i][j] - radial * norm->slope[i] * norm->slope[j];
      }
    }
    at.loss += kGammaWeight * (gamma - 1.0) * (gamma - 1.0);
    at.slope[kGamma] += 2.0 * kGammaWeight * (gamma - 1.0);
    at.curvature[kGamma][kGamma] += 2.0 * kGammaWeight;
    at.damping[kGamma][kGamma] += 2.0 * kGammaWeight;
    for (const int alpha : {kAlphaN, kAlphaR}) {
      const double q = x[alpha + 1] / x[alpha], by_beta = 1.0 / x[alpha], by_alpha = -q / x[alpha];
      at.loss += kBetaWeight * q * q;
      at.slope[alpha] += 2.0 * kBetaWeight * q * by_alpha;
      at.slope[alpha + 1] += 2.0 * kBetaWeight * q * by_beta;
      at.curvature[alpha][alpha] += 2.0 * kBetaWeight * by_alpha * by_alpha;
      at.curvature[alpha + 1][alpha] += 2.0 * kBetaWeight * by_alpha * by_beta;
      at.curvature[alpha + 1][alpha + 1] += 2.0 * kBetaWeight * by_beta * by_beta;
      at.damping[alpha][alpha] += 2.0 * kBetaWeight * by_alpha * by_alpha;
      at.damping[alpha + 1][alpha + 1] += 2.0 * kBetaWeight * by_beta * by_beta;
    }
    return at;
  }

  // Where the damped model is least inside the box, but for which bounds are left again.
  Values Step(const Point& at, double damping) const {
    Values x = at.x;
    std::array<bool, kUnknowns> held{};
    for (int i = 0; i < kUnknowns; ++i) {
      held[i] = (at.x[i] <= box_.low[i] && at.slope[i] >= 0.0) ||
                (at.x[i] >= box_.high[i] && at.slope[i] <= 0.0) || at.damping[i][i] <= 0.0;
    }
    for (int round = 0; round < kUnknowns; ++round) {
      Values d{};
      SolveFree(at, damping, held, x, d);
      int worst = -1;
      double least = 1.0;
      for (int i = 0; i < kUnknowns; ++i) {
        if (held[i]) continue;
        const double to = at.x[i] + d[i];
        const double bound = to < box_.low[i] ? box_.low[i] : to > box_.high[i] ? box_.high[i] : to;
        if (bound == to) continue;
        const double share = (bound - at.x[i]) / d[i];
        if (share < least) least = share, worst = i;
      }
      if (worst < 0) {
        for (int i = 0; i < kUnknowns; ++i)
          if (!held[i]) x[i] = at.x[i] + d[i];
        return x;
      }
      x[worst] = d[worst] < 0.0 ? box_.low[worst] : box_.high[worst];
      held[worst] = true;
    }
    return x;
  }

  // d of the unknowns that are not held; held ones move from at.x to x. Cholesky.
  static void SolveFree(const Point& at, double damping, const std::array<bool, kUnknowns>& held,
                        const Values& x, Values& d) {
    std::array<int, kUnknowns> free{};
    int n = 0;
    for (int i = 0; i < kUnknowns; ++i)
      if (!held[i]) free[n++] = i;
    const auto entry = [&at](int i, int j) { return i >= j ? at.curvature[i][j] : at.curvature[j][i]; };
    Matrix l{};
    Values y{};
    for (int a = 0; a < n; ++a) {
      const int i = free[a];
      double right = -at.slope[i];
      for (int j = 0; j < kUnknowns; ++j)
        if (held[j]) right -= entry(i, j) * (x[j] - at.x[j]);
      for (int b = 0; b <= a; ++b) {
        double sum = entry(i, free[b]);
        if (a == b) sum += damping * at.damping[i][i];
        for (int k = 0; k < b; ++k) sum -= l[a][k] * l[b][k];
        if (a == b) {
          l[a][a] = std::sqrt(std::max(sum, 1e-14 * at.damping[i][i]));
        } else {
          l[a][b] = sum / l[b][b];
        }
      }
      for (int k = 0; k < a; ++k) right -= l[a][k] * y[k];
      y[a] = right / l[a][a];
    }
    for (int a = n - 1; a >= 0; --a) {
      for (int k = a + 1; k < n; ++k) y[a] -= l[k][a] * y[k];
      y[a] /= l[a][a];
      d[free[a]] = y[a];
    }
  }

  Box box_;
  std::vector<Row> rows_;
};

}  // namespace

double FitLoss(const SpeedModel& model, std::span<const Observation> observations) {
  double compute = 0.0, step = 0.0;
  for (const Observation& o : observations) {
    const StepTime time = model.At(o.shape).Time(o.atomic);
    const double u = Log(time.compute) - Log(o.time.compute), v = Log(time.step) - Log(o.time.step);
    compute += u * u;
    step += v * v;
  }
  const double count = static_cast<double>(observations.size()), gamma = model.gamma - 1.0;
  const double n = model.beta_n / model.alpha_n, r = model.beta_r / model.alpha_r;
  return std::sqrt(compute / count) + std::sqrt(step / count) + kGammaWeight * gamma * gamma +
         kBetaWeight * (n * n + r * r);
}

SpeedModel FitSpeed(std::span<const Observation> observations) {
  BERTH_CHECK(!observations.empty(), "nothing seen");
  return Finished(ModelOf(Fit(observations).Solve()), observations);
}

}  // namespace berth::goodput
