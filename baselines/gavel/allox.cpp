#include "baselines/gavel/allox.hpp"

#include <algorithm>

#include "baselines/gavel/objective_list.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

struct Place {
  int type;
  int from_end;  // k, 1 = last
};

// One column a worker and place, type by type in alphabetical order.
std::vector<Place> Places(const Problem& problem, std::span<const int> free, int jobs) {
  std::vector<Place> places;
  for (int type : TypesByName(problem)) {
    const int workers = free[U(type)];
    for (int k = 1; workers > 0 && (k - 1) * workers < jobs; ++k) {
      places.insert(places.end(), U(workers), Place{type, k});
    }
  }
  return places;
}

}  // namespace

Allocation Allox::Allocate(const Problem& problem, double* cost) {
  std::vector<int> free = problem.workers;
  Allocation x(problem.throughput.size(), 0.0);
  if (problem.jobs() > 0 && U(problem.key.back()) >= type_of_.size()) {
    type_of_.resize(U(problem.key.back()) + 1, -1);
  }
  std::vector<int> waiting;
  for (int i = 0; i < problem.jobs(); ++i) {
    if (problem.gang[U(i)] != 1) {
      throw Error(
          Join("gavel(objective=allox): expected jobs of one GPU, found a gang of ", problem.gang[U(i)]));
    }
    int& type = type_of_[U(problem.key[U(i)])];
    if (type >= 0 && problem.workers[U(type)] < 1) type = -1;  // its GPUs have left
    if (type < 0) {
      waiting.push_back(i);
      continue;
    }
    --free[U(type)];
    x[problem.at(i, type)] = 1.0;
  }
  const int jobs = static_cast<int>(waiting.size());
  const std::vector<Place> places = Places(problem, free, jobs);
  if (cost != nullptr) *cost = 0.0;
  if (places.empty()) return x;
  // Since arrival is the same in every column: it does not choose.
  std::vector<double> costs;
  costs.reserve(U(jobs) * places.size());
  for (int i : waiting) {
    for (const Place& place : places) {
      const double rate = std::max(problem.throughput[problem.at(i, place.type)], 1e-10);
      costs.push_back(place.from_end * (problem.remaining[U(i)] / rate));
    }
  }
  const std::vector<int> choice = CheapestAssignment(costs, jobs, static_cast<int>(places.size()));
  // The queues of a type: places[k - 1] in order of arrival. Of a place not full, those behind it wait for
  // the latest arrivals of the place after: which of them is all the same to the cost.
  std::vector<std::vector<std::vector<int>>> queue(problem.workers.size());
  for (int w = 0; w < jobs; ++w) {
    const Place& place = places[U(choice[U(w)])];
    if (cost != nullptr) {
      *cost += costs[U(w) * places.size() + U(choice[U(w)])] + problem.since[U(waiting[U(w)])];
    }
    auto& levels = queue[U(place.type)];
    if (levels.size() < U(place.from_end)) levels.resize(U(place.from_end));
    levels[U(place.from_end - 1)].push_back(waiting[U(w)]);
  }
  for (int type = 0; type < problem.types(); ++type) {
    std::size_t ahead = 0;  // of the places so far, from the front of the queues
    const auto& levels = queue[U(type)];
    for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
      for (std::size_t n = 0; n + ahead < level->size(); ++n) {
        const int job = (*level)[n];
        if (problem.throughput[problem.at(job, type)] <= 0.0) continue;  // no other place was free: it waits
        type_of_[U(problem.key[U(job)])] = type;
        x[problem.at(job, type)] = 1.0;
      }
      ahead = std::max(ahead, level->size());
    }
  }
  return x;
}

namespace {

class AlloxPolicy final : public Objective {
 public:
  bool reads_future() const override { return true; }
  void Reset(std::uint64_t) override { allox_.Reset(); }
  int largest_gang() const override { return 1; }
  bool Allocate(const Problem& problem, Allocation& x) override {
    x = allox_.Allocate(problem);
    return true;
  }

 private:
  Allox allox_;
};

}  // namespace

ObjectiveInfo AlloxObjective() {
  return {.summary = "least mean completion time by matching, no preemption; single-GPU jobs",
          .source = "Le et al., EuroSys 2020",
          .aware_name = "allox",
          .agnostic_name = "",
          .awareness = Awareness::kAwareOnly,
          .make = [](const ObjectiveOptions&, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<AlloxPolicy>();
          }};
}

}  // namespace berth::gavel
