#include "baselines/adaptive/pollux_genetic.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "baselines/adaptive/pareto.hpp"
#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"

namespace berth::pollux {
namespace {

constexpr double kCross = 0.9;               // pairs that are crossed
constexpr double kBack = 0.1;                // rows put back to the present ones
constexpr double kTouch = 0.1, kTake = 0.1;  // rows of which entries are taken away, and entries of those
constexpr int kMatings = 100;                // attempts at offspring that nobody equals

bool Happens(Stream& stream, double chance) {
  return stream.Bits() < chance * 4294967296.0;
}

std::uint64_t HashOf(const Allocation& allocation) {
  const std::span<const std::uint8_t> all = allocation.all();
  std::uint64_t hash = 0x9E3779B97F4A7C15u;
  std::size_t i = 0;
  for (std::uint64_t word = 0; i + 8 <= all.size(); i += 8) {
    std::memcpy(&word, all.data() + i, 8);
    hash = std::rotl((hash ^ word) * 0xBF58476D1CE4E5B9u, 29);
  }
  for (; i < all.size(); ++i) hash = (hash ^ all[i]) * 0x100000001B3u;
  return hash ^ hash >> 32;
}

struct Individual {
  Allocation state;
  Value value;
  std::uint64_t hash;
  double crowding;
};

class Run {
 public:
  Run(const Objective& objective, const GeneticOptions& options, Stream& stream)
      : objective_(objective),
        options_(options),
        stream_(stream),
        jobs_(objective.jobs()),
        nodes_(objective.nodes()),
        log_miss_(jobs_ > 1 ? Log(1.0 - 1.0 / jobs_) : 0.0) {}

  // The last population, the best rank first.
  std::vector<Individual> Go(std::vector<Allocation> seeds) {
    for (Allocation& seed : seeds) Add(std::move(seed), population_);
    Survive(population_.size());
    for (int g = 1; g < options_.generations && Breed(); ++g) Survive(U(options_.population));
    return std::move(population_);
  }

 private:
  // Repaired, and valued and kept if nobody equals it (by a hash of 64 bits).
  void Add(Allocation state, std::vector<Individual>& to) {
    objective_.Repair(state, [this](int n) -> const std::vector<int>& { return Permutation(n); });
    const std::uint64_t hash = HashOf(state);
    if (!known_.insert(hash).second) return;
    const Value value = {objective_.Fitness(state), objective_.Utility(state)};
    to.push_back({std::move(state), value, hash, 0.0});
  }

  // Adds offspring; false = none that is new was found.
  bool Breed() {
    std::vector<Individual> offspring;
    const auto wanted = U(options_.population);
    for (int mating = 0; offspring.size() < wanted && mating <= kMatings; ++mating) {
      const std::vector<int> parents = Tournaments(2 * ((wanted - offspring.size() + 1) / 2));
      for (std::size_t p = 0; p + 1 < parents.size(); p += 2) {
        Allocation a = population_[U(parents[p])].state, b = population_[U(parents[p + 1])].state;
        if (Happens(stream_, kCross)) Cross(a, b);
        for (Allocation* child : {&a, &b}) {
          if (offspring.size() == wanted) break;
          Mutate(*child);
          Add(std::move(*child), offspring);
        }
      }
    }
    std::move(offspring.begin(), offspring.end(), std::back_inserter(population_));
    return !offspring.empty();
  }

  // Of two at a time, taken from random orders of all, who dominates; else who is less crowded; else either.
  std::vector<int> Tournaments(std::size_t count) {
    std::vector<int> drawn, winners;
    while (drawn.size() < 2 * count) {
      const std::vector<int>& order = Permutation(static_cast<int>(population_.size()));
      drawn.insert(drawn.end(), order.begin(), order.end());
    }
    for (std::size_t i = 0; i < count; ++i) {
      const int a = drawn[2 * i], b = drawn[2 * i + 1];
      const Individual &x = population_[U(a)], &y = population_[U(b)];
      if (Dominates(x.value, y.value)) {
        winners.push_back(a);
      } else if (Dominates(y.value, x.value)) {
        winners.push_back(b);
      } else if (x.crowding != y.crowding) {
        winners.push_back(x.crowding > y.crowding ? a : b);
      } else {
        winners.push_back(stream_.Below(2) == 0 ? a : b);
      }
    }
    return winners;
  }

  // Jobs before a random one change parents.
  void Cross(Allocation& a, Allocation& b) {
    const int point = static_cast<int>(stream_.Below(static_cast<std::uint32_t>(jobs_)));
    for (int j = 0; j < point; ++j) std::swap_ranges(a.row(j).begin(), a.row(j).end(), b.row(j).begin());
  }

  void Mutate(Allocation& state) {
    for (int j = 0; j < jobs_; ++j) {
      if (!Happens(stream_, kBack)) continue;
      const std::span<const std::uint8_t> present = objective_.problem().present.row(j);
      std::copy(present.begin(), present.end(), state.row(j).begin());
    }
    for (int j = 0; j < jobs_; ++j) {
      if (!Happens(stream_, kTouch)) continue;
      for (std::uint8_t& gpus : state.row(j))
        if (Happens(stream_, kTake)) gpus = 0;
    }
    Raise(state);
  }

