// What prices leave open: the classes whose next option is nearly as good as their cheapest, by dynamic
// programming over the GPUs that are left (the core of a knapsack: Balas and Zemel 1980; Pisinger 1995).
#pragma once

#include <cstdint>
#include <vector>

#include "baselines/adaptive/sia_choice.hpp"
#include "baselines/adaptive/sia_prices.hpp"

namespace berth::sia {

struct CoreEffort {
  std::size_t width = 1000;      // states kept after each class
  std::int64_t steps = 1000000;  // states tried in all, those of earlier searches included
  double pull = 0.0625;  // of the price of GPUs lacking or left over: what they count in choosing those kept
};

// Every choice costs the bound of the prices, and above it the reduced costs of its options and the price of
// the GPUs that it leaves free. So a choice below a limit has no option whose reduced cost reaches that far,
// and most classes have one option left. The prices may be any; better ones leave less. One thread at a time;
// the choice and the prices must outlive it.
class Core {
 public:
  Core(const Choice& choice, const Prices& prices);

  // Looks for the cheapest choice that costs at most `limit` and less than found(). True: nothing was left
  // out, so that no choice costs less than found() if that is within the limit, and none is within
  // the limit if found() is not.
  bool Search(std::int64_t limit, const CoreEffort& effort);

  // [options] those that a choice can have which costs at most `limit`, and those of found().
  std::vector<bool> Open(std::int64_t limit) const;
  // Takes a choice that was found elsewhere, if it keeps to the capacities and is cheaper.
  void Offer(const std::vector<int>& chosen);

  const std::vector<int>& found() const { return found_; }  // [classes] into Choice::option; at first no GPUs
  std::int64_t cost() const { return cost_; }               // of found()
  std::int64_t steps() const { return steps_; }             // states tried so far

 private:
  struct Move;
  struct Stage;
  std::vector<Stage> Stages(std::int64_t window) const;
  void Look(std::vector<Stage>& stages) const;
  std::int64_t Rest(const Stage& stage, const std::int32_t* left) const;
  void Keep(const std::vector<Stage>& stages, std::size_t stage, std::int32_t state, std::int64_t above);

  const Choice& choice_;
  const Prices& prices_;
  std::vector<std::int64_t> reduced_;  // [options] reduced cost, >= 0
  std::vector<int> base_;              // [classes] the cheapest option at the prices
  std::vector<int> free_;              // [types] GPUs left by the base, may be negative
  std::vector<int> found_;
  std::int64_t cost_ = 0, steps_ = 0;
};

}  // namespace berth::sia
