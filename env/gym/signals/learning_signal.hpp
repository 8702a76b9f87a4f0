// What a learner is paid for an interval between two decision points in place of the reward: the same in
// expectation, with a fraction of its variance. Who arrives next is nobody's doing, but most of what follows
// an action is what those cost who arrive.
//
//   F = R + phi(s) - phi(s') + J - dt D(s)      J = phi(s') - phi(s' without those who arrived in it)
//
// R is the reward of the interval, dt its length, phi(s) an estimate of what the jobs in the system will
// still cost, J what arrivals added to it, D(s) how fast they are expected to. R + phi(s) - phi(s') is
// shaping by a potential (Ng, Harada & Russell 1999), which leaves the best policy what it is. J - dt D(s) is
// the sum of the arrivals' jumps less its compensator, a martingale where they are a Poisson process of
// independent jobs (Bremaud 1981, "Point Processes and Queues", II.2): its mean is 0 under every policy. So
// it is a control variate, an input-dependent baseline (Mao et al., ICLR 2019) that is written down instead
// of learned.
//
// The environment gives F in two parts, so that a learner may begin with the quiet one and end with both:
//
//   quiet    = R + phi(s) - phi(s' without those who arrived)
//   arrivals = dt (D at its begin + D at its end) / 2
//   F        = quiet - arrivals
//
// The quiet part alone learns to clear the system as if nobody else came. Where a job adds as it arrives what
// it adds whatever is done (work, critical_ratio), D is 0 and the quiet part is all.
// The length of an interval is chance as well, so `arrivals` is the noisier part, and leaving it out is a
// bias: tests/learning_signal_test.cpp measures both on a queue solved exactly.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/gym/mdp.hpp"
#include "env/gym/signals/potential.hpp"

namespace berth {

// Thread rule: one thread at a time. Allocates in Begin, and in Settle where a list outgrows all before it.
class LearningSignal {
 public:
  struct Parts {
    double quiet = 0.0, arrivals = 0.0;
  };

  // Of every potential, beside its own.
  static constexpr ParamInfo kArrivals = {
      "arrivals", "apart", "apart: a part of their own | counted: in the estimate, which is shaping alone"};

  // "reward", "auto" or a sum of potentials of `berth list signals` with their parameters, as "wspt+work".
  // "auto" is those that know a term of `mdp`'s reward, or "reward" where none does. Throws Error with the
  // nearest name.
  LearningSignal(const std::string& spec, const MdpSpec& mdp);

  void Begin(const Simulator& simulator);  // at the first decision point of an episode
  // Of the interval that ended here, whose `reward` was paid for its `elapsed` s.
  Parts Settle(const Simulator& simulator, double reward, double elapsed);

  std::string ToString() const { return name_; }  // as resolved: "reward", "wspt(delay=1.5,...)+work(...)"

 private:
  struct Term {
    std::unique_ptr<Potential> potential;
    bool counts_arrivals;          // for comparison: shaping alone
    Potential::Value before = {};  // at the last decision point
  };
  void Add(const Spec& spec, const PotentialInfo& info, const MdpSpec& mdp);

  std::string name_;
  std::vector<Term> terms_;  // none: the reward
  int arrived_ = 0;          // jobs by the last decision point
};

}  // namespace berth