  // On each node with room: every job with chance 1/jobs, and those that are there with one in how many they
  // are, get a uniform number of GPUs from what they have to all of the node's.
  void Raise(Allocation& state) {
    used_.assign(U(nodes_), 0);
    there_.assign(U(nodes_), 0);
    here_.clear();
    for (int j = 0; j < jobs_; ++j) {
      const std::span<const std::uint8_t> row = state.row(j);
      for (int n = 0; n < nodes_; ++n) {
        if (row[U(n)] == 0) continue;
        used_[U(n)] += row[U(n)];
        ++there_[U(n)];
        here_.push_back({j, n});
      }
    }
    const std::vector<int>& gpus = objective_.problem().node_gpus;
    hits_.clear();
    for (int n = 0; n < nodes_; ++n) {
      if (used_[U(n)] >= gpus[U(n)]) continue;
      for (int j = Skip(); j < jobs_; j += 1 + Skip()) hits_.push_back({j, n});
    }
    for (const auto& [j, n] : here_) {
      if (used_[U(n)] < gpus[U(n)] && Happens(stream_, 1.0 / there_[U(n)])) hits_.push_back({j, n});
    }
    std::sort(hits_.begin(), hits_.end());
    hits_.erase(std::unique(hits_.begin(), hits_.end()), hits_.end());
    for (const auto& [j, n] : hits_) {
      std::uint8_t& entry = state.row(j)[U(n)];
      const int more = gpus[U(n)] - entry;
      if (more > 0)
        entry = static_cast<std::uint8_t>(entry + stream_.Below(static_cast<std::uint32_t>(more + 1)));
    }
  }

  // Jobs passed over until one is hit, each with chance 1/jobs.
  int Skip() {
    if (jobs_ == 1) return 0;
    const double skipped = Log(1.0 - stream_.Uniform()) / log_miss_;
    return skipped < jobs_ ? static_cast<int>(skipped) : jobs_;
  }

  void Survive(std::size_t count) {
    std::vector<Value> values;
    for (const Individual& one : population_) values.push_back(one.value);
    std::vector<Individual> next;
    for (const std::vector<int>& front : ParetoFronts(values, count)) {
      const std::vector<double> crowding = Crowding(values, front);
      std::vector<int> order(front.size());
      std::iota(order.begin(), order.end(), 0);
      if (next.size() + front.size() > count) {
        order = Permutation(static_cast<int>(front.size()));
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return crowding[U(a)] > crowding[U(b)]; });
        order.resize(count - next.size());
      }
      for (const int i : order) {
        next.push_back(std::move(population_[U(front[U(i)])]));
        next.back().crowding = crowding[U(i)];
      }
    }
    population_ = std::move(next);
    known_.clear();
    for (const Individual& one : population_) known_.insert(one.hash);
  }

  const std::vector<int>& Permutation(int n) {
    order_.resize(U(n));
    std::iota(order_.begin(), order_.end(), 0);
    for (int i = n - 1; i > 0; --i)
      std::swap(order_[U(i)], order_[stream_.Below(static_cast<std::uint32_t>(i + 1))]);
    return order_;
  }

  const Objective& objective_;
  const GeneticOptions& options_;
  Stream& stream_;
  int jobs_, nodes_;
  double log_miss_;  // log(1 - 1/jobs)
  std::vector<Individual> population_;
  std::unordered_set<std::uint64_t> known_;  // of the population and its offspring
  std::vector<int> order_, used_, there_;
  std::vector<std::pair<int, int>> here_, hits_;  // (job, node)
};

}  // namespace

std::vector<Allocation> CarryOver(std::span<const Allocation> from, std::span<const std::int64_t> from_ids,
                                  std::span<const std::int64_t> ids, bool rows_by_place) {
  std::unordered_map<std::int64_t, int> was;
  for (int j = 0; j < static_cast<int>(from_ids.size()); ++j) was[from_ids[U(j)]] = j;
  std::vector<int> source, target;  // rows of those that stayed
  for (int j = 0; j < static_cast<int>(ids.size()); ++j) {
    const auto at = was.find(ids[U(j)]);
    if (at == was.end()) continue;
    source.push_back(at->second);
    target.push_back(j);
  }
  if (rows_by_place) std::sort(source.begin(), source.end());
  std::vector<Allocation> states;
  for (const Allocation& old : from) {
    Allocation& state = states.emplace_back(static_cast<int>(ids.size()), old.nodes());
    for (std::size_t i = 0; i < source.size(); ++i) {
      const std::span<const std::uint8_t> row = old.row(source[i]);
      std::copy(row.begin(), row.end(), state.row(target[i]).begin());
    }
  }
  return states;
}

std::vector<Allocation> Genetic::Seeds(const Objective& objective, std::span<const std::int64_t> ids) const {
  if (front_.empty() || front_[0].nodes() != objective.nodes()) return {objective.problem().present};
  return CarryOver(front_, front_ids_, ids, options_.rows_by_place);
}

Found Genetic::Solve(const Objective& objective, std::span<const std::int64_t> ids, Stream& stream) {
  BERTH_CHECK(objective.jobs() >= 1 && ids.size() == U(objective.jobs()), objective.jobs(), " ", ids.size());
  BERTH_CHECK(options_.population >= 2 && options_.generations >= 1, options_.population, " ",
              options_.generations);
  const std::vector<Individual> last = Run(objective, options_, stream).Go(Seeds(objective, ids));
  std::vector<Value> values;
  for (const Individual& one : last) values.push_back(one.value);
  front_.clear();
  front_ids_.assign(ids.begin(), ids.end());
  Found found;
  const std::vector<std::vector<int>> fronts = ParetoFronts(values, 1);
  for (const int i : fronts[0]) {
    const Individual& one = last[U(i)];
    if (front_.empty() || one.value[0] > found.fitness) found = {one.state, one.value[0]};
    front_.push_back(one.state);
  }
  return found;
}

}  // namespace berth::pollux
