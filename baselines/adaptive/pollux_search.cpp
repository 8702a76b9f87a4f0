#include "baselines/adaptive/pollux_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "baselines/adaptive/pollux_bound.hpp"
#include "baselines/adaptive/pollux_packing.hpp"
#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"

namespace berth::pollux {
namespace {

constexpr double kReached = 1e-9;  // of the cost: what rounding of sums may differ by
constexpr double kNoise = 0.5;     // by how much of itself a rate may be thought lower, so that others win
constexpr double kPatience = 0.2;  // of a usual job's cost: what a change may cost at first, in the mean

class Ruin {
 public:
  Ruin(const Objective& objective, const std::vector<std::vector<RelaxedOption>>& options, Stream& stream)
      : objective_(objective), options_(options), stream_(stream), packing_(objective, stream) {}

  Packing& packing() { return packing_; }

  // Kept rows first, then jobs that span nodes, most GPUs first; who does not fit takes what is best then.
  void Pack(const std::vector<RelaxedChoice>& choices) {
    packing_.Set(Allocation(objective_.jobs(), objective_.nodes()));
    picks_.clear();
    for (int j = 0; j < objective_.jobs(); ++j) picks_.push_back({j, choices[U(j)]});
    PackPicks();
  }

  // One attempt: jobs leave and come back. It stays if it costs at most `patience` more; false = it does not.
  bool Try(double patience) {
    Choose();
    double before = 0.0;
    saved_.clear();
    for (const int j : out_) {
      before += packing_.cost(j);
      const std::span<const std::uint8_t> row = packing_.allocation().row(j);
      saved_.insert(saved_.end(), row.begin(), row.end());
      packing_.Leave(j);
    }
    Recreate();
    double after = 0.0;
    for (const int j : out_) after += packing_.cost(j);
    if (after <= before + patience) return true;
    for (const int j : out_) packing_.Leave(j);
    for (std::size_t i = 0; i < out_.size(); ++i)
      packing_.Put(out_[i], std::span(saved_).subspan(i * U(objective_.nodes()), U(objective_.nodes())));
    return false;
  }

 private:
  int Draw(int n) { return static_cast<int>(stream_.Below(static_cast<std::uint32_t>(n))); }

  void Out(int job) {
    if (std::find(out_.begin(), out_.end(), job) == out_.end()) out_.push_back(job);
  }
  void OutOf(int node) {
    for (int j = 0; j < objective_.jobs(); ++j)
      if (packing_.allocation().row(j)[U(node)] > 0) Out(j);
  }

  void PackPicks() {
    std::stable_sort(picks_.begin(), picks_.end(), [](const Pick& a, const Pick& b) {
      const RelaxedChoice &x = a.choice, &y = b.choice;
      return std::tuple(!x.kept, -std::min(x.nodes, 2), -x.replicas) <
             std::tuple(!y.kept, -std::min(y.nodes, 2), -y.replicas);
    });
    late_.clear();
    for (const auto& [j, choice] : picks_) {
      if (!(choice.kept ? packing_.PutPresent(j) : packing_.PutShape(j, choice.nodes, choice.replicas)))
        late_.push_back(j);
    }
    for (const int j : late_) packing_.PutBest(j);
  }

  // The jobs that left share the room there is, wherever it is, as is best for them together.
  void Share() {
    int room = 0;
    for (int n = 0; n < objective_.nodes(); ++n) room += packing_.room(n);
    const std::size_t width = U(room + 1);
    const bool forget = Draw(2) == 0;
    best_.assign(width, 0.0);
    chosen_.assign(out_.size() * width, 0);
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const std::vector<RelaxedOption>& options = options_[U(out_[i])];
      next_.assign(width, std::numeric_limits<double>::infinity());
      for (std::size_t o = 0; o < options.size(); ++o) {
        const RelaxedOption& option = options[o];
        if (option.choice.replicas > room) break;
        if (o > 0 && forget && Draw(4) == 0) continue;  // what is best together may find no nodes
        if (option.choice.kept && !packing_.Fits(out_[i], objective_.problem().present.row(out_[i])))
          continue;
        const auto taken = U(option.choice.replicas);
        for (std::size_t g = taken; g < width; ++g) {
          const double cost = best_[g - taken] + option.cost;
          if (cost < next_[g]) next_[g] = cost, chosen_[i * width + g] = static_cast<std::uint16_t>(o);
        }
      }
      best_.swap(next_);
    }
    picks_.resize(out_.size());
    std::size_t g = width - 1;
    for (std::size_t i = out_.size(); i-- > 0;) {
      const RelaxedOption& option = options_[U(out_[i])][chosen_[i * width + g]];
      picks_[i] = {out_[i], option.choice};
      g -= U(option.choice.replicas);
    }
    PackPicks();
  }

