// First in, first out (gavel/SPEC.md §2): the reference's fifo_perf, and what its base `fifo` means to be.
#include <algorithm>

#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/packed_objective.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

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
    const int type = type_of_[U(problem.key[U(i)])];
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

ObjectiveInfo FifoObjective() {
  return {.summary = "in order of arrival, each on its fastest type with room; aware=false: on a random one",
          .source = "gavel/SPEC.md §2",
          .aware_name = "fifo_perf",
          .agnostic_name = "fifo",
          .only_positive = true,
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<Fifo>(options.aware);
          },
          .packed_name = "fifo_packed",
          .make_packed = MakePackedFifo};
}

}  // namespace berth::gavel
