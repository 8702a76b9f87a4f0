// Pollux's search as its authors ran it: NSGA-II (Deb et al., IEEE TEVC 6(2), 2002) on allocations, with
// the operators of petuum/adaptdl, osdi21-artifact, simulator/pollux.py, and the rules of pymoo 0.4.2, which
// it uses: tournaments of two by dominance, then by crowding; 9 of 10 pairs are crossed; no two alike.
//
//   Genetic search(options);
//   const Found& found = search.Solve(objective, ids, stream);   // ids: who the rows are, round by round
//
// Objectives: fitness, and utility, which only keeps the population diverse. The fittest is chosen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baselines/adaptive/pollux_objective.hpp"
#include "env/base/rng.hpp"

namespace berth::pollux {

struct GeneticOptions {
  int population = 100;   // from 2
  int generations = 100;  // the seeds are the first
  // The artifact gives rows of the last round to jobs by their place among those that stayed, in the order of
  // then and of now, so a job may inherit another's row. false: to the job itself.
  bool rows_by_place = false;
};

struct Found {
  Allocation best;
  double fitness = 0.0;
};

// Rows of `from`, by who they are of. A job that is new has none; nodes are the same.
std::vector<Allocation> CarryOver(std::span<const Allocation> from, std::span<const std::int64_t> from_ids,
                                  std::span<const std::int64_t> ids, bool rows_by_place);

// Thread rule: one thread at a time.
class Genetic {
 public:
  explicit Genetic(const GeneticOptions& options) : options_(options) {}

  // ids [jobs]: distinct. Starts from what the last call ended with, or where none was or nodes are others,
  // from the present allocation. At least one job.
  Found Solve(const Objective& objective, std::span<const std::int64_t> ids, Stream& stream);
  // What the next call would start from.
  std::vector<Allocation> Seeds(const Objective& objective, std::span<const std::int64_t> ids) const;
  void Forget() { front_.clear(), front_ids_.clear(); }

 private:
  GeneticOptions options_;
  std::vector<Allocation> front_;  // not dominated at the end of the last call
  std::vector<std::int64_t> front_ids_;
};

}  // namespace berth::pollux
