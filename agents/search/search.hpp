// One search without gradients: an optimiser proposes numbers, an objective says what they cost, until a
// budget is spent. Every generation has workloads of its own, the same for all its points. Costs are noisy
// and a search that starts from a good rule can end behind it: with `choose` the answer is the best of the
// start, the search half way and its end on workloads of their own.
//
//   CmaEs optimiser({start, scales}, /*seed=*/0);
//   Found found = Run(optimiser, start, objective, {.budget = {.generations = 60}});
//
// With a file it is kept there and goes on from it bit for bit as if it had never stopped (of budgets in
// generations: seconds are another number every time). Same seed, same generations: same answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "agents/search/optimiser.hpp"

namespace berth::search {

inline constexpr const char* kKind = "search";  // of the file that a search is kept in

struct Budget {
  int generations = 0;   // 0 = no limit
  double seconds = 0.0;  // of wall time, before it was resumed too; 0 = no limit
  const std::atomic<bool>* interrupted = nullptr;
  bool Interrupted() const { return interrupted != nullptr && *interrupted; }
};

inline constexpr int kChoice = -1;  // in place of a generation: the workloads to choose on
// Costs of points on the workloads of a generation, a pure function of both. What it gives back once the
// budget is interrupted is not looked at.
using Objective = std::function<Costs(const std::vector<std::vector<double>>& points, int generation)>;

// How the search stood after a generation.
struct Told {
  int generation = 0;   // from 1
  double wall_s = 0.0;  // since the search began
  double value = 0.0;   // Optimiser::Tell's
  double step = 0.0;    // Optimiser::step
};

struct Settings {
  Budget budget;
  bool choose = false;
  std::function<void(const Told&)> on_generation = nullptr;
  std::string file = {};        // where the search is kept (.h5), about once a second; "" = nowhere
  std::string definition = {};  // text that goes into the file, to be read by ReadDefinition
  bool resume = false;          // from `file`
};

struct Found {
  std::vector<double> point;  // the answer
  int generations = 0;
  int chosen = 0;                               // generation of the answer; 0 = the start
  std::vector<std::pair<int, double>> choices;  // where chosen: generation, value (search::Values)
  std::int64_t decisions = 0;                   // Costs::decisions, of all generations
  std::vector<Told> told;                       // [generations]
};

// Interrupted, it answers with what it has. Throws Error for a file that is not of this search or cannot be
// written, and what the objective throws.
Found Run(Optimiser& optimiser, const std::vector<double>& start, const Objective& objective,
          const Settings& settings);

// Settings::definition of the search that a file keeps. Throws Error.
std::string ReadDefinition(const std::string& file);

}  // namespace berth::search
