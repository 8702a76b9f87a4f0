#include "baselines/gavel/nash_welfare.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "baselines/gavel/objective_list.hpp"
#include "env/portable_math.hpp"

namespace berth::gavel {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

constexpr double kFall = 0.2;        // of mu, from one centre to the next
constexpr double kLeastMu = 1e-14;
constexpr int kNewtonSteps = 50;     // per centre
constexpr double kCentred = 1e-6;    // squared Newton decrement, in units of mu

class Barrier {
 public:
  explicit Barrier(const Problem& problem)
      : problem_(problem), m_(problem.jobs()), types_(problem.types()), worth_(m_, types_), x_(m_, types_) {
    const std::vector<double> proportional = ProportionalThroughput(problem);
    double gangs = 0.0;
    for (int i = 0; i < m_; ++i) gangs += problem.gang[U(i)];
    for (int i = 0; i < m_; ++i) {
      const double scale = problem.gang[U(i)] / (problem.weight[U(i)] * proportional[U(i)]);
      for (int j = 0; j < types_; ++j) {
        worth_(i, j) = problem.throughput[problem.at(i, j)] * scale;
        x_(i, j) = 0.5 * std::min(1.0 / types_, problem.workers[U(j)] / gangs);
      }
    }
  }

  bool Run(NashAnswer& answer) {
    answer.gap = 1e300;
    for (double mu = 1.0; mu > kLeastMu && answer.gap > kNashGap * m_; mu *= kFall) {
      Centre(mu);
      const double gap = Gap(mu);
      if (!(gap < answer.gap)) break;
      answer.gap = gap;
      answer.x.resize(U(m_) * U(types_));
      for (int i = 0; i < m_; ++i) {
        for (int j = 0; j < types_; ++j) answer.x[problem_.at(i, j)] = x_(i, j);
      }
    }
    if (answer.gap > kNashGap * m_) return false;
    answer.utility.assign(U(m_), 0.0);
    double sum = 0.0;
    for (int i = 0; i < m_; ++i) {
      for (int j = 0; j < types_; ++j) answer.utility[U(i)] += worth_(i, j) * answer.x[problem_.at(i, j)];
      sum += Log(answer.utility[U(i)]);
    }
    answer.geometric_mean = Exp(sum / m_);
    return true;
  }

 private:
  struct Slacks {
    Vector worker, time, utility;  // [G], [m], [m]
    bool inside;
  };
  Slacks SlacksAt(const Matrix& x) const {
    Slacks slacks{Vector(types_), Vector(m_), Vector(m_), true};
    for (int j = 0; j < types_; ++j) {
      slacks.worker[j] = problem_.workers[U(j)];
      for (int i = 0; i < m_; ++i) slacks.worker[j] -= problem_.gang[U(i)] * x(i, j);
    }
    for (int i = 0; i < m_; ++i) {
      slacks.time[i] = 1.0 - x.row(i).sum();
      slacks.utility[i] = worth_.row(i).dot(x.row(i));
    }
    slacks.inside = slacks.worker.minCoeff() > 0.0 && slacks.time.minCoeff() > 0.0 && x.minCoeff() > 0.0;
    return slacks;
  }
  double Value(const Matrix& x, const Slacks& at, double mu) const {
    double value = 0.0, barrier = 0.0;
    for (int i = 0; i < m_; ++i) {
      value += Log(at.utility[i]);
      barrier += Log(at.time[i]);
      for (int j = 0; j < types_; ++j) barrier += Log(x(i, j));
    }
    for (int j = 0; j < types_; ++j) barrier += Log(at.worker[j]);
    return value + mu * barrier;
  }

  void Centre(double mu) {
    for (int round = 0; round < kNewtonSteps; ++round) {
      const Slacks at = SlacksAt(x_);
      Matrix gradient(m_, types_), step(m_, types_);
      const double rise = Newton(at, mu, gradient, step);
      if (!(rise > kCentred * mu)) return;
      double length = 1.0;
      const double value = Value(x_, at, mu);
      for (; length > 1e-10; length *= 0.5) {
        const Matrix next = x_ + length * step;
        const Slacks there = SlacksAt(next);
        if (there.inside && Value(next, there, mu) >= value + 0.1 * length * rise) break;
      }
      if (length <= 1e-10) return;
      x_ += length * step;
    }
  }

