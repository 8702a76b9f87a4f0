#include "baselines/adaptive/sia_core.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "baselines/adaptive/sia_states.hpp"
#include "env/base/index.hpp"

namespace berth::sia {
namespace {

constexpr std::int64_t kNoCost = std::numeric_limits<std::int64_t>::max() / 2;

}  // namespace

// From the base of a class to one of its options (the base among them, which changes nothing).
struct Core::Move {
  int option = 0;
  std::int64_t reduced = 0;
  int frees_type = 0, frees = 0, takes_type = 0, takes = 0;  // GPUs
  std::uint64_t key = 0;                                     // added to that of a state
};

// One class, and what the classes after it can still do about GPUs lacking or left over.
struct Core::Stage {
  int its_class = 0;
  std::vector<Move> moves;                   // by reduced cost; the base first
  std::vector<std::int64_t> can_free;        // [types] GPUs
  std::vector<std::int64_t> can_take;        // [types] GPUs
  std::vector<double> price_of_free;         // [types] the least reduced cost for a GPU
  std::vector<double> price_of_taking;       // [types] the same, or what a GPU costs that stays free
  std::vector<std::int64_t> repair;          // [residues] the least that moves and GPUs left free can cost
  std::vector<std::int32_t> parent, option;  // [states] the way back
};

Core::Core(const Choice& choice, const Prices& prices) : choice_(choice), prices_(prices) {
  reduced_.resize(choice.option.size());
  free_ = choice.capacity;
  for (int its_class = 0; its_class < choice.classes(); ++its_class) {
    const int from = choice.begin[U(its_class)], to = choice.begin[U(its_class) + 1];
    std::int64_t least = kNoCost;
    int idle = -1, base = -1;
    for (int i = from; i < to; ++i) {
      const Option& option = choice.option[U(i)];
      reduced_[U(i)] = option.cost + (option.gpus == 0 ? 0 : prices.per_gpu[U(option.type)] * option.gpus);
      least = std::min(least, reduced_[U(i)]);
      if (option.gpus == 0 && (idle < 0 || option.cost < choice.option[U(idle)].cost)) idle = i;
    }
    for (int i = from; i < to; ++i) {
      reduced_[U(i)] -= least;
      if (reduced_[U(i)] == 0 && (base < 0 || prices.share[U(i)] > prices.share[U(base)])) base = i;
    }
    base_.push_back(base);
    const Option& its = choice.option[U(base)];
    if (its.gpus > 0) free_[U(its.type)] -= its.gpus;
    found_.push_back(idle);
    cost_ += choice.option[U(idle)].cost;
  }
}

std::vector<bool> Core::Open(std::int64_t limit) const {
  std::vector<bool> open;
  for (std::int64_t reduced : reduced_) open.push_back(reduced <= limit - prices_.bound);
  for (int option : found_) open[U(option)] = true;
  return open;
}

void Core::Offer(const std::vector<int>& chosen) {
  std::int64_t cost = 0;
  std::vector<int> left = choice_.capacity;
  for (int i : chosen) {
    const Option& option = choice_.option[U(i)];
    cost += option.cost;
    if (option.gpus > 0) left[U(option.type)] -= option.gpus;
  }
  const bool fits = std::all_of(left.begin(), left.end(), [](int gpus) { return gpus >= 0; });
  if (fits && cost < cost_) found_ = chosen, cost_ = cost;
}

// The classes with more than one option within the window.
std::vector<Core::Stage> Core::Stages(std::int64_t window) const {
  std::vector<Stage> stages;
  for (int its_class = 0; its_class < choice_.classes(); ++its_class) {
    const int from = choice_.begin[U(its_class)], to = choice_.begin[U(its_class) + 1];
    const Option& base = choice_.option[U(base_[U(its_class)])];
    Stage stage;
    stage.its_class = its_class;
    stage.moves.push_back({base_[U(its_class)]});
    for (int i = from; i < to; ++i) {
      if (reduced_[U(i)] > window || i == base_[U(its_class)]) continue;
      const Option& option = choice_.option[U(i)];
      Move move{i, reduced_[U(i)]};
      move.frees_type = std::max(base.type, 0), move.takes_type = std::max(option.type, 0);
      const int both = option.type == base.type ? std::min(option.gpus, base.gpus) : 0;
      move.frees = base.gpus - both, move.takes = option.gpus - both;
      move.key = States::Key(move.frees_type, move.frees) - States::Key(move.takes_type, move.takes);
      stage.moves.push_back(move);
    }
    if (stage.moves.size() < 2) continue;
    std::stable_sort(stage.moves.begin() + 1, stage.moves.end(),
                     [](const Move& a, const Move& b) { return a.reduced < b.reduced; });
    stages.push_back(std::move(stage));
  }
  // Those that hardly cost anything come last: until then there are few states.
  std::stable_sort(stages.begin(), stages.end(),
                   [](const Stage& a, const Stage& b) { return a.moves[1].reduced > b.moves[1].reduced; });
  Look(stages);
  return stages;
}

// What later stages can do, from the last to the first.
void Core::Look(std::vector<Stage>& stages) const {
  const std::size_t types = choice_.capacity.size();
  std::vector<std::int64_t> can_free(types, 0), can_take(types, 0);
  std::vector<double> of_free(types, static_cast<double>(kNoCost)), of_taking;
  for (std::int64_t price : prices_.per_gpu) of_taking.push_back(static_cast<double>(price));
  const Residues residues(types);
  std::vector<std::int64_t> repair(residues.count(), 0), before;
  for (std::size_t residue = 0; residue < repair.size(); ++residue)
    for (std::size_t type = 0; type < types; ++type)
      repair[residue] += prices_.per_gpu[type] * residues.GpusOf(residue, type);
  std::vector<std::int64_t> frees(types), takes(types);
  for (std::size_t i = stages.size(); i-- > 0;) {
    Stage& stage = stages[i];
    stage.can_free = can_free, stage.can_take = can_take;
    stage.price_of_free = of_free, stage.price_of_taking = of_taking;
    stage.repair = repair;
    before = repair;
    std::fill(frees.begin(), frees.end(), 0), std::fill(takes.begin(), takes.end(), 0);
    for (std::size_t m = 1; m < stage.moves.size(); ++m) {
      const Move& move = stage.moves[m];
      const std::size_t from = U(move.frees_type), to = U(move.takes_type);
      const auto cost = static_cast<double>(move.reduced);
      if (move.frees > 0) {
        frees[from] = std::max<std::int64_t>(frees[from], move.frees);
        of_free[from] = std::min(of_free[from], cost / move.frees);
      }
      if (move.takes > 0) {
        takes[to] = std::max<std::int64_t>(takes[to], move.takes);
        of_taking[to] = std::min(of_taking[to], cost / move.takes);
      }
      for (std::size_t residue = 0; residue < repair.size(); ++residue) {
        const std::size_t then = residues.Add(residues.Add(residue, from, move.frees), to, -move.takes);
        before[residue] = std::min(before[residue], repair[then] + move.reduced);
      }
    }
    std::swap(repair, before);
    for (std::size_t type = 0; type < types; ++type)
      can_free[type] += frees[type], can_take[type] += takes[type];
  }
}

// What the stages after this one must at least pay for GPUs lacking or left over: in proportion, or by the
// remainders, whichever is more. Never a reduced cost: kNoCost where they cannot free enough.
std::int64_t Core::Rest(const Stage& stage, const std::int32_t* left) const {
  double lacking = 0.0, over = 0.0;
  for (std::size_t type = 0; type < choice_.capacity.size(); ++type) {
    const std::int32_t gpus = left[type];
    if (gpus < 0) {
      if (-gpus > stage.can_free[type]) return kNoCost;
      lacking -= stage.price_of_free[type] * gpus;
    } else if (gpus > 0) {
      const std::int64_t taken = std::min<std::int64_t>(gpus, stage.can_take[type]);
      over += stage.price_of_taking[type] * static_cast<double>(taken) +
              static_cast<double>(prices_.per_gpu[type] * (gpus - taken));
    }
  }
  const double most = std::max(lacking, over);
  return static_cast<std::int64_t>(most - 1e-12 * most);
}

void Core::Keep(const std::vector<Stage>& stages, std::size_t stage, std::int32_t state, std::int64_t above) {
  found_ = base_;
  cost_ = prices_.bound + above;
  for (std::size_t i = stage + 1; i-- > 0;) {
    found_[U(stages[i].its_class)] = stages[i].option[U(state)];
    state = stages[i].parent[U(state)];
  }
}

bool Core::Search(std::int64_t limit, const CoreEffort& effort) {
  std::int64_t window = std::min(limit, cost_ - 1) - prices_.bound;
  if (window < 0) return true;
  const std::size_t types = choice_.capacity.size();
  const Residues residues(types);
  std::vector<Stage> stages = Stages(window);
  // Where no GPU lacks, the state is an answer, the classes that follow at their base: what it costs above
  // the bound, else kNoCost.
  const auto above = [&](const std::int32_t* left, std::int64_t reduced) {
    for (std::size_t type = 0; type < types; ++type) {
      if (left[type] < 0) return kNoCost;
      reduced += prices_.per_gpu[type] * left[type];
    }
    return reduced;
  };
  States now(types), next(types);
  std::vector<std::int32_t> left(free_.begin(), free_.end());
  now.Put(0, left.data(), 0, -1, -1);
  if (const std::int64_t its = above(left.data(), 0); its <= window) {
    found_ = base_, cost_ = prices_.bound + its;
    window = its - 1;
  }
  bool complete = true;
  std::vector<std::pair<std::int64_t, std::int64_t>> score;  // about what it costs; how far off it is
  for (std::size_t i = 0; i < stages.size() && window >= 0; ++i) {
    Stage& stage = stages[i];
    next.Clear();
    std::int32_t best = -1;
    for (std::size_t state = 0; state < now.size() && steps_ <= effort.steps; ++state) {
      for (const Move& move : stage.moves) {
        const std::int64_t reduced = now.reduced(state) + move.reduced;
        if (reduced > window) break;
        ++steps_;
        std::copy_n(now.left(state), types, left.data());
        if (move.frees > 0) left[U(move.frees_type)] += move.frees;
        if (move.takes > 0) left[U(move.takes_type)] -= move.takes;
        const std::int64_t repair = stage.repair[residues.Of(left.data())];
        if (reduced + repair > window) continue;
        const std::int64_t rest = Rest(stage, left.data());
        if (rest > window - reduced) continue;
        const std::int32_t at = next.Put(now.key(state) + move.key, left.data(), reduced,
                                         static_cast<std::int32_t>(state), move.option);
        if (at < 0) continue;
        std::int64_t off = 0;
        for (std::size_t type = 0; type < types; ++type)
          off += (prices_.per_gpu[type] + 1) * std::abs(left[type]);
        score.resize(next.size());
        const std::int64_t least = reduced + std::max(rest, repair);
        score[U(at)] = {least + static_cast<std::int64_t>(effort.pull * static_cast<double>(off)), off};
        if (const std::int64_t its = above(left.data(), reduced); its <= window) window = its - 1, best = at;
      }
    }
    stage.parent = next.parents(), stage.option = next.options();
    if (best >= 0) Keep(stages, i, best, window + 1);
    if (steps_ > effort.steps) return window < 0;
    if (next.size() > effort.width) {
      next.Narrow(effort.width, score);
      stage.parent = next.parents(), stage.option = next.options();
      complete = false;
    }
    std::swap(now, next);
  }
  return complete || window < 0;
}

}  // namespace berth::sia
