#include "baselines/gavel/nash_welfare.hpp"

#include <Eigen/Core>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <utility>

#include "baselines/gavel/job_classes.hpp"
#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/share_program.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"

namespace berth::gavel {
namespace {

// The Newton systems of degenerate problems cost half the digits; eleven more leave a gap of 1e-9 to be
// proven.
using Real = long double;
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using Sparse = Eigen::SparseMatrix<Real>;

constexpr double kCentring = 0.1;    // of the mean complementarity, the next target
constexpr double kStepBack = 0.995;  // of the way to the boundary
constexpr int kMaxSteps = 100;
constexpr double kRegularization = 1e-15;
constexpr int kRefinements = 10;

// Shares of more classes and types than this have generated columns first: doubles then, and a point of the
// optimal face that is nearer to a vertex.
constexpr std::size_t kWide = 3000;

// One job of each class stands for its members: at the optimum all of them have the same utility, which is
// unique because the logarithm is strictly concave, so sharing alike is optimal. The prices of a class are
// those of all its members together.
class InteriorPoint {
 public:
  InteriorPoint(const Problem& problem, const JobClasses& classes)
      : problem_(problem), m_(problem.jobs()), types_(problem.types()), worth_(m_, types_), x_(m_, types_) {
    const std::vector<double> worth = NormalizedWorth(problem);
    members_ = Eigen::Map<const Eigen::VectorXd>(classes.members.data(), m_).cast<Real>();
    gangs_ = Vector(m_);
    for (int i = 0; i < m_; ++i) gangs_[i] = members_[i] * problem.gang[U(i)];
    jobs_ = static_cast<double>(members_.sum());
    const double gangs = static_cast<double>(gangs_.sum());
    time_slack_ = Vector::Ones(m_);
    worker_slack_ = Vector(types_);
    for (int j = 0; j < types_; ++j) worker_slack_[j] = problem.workers[U(j)];
    for (int i = 0; i < m_; ++i) {
      for (int j = 0; j < types_; ++j) {
        worth_(i, j) = worth[problem.at(i, j)];
        x_(i, j) = 0.5 * std::min(1.0 / types_, problem.workers[U(j)] / gangs);
        time_slack_[i] -= x_(i, j);
        worker_slack_[j] -= gangs_[i] * x_(i, j);
      }
    }
    price_ = x_.cwiseInverse();
    time_price_ = time_slack_.cwiseInverse();
    worker_price_ = worker_slack_.cwiseInverse();
  }

  bool Run(NashAnswer& answer) {
    answer.gap = Gap();
    const Matrix* best = &x_;
    Matrix kept;
    for (int step = 0; step < kMaxSteps && answer.gap > kAim * jobs_; ++step) {
      if (!Step()) break;
      const double gap = Gap();
      if (gap < answer.gap) {
        answer.gap = gap, kept = x_, best = &kept;
      } else if (answer.gap <= kNashGap * jobs_) {
        break;  // as far as the digits go
      }
    }
    if (!(answer.gap <= kNashGap * jobs_)) return false;
    answer.x.resize(U(m_) * U(types_));
    answer.utility.assign(U(m_), 0.0);
    double sum = 0.0;
    for (int i = 0; i < m_; ++i) {
      for (int j = 0; j < types_; ++j) {
        answer.x[problem_.at(i, j)] = (*best)(i, j);
        answer.utility[U(i)] += worth_(i, j) * (*best)(i, j);
      }
      sum += static_cast<double>(members_[i]) * Log(answer.utility[U(i)]);
    }
    answer.geometric_mean = Exp(sum / jobs_);
    answer.type_price.resize(U(types_));
    for (int j = 0; j < types_; ++j) answer.type_price[U(j)] = static_cast<double>(worker_price_[j]);
    return true;
  }

 private:
  static constexpr double kAim = 1e-10;  // of the gap, per job; kNashGap is what must be reached

