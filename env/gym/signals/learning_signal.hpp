// What a learner is paid for an interval between two decision points in place of the reward: what the agent
// did, without what chance did. Who arrives next is nobody's doing, but most of what follows an action is what
// those cost who arrive.
//
//   F = R + phi(s) - phi(s')
//
// R is the reward of the interval, phi an estimate of what the jobs in the system will still cost: shaping by a
// potential (Ng, Harada & Russell 1999). What differs is who counts in phi(s'), the parameter `arrivals`:
//
//   omitted   only those who were there at the interval's begin: its end before anybody arrives, a post-decision
//             state (Powell 2011, "Approximate Dynamic Programming", 4.6). An interval in which everybody
//             progresses as phi says pays 0, whatever its length: nothing is left but what the decision did. Its
//             bias: it learns to clear the system as if nobody else came.
//   expected  the same, and what arrivals are expected to add to phi in the interval is taken off: dt times the
//             mean of D at its begin and its end, D(s) how fast phi is expected to rise. What arrivals add less
//             dt D is a martingale where they are a Poisson process of independent jobs (jumps less their
//             compensator: Bremaud 1981, "Point Processes and Queues", II.2), so the expectation is the reward's
//             under every policy. But the chance length of intervals is back.
//   counted   everybody: shaping alone, with all the noise of arrivals.
//
// Where a job adds as it arrives what it adds whatever is done (work, critical_ratio), D is 0 and to omit is no
// bias. tests/learning_signal_test.cpp has the bias of the gradient and the variance of the return on a queue
// solved exactly; agents/README.md and README.md here what each is worth in training.
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
  // Of every potential, beside its own.
  static constexpr ParamInfo kArrivals = {
      "arrivals", "omitted", "omitted | expected: what they add on average is taken off | counted"};

  // "reward", "auto" or a sum of potentials of `berth list signals` with their parameters, as "wspt+work".
  // "auto" is those that know a term of `mdp`'s reward, or "reward" where none does. Throws Error with the
  // nearest name.
  LearningSignal(const std::string& spec, const MdpSpec& mdp);

  void Begin(const Simulator& simulator);  // at the first decision point of an episode
  // Of the interval that ended here, whose `reward` was paid for its `elapsed` s.
  double Settle(const Simulator& simulator, double reward, double elapsed);

  std::string ToString() const { return name_; }  // as resolved: "reward", "wspt(delay=1.5,...)+work(...)"

 private:
  enum class Arrivals { kOmitted, kExpected, kCounted };
  struct Term {
    std::unique_ptr<Potential> potential;
    Arrivals arrivals;
    Potential::Value before = {};  // at the last decision point
  };
  void Add(const Spec& spec, const PotentialInfo& info, const MdpSpec& mdp);

  std::string name_;
  std::vector<Term> terms_;  // none: the reward
  int arrived_ = 0;          // jobs by the last decision point
};

}  // namespace berth
