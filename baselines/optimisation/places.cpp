#include "baselines/optimisation/places.hpp"

#include <algorithm>
#include <numeric>

#include "baselines/cheapest_assignment.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

struct Place {
  int type, gpu;  // of free_at
  int from_end;   // k, 1 = last
};

// GPUs beyond the n that are free first are nobody's: one of those is idle.
std::vector<Place> Places(const Instance& instance, std::span<const int> depth) {
  std::vector<Place> places;
  for (int type = 0; type < instance.types(); ++type) {
    const int gpus = std::min(static_cast<int>(instance.free_at[U(type)].size()), instance.jobs());
    for (int gpu = 0; gpu < gpus; ++gpu) {
      for (int k = 1; k <= depth[U(type)]; ++k) places.push_back({type, gpu, k});
    }
  }
  return places;
}

// [n] the place of each job, among those of `depth` [G] jobs a GPU.
std::vector<Place> Choose(const Instance& instance, std::span<const int> depth) {
  const std::vector<Place> places = Places(instance, depth);
  std::vector<double> cost;
  cost.reserve(U(instance.jobs()) * places.size());
  for (int i = 0; i < instance.jobs(); ++i) {
    for (const Place& place : places) {
      const double free_at = instance.free_at[U(place.type)][U(place.gpu)];
      cost.push_back(free_at + place.from_end * instance.at(i, place.type));
    }
  }
  std::vector<Place> chosen;
  for (int column : CheapestAssignment(cost, instance.jobs(), static_cast<int>(places.size()))) {
    chosen.push_back(places[U(column)]);
  }
  return chosen;
}

}  // namespace

bool HasPlaces(const Instance& instance) {
  return std::all_of(instance.gang.begin(), instance.gang.end(), [](int gang) { return gang == 1; }) &&
         std::all_of(instance.weight.begin(), instance.weight.end(),
                     [&](double weight) { return weight == instance.weight.front(); });
}

Assignment PlaceFromTheEnd(const Instance& instance) {
  const int n = instance.jobs();
  // As few places as let any type hold everybody. Where no GPU has all its places taken, more would change
  // nothing: a limit on the GPUs' loads that does not bind may be dropped from a linear program.
  std::vector<int> depth;
  for (const auto& free_at : instance.free_at) {
    const int gpus = std::max(1, static_cast<int>(free_at.size()));
    depth.push_back((n + gpus - 1) / gpus);
  }
  std::vector<Place> place;
  for (bool binds = true; binds;) {
    place = Choose(instance, depth);
    binds = false;
    const std::vector<int> had = depth;
    for (const Place& its : place) {
      if (its.from_end < had[U(its.type)] || had[U(its.type)] == n) continue;
      depth[U(its.type)] = std::min(n, 2 * had[U(its.type)]);
      binds = true;
    }
  }
  Assignment plan{std::vector<int>(U(n)), {}};
  for (const Place& its : place) plan.type.push_back(its.type);
  std::iota(plan.order.begin(), plan.order.end(), 0);
  std::stable_sort(plan.order.begin(), plan.order.end(), [&](int a, int b) {
    return instance.at(a, plan.type[U(a)]) < instance.at(b, plan.type[U(b)]);
  });
  return plan;
}

}  // namespace berth
