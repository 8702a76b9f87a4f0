// First in, first out (Gavel's policies/fifo.py): its fifo_perf, and what its base `fifo` means to be.
#include <algorithm>
#include <array>

#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr double kLeastPairGain = 1.5;  // of a pair over one of them

// sum r_pair / r_alone of the two on the type; 0 where they cannot share.
double Gain(const PackedProblem& problem, int a, int b, int type) {
  const Problem& base = problem.base;
  const double first = problem.Beside(a, b, type), second = problem.Beside(b, a, type);
  if (base.gang[U(a)] != 1 || base.gang[U(b)] != 1 || first <= 0.0 || second <= 0.0) return 0.0;
  return first / base.throughput[base.at(a, type)] + second / base.throughput[base.at(b, type)];
}

class Fifo final : public Objective {
 public:
  explicit Fifo(bool aware) : aware_(aware) {}
  void Reset(std::uint64_t seed) override { queue_.Reset(seed); }
  bool Allocate(const Problem& problem, Allocation& x) override {
    x = aware_ ? FifoAllocation(problem, TypesByName(problem)) : queue_.Allocate(problem);
    return true;
  }

 private:
  bool aware_;
  QueueInOrder queue_;
};

class PackedFifoObjective final : public PackedObjective {
 public:
  bool Allocate(const PackedProblem& problem, PackedAllocation& x) override {
    x = PackedFifo(problem, TypesByName(problem.base));
    return true;
  }
};

}  // namespace

Allocation FifoAllocation(const Problem& problem, const std::vector<int>& type_order) {
  std::vector<int> free = problem.workers;
  Allocation x(problem.throughput.size(), 0.0);
  for (int i = 0; i < problem.jobs(); ++i) {
    const int gang = problem.gang[U(i)];
    int best = -1;
    for (int type : type_order) {
      if (free[U(type)] < gang) continue;
      if (best < 0 || problem.throughput[problem.at(i, type)] > problem.throughput[problem.at(i, best)])
        best = type;
    }
    if (best < 0) break;
    if (problem.throughput[problem.at(i, best)] <= 0.0) continue;  // not in this pass; the scan goes on
    free[U(best)] -= gang;
    x[problem.at(i, best)] = 1.0;
  }
  return x;
}

void QueueInOrder::Reset(std::uint64_t seed) {
  random_.emplace(seed, Purpose::kScheduler);
  type_of_.clear();
}

Allocation QueueInOrder::Allocate(const Problem& problem) {
  BERTH_CHECK(random_.has_value(), "Reset comes first");
  std::vector<int> free = problem.workers;
  Allocation x(problem.throughput.size(), 0.0);
  if (problem.jobs() > 0 && U(problem.key.back()) >= type_of_.size()) {
    type_of_.resize(U(problem.key.back()) + 1, -1);
  }
  for (int i = 0; i < problem.jobs(); ++i) {
    int& type = type_of_[U(problem.key[U(i)])];
    if (type >= 0 && problem.workers[U(type)] < problem.gang[U(i)]) type = -1;  // its GPUs have left
    if (type < 0) continue;
    free[U(type)] -= problem.gang[U(i)];
    x[problem.at(i, type)] = 1.0;
  }
  std::vector<int> open;
  for (int i = 0; i < problem.jobs(); ++i) {
    int& type = type_of_[U(problem.key[U(i)])];
    if (type >= 0) continue;
    open.clear();
    for (int j : TypesByName(problem)) {
      if (free[U(j)] >= problem.gang[U(i)] && problem.throughput[problem.at(i, j)] > 0.0) open.push_back(j);
    }
    if (open.empty()) break;
    type = open[random_->Below(static_cast<std::uint32_t>(open.size()))];
    free[U(type)] -= problem.gang[U(i)];
    x[problem.at(i, type)] = 1.0;
  }
  return x;
}

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
    double best_gain = kLeastPairGain;
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

ObjectiveInfo FifoObjective() {
  return {.summary = "in order of arrival, each on its fastest type with room; aware=false: on a random one",
          .source = "OSDI 2020: policies/fifo.py of its code",
          .aware_name = "fifo_perf",
          .agnostic_name = "fifo",
          .only_positive = true,
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<Fifo>(options.aware);
          },
          .packed_name = "fifo_packed",
          .make_packed = [](const ObjectiveOptions&, Params&) -> std::unique_ptr<PackedObjective> {
            return std::make_unique<PackedFifoObjective>();
          }};
}

}  // namespace berth::gavel
