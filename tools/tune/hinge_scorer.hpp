// A pair_scorer as few numbers, for a search that has no gradient: the score of a (job, type) pair is
//
//   - (a . x) + sum_h v_h relu(b_h . x + c_h),   x = job channels but `present`, then pair channels
//
// Two units of the only hidden layer carry a . x, since relu(y) - relu(-y) = y, and one each hinge. Context
// and value stay 0. With no hinges it is a linear rule in the encoder's channels.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/base/rng.hpp"
#include "env/gym/encoder.hpp"
#include "env/sim/scenario.hpp"
#include "tools/tune/tunable.hpp"

namespace berth {

class HingeScorer {
 public:
  // Throws Error where the encoder has no pairs. `types` of the cluster in training.
  HingeScorer(const MdpSpec& mdp, Reserve reserve, int hinges, std::vector<std::string> types);

  int inputs() const { return inputs_; }
  int size() const { return inputs_ + hinges_ * (inputs_ + 2); }  // a, then b_h, c_h, v_h of each hinge

  // a from text "request=1,gang=1.1" of channels by name, the rest 0; b_h standard normal, c_h and v_h 0.
  // Throws Error for a name that is no channel.
  std::vector<double> Start(const std::string& text, Stream& stream) const;
  // Without examples.
  PolicyBundle Bundle(std::span<const double> numbers) const;

 private:
  MdpSpec mdp_;
  Reserve reserve_;
  int hinges_, inputs_;
  EncoderInfo encoder_;
  std::vector<std::string> types_;
};

// The examples that prove a bundle which no learner made: plays bundle.mdp on the scenario, the best legal
// action each time, and records every eighth point, at most sixteen of them.
void AddExamples(const Scenario& scenario, PolicyBundle& bundle);

// A new policy for batch logs, for `berth tune --hinges` to search.
class HingePolicy final : public Tunable {
 public:
  // Starts from HingeScorer::Start of `start`, b_h drawn by `seed`; a step of 1 is 1. `example` is what the
  // answer's examples are played on.
  HingePolicy(HingeScorer scorer, const std::string& start, std::uint64_t seed, Scenario example);

  search::Space Space() const override { return space_; }
  std::unique_ptr<Scheduler> Make(std::span<const double> point) const override;
  std::string SpecOf(std::span<const double> /*point*/) const override { return ""; }
  void Save(std::span<const double> point, const Provenance& how, const std::string& path) const override;

 private:
  HingeScorer scorer_;
  search::Space space_;
  Scenario example_;
};

}  // namespace berth
