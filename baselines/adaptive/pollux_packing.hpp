// An allocation that is being changed: jobs leave and are put on nodes, and what nodes have left is known.
// Always legal (Objective::Legal).
#pragma once

#include <span>
#include <vector>

#include "baselines/adaptive/pollux_objective.hpp"
#include "env/base/rng.hpp"

namespace berth::pollux {

// Keeps references. Thread rule: one thread at a time.
class Packing {
 public:
  // Draws decide between nodes that are alike.
  Packing(const Objective& objective, Stream& stream);

  const Allocation& allocation() const { return rows_; }
  double cost() const;  // summed anew
  double cost(int job) const { return cost_[U(job)]; }
  int room(int node) const { return room_[U(node)]; }
  Extent extent(int job) const { return extent_[U(job)]; }

  void Set(const Allocation& legal);
  void Leave(int job);                                          // its row is empty
  bool Fits(int job, std::span<const std::uint8_t> row) const;  // of a job whose row is empty
  void Put(int job, std::span<const std::uint8_t> row);         // it fits, and the row was empty
  // The present row if it fits; false = it does not.
  bool PutPresent(int job);
  // Exactly so many GPUs on so many nodes, or nothing and false. On one node: the fullest that has room, of
  // equals one that hosts a job spanning nodes. On several: the emptiest, so that few GPUs are left
  // scattered. One time in four it is any.
  bool PutShape(int job, int nodes, int replicas);
  // The cheapest row there is room for, of a job whose row is empty: that may be none.
  void PutBest(int job);

  // Cost won for each GPU by the best way to add GPUs to a row that stays where it is; 0 = there is none.
  struct Growth {
    double rate = 0.0;
    int replicas = 0, nodes = 0;  // afterwards
  };
  Growth BestGrowth(int job) const;
  void Grow(int job, const Growth& growth);

 private:
  // Nodes where a job that spans nodes may be, most room first, of equal ones in random order; [0, count)
  int Open(int job) const;
  // Of open_ into row_: the emptiest nodes, and of those that suffice for what is left then the fullest; or
  // any nodes, and the GPUs spread over them at random. false = they have no room for so many.
  bool Fill(int nodes, int replicas);
  bool Scatter(int nodes, int replicas);
  void Count(int job, int sign);  // adds the row to what nodes have, or takes it away
  bool Spans(int node, int but) const { return spanning_[U(node)] >= 0 && spanning_[U(node)] != but; }
  // How many GPUs on `nodes` nodes, up to `most`, cost least; 0 = none do.
  int Cheapest(int job, int nodes, int most) const;

  const Objective& objective_;
  Stream& stream_;
  Allocation rows_;
  std::vector<Extent> extent_;
  std::vector<double> cost_;
  std::vector<int> room_, spanning_;     // [nodes]; the job that spans nodes here, -1 = none
  std::vector<std::size_t> begin_;       // of cheapest_
  std::vector<std::uint16_t> cheapest_;  // [jobs][node rows, max_replicas + 1]: argmin of cost up to there
  mutable std::vector<int> open_;
  std::vector<int> some_;
  std::vector<std::uint8_t> row_;
};

}  // namespace berth::pollux
