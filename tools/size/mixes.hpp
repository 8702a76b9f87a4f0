// The clusters that are weighed against each other, and the search for the cheapest that will do.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace berth {

struct TypeRange {
  std::string name;
  std::vector<int> counts;  // GPUs, rising
  int per_node = 1;
  double price = 1.0;   // of a GPU for an hour
  bool priced = false;  // it was stated
};

// "v100=0..16..4/4@2.5,a100=0..8@4": counts as FIRST..LAST or FIRST..LAST..STEP, last one in; GPUs a node
// behind
// '/'; price of a GPU for an hour behind '@'. Prices may be left out of a single type. Throws Error.
std::vector<TypeRange> ParseTypes(const std::string& text);

struct Mix {
  std::vector<int> counts;  // [types]
  double price = 0.0;       // of all for an hour
  int gpus = 0;
};
// All but the empty one: the cheapest first, of equal prices that of fewer GPUs. Throws Error beyond 100,000.
std::vector<Mix> AllMixes(const std::vector<TypeRange>& types);
std::size_t Largest(const std::vector<Mix>& mixes);                        // the first with the most GPUs
std::string MixText(const std::vector<TypeRange>& types, const Mix& mix);  // as --cluster takes it

// How a mix does. What is wrong with one that does not meet says which others do not either; of one with
// neither mark nothing follows.
struct Fit {
  bool meets = false;
  bool too_few = false;   // nor do those with no more of any type
  bool too_many = false;  // nor do those with no fewer of any type
};

// The cheapest of `mixes` (all of AllMixes) that meets, and the next one, by few calls of `fit`: most are
// ruled out by others. That is checked: cheaper neighbours of the answer that were ruled out are asked too,
// and those with one step more must not have too few.
struct Cheapest {
  std::optional<std::size_t> best, runner_up;  // of `mixes`
  bool monotone = true;                        // false: a neighbour was not as expected
};
Cheapest FindCheapest(const std::vector<Mix>& mixes, const std::function<Fit(std::size_t mix)>& fit);

}  // namespace berth