  // Jobs on one to three nodes and up to two others; or a job that is not where it was and all who are there
  // now.
  void Choose() {
    out_.clear();
    if (Draw(3) == 0) {
      const int job = Draw(objective_.jobs());
      Out(job);
      const std::span<const std::uint8_t> present = objective_.problem().present.row(job);
      for (int n = 0; n < objective_.nodes(); ++n)
        if (present[U(n)] > 0) OutOf(n);
    } else {
      for (int i = Draw(3) + (Draw(2) == 0 ? Draw(3) : 0); i >= 0; --i) OutOf(Draw(objective_.nodes()));
    }
    for (int i = Draw(3); i > 0; --i) Out(Draw(objective_.jobs()));
    for (std::size_t i = out_.size(); i > 1; --i)
      std::swap(out_[i - 1], out_[stream_.Below(static_cast<std::uint32_t>(i))]);
  }

  // Either they share the room exactly, or: some take their present rows, some what is best, all others the
  // least they can, and then whoever wins most for a GPU grows. At last each takes what is best for it.
  void Recreate() {
    if (Draw(3) == 0) {
      Share();
      return Polish();
    }
    const int back = Draw(3);  // chance of a present row: none, half, all
    for (const int j : out_) {
      if (packing_.extent(j).nodes > 0 || back == 0 || (back == 1 && Draw(2) == 0)) continue;
      if (objective_.KeptCost(j) < packing_.cost(j) || Draw(2) == 0) packing_.PutPresent(j);
    }
    if (Draw(2) == 0) {  // or who comes first takes what is best
      const int count = Draw(static_cast<int>(out_.size()) + 1);
      for (int i = 0; i < count; ++i)
        if (packing_.extent(out_[U(i)]).nodes == 0) packing_.PutBest(out_[U(i)]);
    }
    for (const int j : out_) {
      if (packing_.extent(j).nodes > 0) continue;
      const int least = std::max(objective_.problem().jobs[U(j)].min_replicas, 1);
      if (objective_.MovedCost(j, 1, least) < packing_.cost(j)) packing_.PutShape(j, 1, least);
    }
    for (;;) {
      int winner = -1;
      Packing::Growth most;
      for (const int j : out_) {
        Packing::Growth growth = packing_.BestGrowth(j);
        growth.rate *= stream_.Uniform(1.0 - kNoise, 1.0);
        if (growth.rate > most.rate) most = growth, winner = j;
      }
      if (winner < 0) break;
      packing_.Grow(winner, most);
    }
    Polish();
  }

  void Polish() {
    for (const int j : out_) {
      const double cost = packing_.cost(j);
      const std::span<const std::uint8_t> row = packing_.allocation().row(j);
      row_.assign(row.begin(), row.end());
      packing_.Leave(j);
      packing_.PutBest(j);
      if (packing_.cost(j) < cost) continue;
      packing_.Leave(j);
      packing_.Put(j, row_);
    }
  }

  struct Pick {
    int job;
    RelaxedChoice choice;
  };

  const Objective& objective_;
  const std::vector<std::vector<RelaxedOption>>& options_;  // [jobs]
  Stream& stream_;
  Packing packing_;
  std::vector<int> out_, late_;
  std::vector<Pick> picks_;
  std::vector<double> best_, next_;
  std::vector<std::uint16_t> chosen_;
  std::vector<std::uint8_t> saved_, row_;
};

double Median(const Packing& packing, int jobs) {
  std::vector<double> costs;
  for (int j = 0; j < jobs; ++j) costs.push_back(std::abs(packing.cost(j)));
  std::nth_element(costs.begin(), costs.begin() + jobs / 2, costs.end());
  return costs[U(jobs / 2)];
}

}  // namespace

Searched Search(const Objective& objective, std::span<const Allocation> seeds, const SearchOptions& options,
                Stream& stream) {
  const std::vector<std::vector<RelaxedOption>> each = RelaxedOptions(objective);
  const Relaxed relaxed = SolveRelaxed(objective, each);
  Ruin ruin(objective, each, stream);
  ruin.Pack(relaxed.choices);
  double cost = ruin.packing().cost();
  const Allocation* fittest = nullptr;
  for (const Allocation& seed : seeds) {
    BERTH_DCHECK(objective.Legal(seed), "seed");
    const double its = objective.Cost(seed);
    if (its < cost) cost = its, fittest = &seed;
  }
  if (fittest != nullptr) ruin.packing().Set(*fittest);
  Searched found;
  found.bound = objective.FitnessOf(relaxed.cost);
  found.best = ruin.packing().allocation();
  const double usual = kPatience * Median(ruin.packing(), objective.jobs());
  const double enough = relaxed.cost + kReached * std::abs(relaxed.cost);
  for (; found.rounds < options.rounds && cost > enough; ++found.rounds) {
    const double left = 1.0 - static_cast<double>(found.rounds) / options.rounds;
    if (!ruin.Try(-usual * left * left * left * Log(1.0 - stream.Uniform()))) continue;
    const double now = ruin.packing().cost();
    if (now < cost) cost = now, found.best = ruin.packing().allocation();
  }
  found.optimal = cost <= enough;
  found.fitness = objective.Fitness(found.best);
  return found;
}

}  // namespace berth::pollux
