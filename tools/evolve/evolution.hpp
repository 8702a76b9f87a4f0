// What `berth evolve` does: the numbers of a HingeScorer searched by CMA-ES. A candidate is played greedily,
// as policy(file=...) plays it. Its value is the mean over pieces of a log of
//
//   slowdown / reference's + penalty x sum over {p99, maximum} of max(0, wait / reference's - margin),
//
// the waits' ratio being the geometric mean over the pieces, slowdowns as hpc_bounded_slowdown, the reference
// on the same piece (common random numbers): bounded slowdown alone rewards whoever starves large jobs. Every
// generation draws new pieces, the same for all candidates, and stretches the time between arrivals of each
// by a random factor: other loads than the log's. The values are noisy, and a search that starts from a good
// rule can end behind it: with `choose`, the answer is the best of the start, the search half way and its end
// on pieces that none of them was searched on.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "env/sim/metrics.hpp"
#include "tools/evolve/hinge_scorer.hpp"

namespace berth {

// Factors of a log's load, run times and gangs, each 1 = as they are.
struct Scales {
  double load = 1.0, run = 1.0, gang = 1.0;
};

struct Evolution {
  MdpSpec mdp;
  Reserve reserve = Reserve::kNone;
  int hinges = 0;
  std::string start;      // see HingeScorer::Start
  double step = 0.3;      // first standard deviation of every number
  std::string reference;  // scheduler spec
  const Scenario* log = nullptr;
  Window window;  // pieces are cut out of these jobs
  int jobs = 1024, pieces = 8;
  Scales low, high;  // of each piece log-uniform between them
  double penalty = 0.0, margin = 1.0;
  int choose = 0;        // pieces to choose on, scaled likewise; 0 = the end of the search
  Window choose_window;  // of these jobs
  int population = 0;    // 0 = CMA-ES's own
  int generations = 0;
  std::uint64_t seed = 0;
  int threads = 1;
  std::function<void(int generation, double best, double step)> on_generation = nullptr;
  const std::atomic<bool>* interrupted = nullptr;
  bool Interrupted() const { return interrupted != nullptr && *interrupted; }
};

struct Evolved {
  PolicyBundle bundle;  // with examples of its own
  int generations = 0;
  std::int64_t decisions = 0;                   // of all candidates
  int chosen = 0;                               // generation of the answer; 0 = the start
  std::vector<std::pair<int, double>> choices;  // where chosen: generation, value on the pieces to choose on
};

// Same seed and generations: same result on any number of threads. Throws Error for what cannot run.
Evolved Evolve(const Evolution& evolution);

// Jobs [begin, begin + jobs): run times and requests `run` times as long; gangs `gang` times as large, as
// near as the log's table of throughputs has them, at most the cluster; time between arrivals such that the
// load is `load` times the log's but for gangs that were bounded.
Scenario Piece(const Scenario& log, int begin, int jobs, const Scales& scales);

}  // namespace berth
