// Programs of shares (share_program.hpp) over some of the types of each class, and a primal-dual interior
// point for them with Mehrotra's corrector ("On the implementation of a primal-dual interior point method",
// SIAM J. Optim. 1992). A class is eliminated by itself, which leaves a dense system of the size of the
// types: O(k^2) for the k columns of a class, and O(G^3), an iteration.
//
// Three aims over the same rows, u_i = worth_i . x_i - least_i:
//   kLevel   max c,  u_i >= rise_i c;
//   kLogs    max sum members_i log u_i, for which price_i u_i = 1 stands in the place of complementarity
//            (stationarity of the logarithm; Boyd and Vandenberghe, "Convex Optimization", 2004,
//            section 11.7);
//   kSum     max sum members_i u_i: the prices of worth are 1, and its rows bind nothing.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "baselines/gavel/share_program.hpp"
#include "baselines/lp.hpp"

namespace berth::gavel {

// The columns of each class, in turn.
struct ShareColumns {
  std::vector<std::size_t> begin;  // [n + 1]
  std::vector<int> type;
  std::vector<double> worth;
};

// One number for each column, each class' row of time and of worth, each type.
struct ShareValues {
  Eigen::ArrayXd share, time, worth, type;
};

enum class ShareAim { kLevel, kLogs, kSum };

// A point near the central path of a program, some way before its end, for one like it to start from.
struct ShareStart {
  ShareColumns columns;
  Eigen::ArrayXd share, time_price, worth_price, type_price;  // [columns], [n], [n], [G]
  double level = 0.0, mu = 0.0;                               // mu: the mean of the products that are to be 0
};

// Refers to the program and the columns, which must outlive it. Thread rule: one thread at a time.
class ColumnProgram {
 public:
  // REQUIRES: a column of every class; kLevel: every class rises; kLogs: least <= 0.
  ColumnProgram(const ShareProgram& program, const ShareColumns& columns, ShareAim aim);

  // Until what any answer could add is at most `gap`: kLevel of the level, kSum of the sum, kLogs a member.
  // kError where the digits do not reach so far; the values are then those reached. `passed`: s, against
  // `time_limit_s`.
  [[nodiscard]] LpStatus Solve(double gap, double time_limit_s, const std::function<double()>& passed);

  // The next Solve starts near this point; `its_class` [n]: the class there, -1 = a new one. False where no
  // point inside is as near, and it starts from nothing.
  bool StartFrom(const ShareStart& before, std::span<const int> its_class);
  // Of the last Solve. Without columns where it ended before it came so near.
  const ShareStart& kept() const { return kept_; }

  // What is left of each bound and row (of shares: the shares), inside all of them, and their prices (of
  // shares: what they cost beyond what they are worth), for each member. kLogs, kSum: slack().worth is u.
  const ShareValues& slack() const { return slack_; }
  const ShareValues& price() const { return price_; }
  double level() const { return level_; }
  double Unit() const;  // that of which `gap` is a part
  double Gap() const;

 private:
  Eigen::Index first(Eigen::Index i) const { return static_cast<Eigen::Index>(columns_.begin[U(i)]); }
  Eigen::Index last(Eigen::Index i) const { return static_cast<Eigen::Index>(columns_.begin[U(i) + 1]); }
  Eigen::Index type(Eigen::Index k) const { return columns_.type[U(k)]; }
  double members(Eigen::Index i) const { return program_.members[U(i)]; }
  double gang(Eigen::Index i) const { return program_.gang[U(i)]; }
  double rise(Eigen::Index i) const { return aim_ == ShareAim::kLevel ? program_.rise[U(i)] : 0.0; }
  static std::size_t U(Eigen::Index i) { return static_cast<std::size_t>(i); }
  void Start();
  double KeptGap() const;
  double Count();
  double WorthOf(Eigen::Index i) const;
  void TakeBefore(const ShareStart& before, int old, Eigen::Index i, double& room);
  void MeetLevel(double mu);
  void FitTypes(double mu, const Eigen::ArrayXd& room);
  void PriceAll(double mu);
  bool Step(double mu, double least_centring);
  double Without(Eigen::Index i, Eigen::Index out, double r, double a) const;
  void Factorize();
  void Direction();

  const ShareProgram& program_;
  const ShareColumns& columns_;
  ShareAim aim_;
  Eigen::Index n_, types_;
  double jobs_ = 0.0;                  // members of all classes
  double rows_ = 0.0;                  // bounds and rows of all members that are complementary
  double level_ = 0.0, dlevel_ = 0.0;  // kLogs: 0
  ShareValues slack_, price_, dslack_, dprice_, product_;
  Eigen::ArrayXd k_, t_, centred_;                   // [columns]
  Eigen::ArrayXd mean_, one_, cross_, two_, a_, b_;  // [n]
  Eigen::MatrixXd schur_;                            // [G + 1, G + 1] lower half
  Eigen::VectorXd right_, border_, by_border_;       // [G]
  double corner_ = 0.0;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  bool started_ = false;
  ShareStart kept_;
};

}  // namespace berth::gavel