  // Newton on the perturbed optimality conditions: every slack times its price is mu. Slacks are variables of
  // their own, moved with x, so that small ones lose no digits.
  bool Step() {
    const Real mu =
        kCentring *
        (x_.cwiseProduct(price_).sum() + time_slack_.dot(time_price_) + worker_slack_.dot(worker_price_)) /
        static_cast<double>(x_.size() + m_ + types_);
    Matrix step(m_, types_);
    Vector time_step(m_), worker_step = Vector::Zero(types_);
    if (!Newton(mu, step)) return false;
    for (int i = 0; i < m_; ++i) {
      time_step[i] = -step.row(i).sum();
      worker_step -= gangs_[i] * step.row(i).transpose();
    }
    const auto prices = [mu](const auto& slack, const auto& price, const auto& move) {
      return ((mu - price.array() * move.array()) / slack.array() - price.array()).matrix().eval();
    };
    const Matrix price_step = prices(x_, price_, step);
    const Vector time_price_step = prices(time_slack_, time_price_, time_step);
    const Vector worker_price_step = prices(worker_slack_, worker_price_, worker_step);
    const auto reach = [](const auto& from, const auto& move) {
      const Real most = move.cwiseQuotient(from).minCoeff();
      return most < 0.0 ? -1.0 / most : Real{1e300};
    };
    const Real primal =
        std::min<Real>(1.0, kStepBack * std::min({reach(x_, step), reach(time_slack_, time_step),
                                                  reach(worker_slack_, worker_step)}));
    const Real dual = std::min<Real>(
        1.0, kStepBack * std::min({reach(price_, price_step), reach(time_price_, time_price_step),
                                   reach(worker_price_, worker_price_step)}));
    x_ += primal * step;
    time_slack_ += primal * time_step;
    worker_slack_ += primal * worker_step;
    price_ += dual * price_step;
    time_price_ += dual * time_price_step;
    worker_price_ += dual * worker_price_step;
    return x_.allFinite() && price_.allFinite() && time_price_.allFinite() && worker_price_.allFinite();
  }

  // The step in x, from the system in x and both kinds of prices
  //   H + Z/X   A'      dx      worth/U + mu/X - A' p
  //     A     -S/P      dp  =   S - mu/P
  // with a little on the diagonal, which refinement takes back. Eliminating the prices by hand would divide
  // by slacks that go to zero.
  bool Newton(Real mu, Matrix& step) {
    const int shares = m_ * types_, size = shares + m_ + types_;
    Sparse matrix(size, size);
    std::vector<Eigen::Triplet<Real>> entries;
    Vector right(size);
    for (int i = 0; i < m_; ++i) {
      const Vector worth = worth_.row(i).transpose() / worth_.row(i).dot(x_.row(i));
      for (int j = 0; j < types_; ++j) {
        const int at = i * types_ + j;
        for (int k = 0; k <= j; ++k) {
          entries.emplace_back(at, i * types_ + k,
                               members_[i] * worth[j] * worth[k] + (k == j ? price_(i, j) / x_(i, j) : 0.0));
        }
        entries.emplace_back(shares + i, at, 1.0);
        entries.emplace_back(shares + m_ + j, at, gangs_[i]);
        right[at] = members_[i] * worth[j] + mu / x_(i, j) - time_price_[i] - gangs_[i] * worker_price_[j];
      }
      entries.emplace_back(shares + i, shares + i, -time_slack_[i] / time_price_[i]);
      right[shares + i] = time_slack_[i] - mu / time_price_[i];
    }
    for (int j = 0; j < types_; ++j) {
      const int at = shares + m_ + j;
      entries.emplace_back(at, at, -worker_slack_[j] / worker_price_[j]);
      right[at] = worker_slack_[j] - mu / worker_price_[j];
    }
    matrix.setFromTriplets(entries.begin(), entries.end());
    Sparse near = matrix;
    for (int k = 0; k < size; ++k) near.coeffRef(k, k) += k < shares ? kRegularization : -kRegularization;
    if (!analyzed_) solver_.analyzePattern(near);
    analyzed_ = true;
    solver_.factorize(near);
    if (solver_.info() != Eigen::Success) return false;
    const auto whole = matrix.selfadjointView<Eigen::Lower>();
    Vector solved = solver_.solve(right);
    Vector residual = right - whole * solved;
    for (int round = 0; round < kRefinements; ++round) {
      const Vector next = solved + solver_.solve(residual);
      const Vector left = right - whole * next;
      if (!(left.lpNorm<Eigen::Infinity>() < residual.lpNorm<Eigen::Infinity>())) break;
      solved = next, residual = left;
    }
    for (int k = 0; k < shares; ++k) step(k / types_, k % types_) = solved[k];
    return true;
  }

