// fifo_packed (gavel/SPEC.md §2).
#include <algorithm>

#include "baselines/gavel/packed_objective.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr double kLeastGain = 1.5;

// sum r_pair / r_alone of the two on the type; 0 where they cannot share.
double Gain(const PackedProblem& problem, int a, int b, int type) {
  const Problem& base = problem.base;
  const double first = problem.Beside(a, b, type), second = problem.Beside(b, a, type);
  if (base.gang[U(a)] != 1 || base.gang[U(b)] != 1 || first <= 0.0 || second <= 0.0) return 0.0;
  return first / base.throughput[base.at(a, type)] + second / base.throughput[base.at(b, type)];
}

class Policy final : public PackedObjective {
 public:
  bool Allocate(const PackedProblem& problem, PackedAllocation& x) override {
    x = PackedFifo(problem, TypesByName(problem.base));
    return true;
  }
};

}  // namespace

PackedAllocation PackedFifo(const PackedProblem& problem, const std::vector<int>& type_order) {
  const Problem& base = problem.base;
  PackedAllocation x;
  x.alone = FifoAllocation(base, type_order);
  std::vector<int> type_of(base.key.size(), -1);
  int last = -1;  // behind it nobody was looked at; before it, who is not placed was passed over
  for (int i = 0; i < base.jobs(); ++i) {
    for (int j = 0; j < base.types(); ++j) {
      if (x.alone[base.at(i, j)] > 0.0) type_of[U(i)] = j, last = i;
    }
  }
  std::vector<std::array<int, 3>> pairs;  // first, second, type
  for (int i = last + 1; i < base.jobs(); ++i) {
    int best = -1;
    double best_gain = kLeastGain;
    for (int k = 0; k <= last; ++k) {
      if (type_of[U(k)] < 0) continue;  // passed over, or shares already
      const double gain = Gain(problem, k, i, type_of[U(k)]);
      if (gain > best_gain) best_gain = gain, best = k;
    }
    if (best < 0) break;
    pairs.push_back({best, i, type_of[U(best)]});
    x.alone[base.at(best, type_of[U(best)])] = 0.0;
    type_of[U(best)] = -1;
  }
  std::sort(pairs.begin(), pairs.end());
  x.together.assign(pairs.size() * base.workers.size(), 0.0);
  for (const auto& [a, b, type] : pairs) {
    x.together[base.at(static_cast<int>(x.pairs.size()), type)] = 1.0;
    x.pairs.push_back({a, b});
  }
  return x;
}

std::unique_ptr<PackedObjective> MakePackedFifo(const ObjectiveOptions&, Params&) {
  return std::make_unique<Policy>();
}

}  // namespace berth::gavel
