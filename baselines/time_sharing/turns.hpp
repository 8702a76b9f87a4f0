// Jobs take turns of a quantum: those that had least, by a key that is charged when a turn ends, go first,
// and among equals those whose last turn is longest ago. With all keys equal this is round robin; with
// service over weight as the key it is stride scheduling.
//
// A plan starts from an empty cluster, so a gang that waits comes to the front as others end their turns, and
// then takes its GPUs whoever is in the middle of a turn: nobody waits for ever. What a stop or a move costs
// (env: Costs) is added to the turn that pays it: a quantum is a quantum of work.
#pragma once

#include <cstdint>
#include <vector>

#include "env/sim/plan.hpp"
#include "env/sim/scheduler.hpp"

namespace berth {

inline constexpr ParamInfo kQuantumParam = {"quantum", "360",
                                            "s on GPUs that a job has before others that wait come first; "
                                            "clocks with rounds look at it at boundaries only"};

// O(n log n) a decision for n jobs in system; a decision a turn while jobs wait.
class Turns final : public Scheduler {
 public:
  // Charged: a turn's GPU-seconds over the job's weight are added to its key.
  Turns(double quantum_s, bool charged) : quantum_(quantum_s), charged_(charged) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }
  void Reset(const ClusterView& view) override;
  void Decide(const ClusterView& view, Decision& decision) override;

 private:
  struct Turn {
    double key = 0.0;
    std::int64_t since = -1;  // when it queued up, counted; -1 = not seen yet
    double begin = 0.0;       // attained seconds when the turn began
    double costs = 0.0;       // s of stops and moves that it pays for
  };
  Turn& Of(int job) { return turn_[static_cast<std::size_t>(job)]; }
  void Admit(const ClusterView& view);
  void EndTurns(const ClusterView& view);

  double quantum_;
  bool charged_;
  std::int64_t queued_ = 0;
  std::vector<Turn> turn_;  // [J]
  std::vector<int> order_;
  Plan plan_;
};

}  // namespace berth