  // The Newton step, and gradient . step.
  double Newton(const Slacks& at, double mu, Matrix& gradient, Matrix& step) const {
    Matrix coupling = Matrix::Zero(types_, types_);
    Vector pushed = Vector::Zero(types_);
    std::vector<Eigen::LLT<Matrix>> block(U(m_));
    for (int i = 0; i < m_; ++i) {
      const double gang = problem_.gang[U(i)];
      const Vector worth = worth_.row(i).transpose() / at.utility[i];
      Matrix hessian = worth * worth.transpose();
      hessian.array() += mu / (at.time[i] * at.time[i]);
      for (int j = 0; j < types_; ++j) {
        hessian(j, j) += mu / (x_(i, j) * x_(i, j));
        gradient(i, j) = worth[j] + mu / x_(i, j) - mu / at.time[i] - mu * gang / at.worker[j];
      }
      block[U(i)].compute(hessian);
      const Vector solved = block[U(i)].solve(gradient.row(i).transpose());
      step.row(i) = solved.transpose();
      pushed += gang * solved;
      coupling += gang * gang * block[U(i)].solve(Matrix::Identity(types_, types_));
    }
    for (int j = 0; j < types_; ++j) coupling(j, j) += at.worker[j] * at.worker[j] / mu;
    const Vector shared = coupling.llt().solve(pushed);
    for (int i = 0; i < m_; ++i) {
      step.row(i) -= problem_.gang[U(i)] * block[U(i)].solve(shared).transpose();
    }
    return gradient.cwiseProduct(step).sum();
  }

  double Gap(double mu) const {
    const Slacks at = SlacksAt(x_);
    double bound = 0.0, value = 0.0;
    for (int j = 0; j < types_; ++j) bound += problem_.workers[U(j)] * mu / at.worker[j];
    for (int i = 0; i < m_; ++i) {
      const double time = mu / at.time[i];
      double best = 0.0;
      for (int j = 0; j < types_; ++j) {
        best = std::max(best, worth_(i, j) / (problem_.gang[U(i)] * mu / at.worker[j] + time));
      }
      bound += time + Log(best) - 1.0;
      value += Log(at.utility[i]);
    }
    return bound - value;
  }

  const Problem& problem_;
  int m_, types_;
  Matrix worth_, x_;  // [m, G]
};

Problem Without(const Problem& problem, int job) {
  Problem rest;
  rest.workers = problem.workers;
  for (int i = 0; i < problem.jobs(); ++i) {
    if (i == job) continue;
    rest.key.push_back(problem.key[U(i)]);
    rest.gang.push_back(problem.gang[U(i)]);
    rest.weight.push_back(problem.weight[U(i)]);
    for (int j = 0; j < problem.types(); ++j) rest.throughput.push_back(problem.throughput[problem.at(i, j)]);
  }
  return rest;
}

}  // namespace

bool NashWelfare(const Problem& problem, NashAnswer& answer) {
  return Barrier(problem).Run(answer);
}

bool StrategyProofDiscounts(const Problem& problem, const NashAnswer& answer, std::vector<double>& discount) {
  const int m = problem.jobs();
  discount.assign(U(m), 1.0);
  for (int i = 0; m > 1 && i < m; ++i) {
    NashAnswer without;
    if (!NashWelfare(Without(problem, i), without)) return false;
    double sum = 0.0;
    for (int k = 0; k < m; ++k) {
      if (k != i) sum += Log(answer.utility[U(k)] / without.utility[U(k < i ? k : k - 1)]);
    }
    discount[U(i)] = std::min(1.0, Exp(sum));
  }
  return true;
}

namespace {

class StrategyProof final : public Objective {
 public:
  bool Allocate(const Problem& problem, Allocation& x) override {
    NashAnswer answer;
    std::vector<double> discount;
    if (!NashWelfare(problem, answer) || !StrategyProofDiscounts(problem, answer, discount)) return false;
    x = std::move(answer.x);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] *= discount[k / problem.workers.size()];
    return true;
  }
  const char* failure() const override { return "the duality gap of the Nash welfare stays above 1e-9 a job"; }
};

}  // namespace

ObjectiveInfo StrategyProofObjective() {
  return {.summary = "largest geometric mean of shares, each cut by what it costs the others",
          .source = "Cole et al., EC 2013; OSDI 2020 §4.4",
          .aware_name = "max_min_fairness_strategy_proof_perf (class only)",
          .agnostic_name = "",
          .awareness = Awareness::kAwareOnly,
          .make = [](const ObjectiveOptions&, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<StrategyProof>();
          }};
}

}  // namespace berth::gavel