  double Gap() const {
    Real bound = 0.0, value = 0.0;
    for (int j = 0; j < types_; ++j) bound += problem_.workers[U(j)] * worker_price_[j];
    for (int i = 0; i < m_; ++i) {
      Real best = 0.0;
      for (int j = 0; j < types_; ++j) {
        best = std::max<Real>(
            best, worth_(i, j) / (problem_.gang[U(i)] * worker_price_[j] + time_price_[i] / members_[i]));
      }
      bound += time_price_[i] + members_[i] * (Log(static_cast<double>(best)) - 1.0);
      value += members_[i] * Log(static_cast<double>(worth_.row(i).dot(x_.row(i))));
    }
    return static_cast<double>(bound - value);
  }

  const Problem& problem_;  // of one job a class
  int m_, types_;           // classes
  double jobs_ = 0.0;
  Vector members_, gangs_;                                        // [m], [m] GPUs of all members
  Matrix worth_, x_, price_;                                      // [m, G]
  Vector time_slack_, time_price_, worker_slack_, worker_price_;  // [m], [m], [G], [G]
  Eigen::SimplicialLDLT<Sparse> solver_;
  bool analyzed_ = false;
};

// What any prices of GPUs and of utilities prove (nash_welfare.hpp), with the least price of time that fits
// both.
double Bound(const ShareProgram& program, const ShareAnswer& answer) {
  double bound = 0.0;
  for (int j = 0; j < program.types(); ++j) bound += program.workers[U(j)] * answer.type_price[U(j)];
  for (int i = 0; i < program.classes(); ++i) {
    double time = 0.0, most = 0.0;
    const auto gpu = [&](int j) { return program.gang[U(i)] * answer.type_price[U(j)]; };
    for (int j = 0; j < program.types(); ++j)
      time = std::max(time, answer.price[U(i)] * program.worth[program.at(j, i)] - gpu(j));
    for (int j = 0; j < program.types(); ++j) {
      const double worth = program.worth[program.at(j, i)];
      if (worth > 0.0) most = std::max(most, worth / (gpu(j) + time));
    }
    bound += program.members[U(i)] * (time + Log(most) - 1.0);
  }
  return bound;
}

// By generated columns (wide_shares.hpp).
bool WideNashWelfare(const Problem& problem, ShareMemory* memory, NashAnswer& answer) {
  const int m = problem.jobs(), types = problem.types();
  const std::vector<double> worth = NormalizedWorth(problem);
  ShareProgram program;
  JobClasses classes;
  StateShares(problem, worth, {}, /*rise=*/0.0, program, classes);
  ShareAnswer solved;
  if (memory != nullptr) memory->Name(problem, classes);
  if (SolveWideShares(program, ShareAim::kLogs, solved, kLpInfinity, /*gap=*/0.0, memory) !=
      LpStatus::kOptimal)
    return false;
  NashAnswer found;
  SpreadShares(classes, solved, types, found.x);
  double sum = 0.0;
  for (int i = 0; i < m; ++i) {
    double utility = 0.0;
    for (int j = 0; j < types; ++j) utility += worth[problem.at(i, j)] * found.x[problem.at(i, j)];
    found.utility.push_back(utility);
    sum += Log(utility);
  }
  found.gap = Bound(program, solved) - sum;
  found.geometric_mean = Exp(sum / m);
  found.type_price = solved.type_price;
  if (!(found.gap <= kNashGap * m)) return false;
  answer = std::move(found);
  return true;
}

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

bool NashWelfare(const Problem& problem, NashAnswer& answer, ShareMemory* memory) {
  if (memory != nullptr && WideNashWelfare(problem, memory, answer)) return true;
  JobClasses classes;
  Classify(problem, problem.throughput, {problem.weight}, classes);
  const Problem one = OneOfEach(problem, classes);
  if (one.throughput.size() > kWide && WideNashWelfare(problem, nullptr, answer)) return true;
  NashAnswer of_class;
  if (!InteriorPoint(one, classes).Run(of_class)) return false;
  const std::size_t types = problem.workers.size();
  answer.gap = of_class.gap, answer.geometric_mean = of_class.geometric_mean;
  answer.type_price = of_class.type_price;
  answer.x.resize(U(problem.jobs()) * types);
  answer.utility.resize(U(problem.jobs()));
  for (int i = 0; i < problem.jobs(); ++i) {
    const int c = classes.of_job[U(i)];
    answer.utility[U(i)] = of_class.utility[U(c)];
    std::copy_n(of_class.x.begin() + static_cast<std::ptrdiff_t>(one.at(c, 0)), types,
                answer.x.begin() + static_cast<std::ptrdiff_t>(problem.at(i, 0)));
  }
  return true;
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
  const char* failure() const override {
    return "the duality gap of the Nash welfare stays above 1e-9 a job";
  }
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
