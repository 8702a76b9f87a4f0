#include "env/gym/score_order.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

float Gumbel(Stream& stream) {
  return static_cast<float>(-Log(-Log(std::max(stream.Uniform(), 1e-300))));
}

// One of those about `score` that are below `most`: exp(-x) = exp(-g) + exp(-most), where g may be anything.
float GumbelBelow(float most, float score, Stream& stream) {
  const float g = score + Gumbel(stream);
  return std::min(g, most) - static_cast<float>(Log(1.0 + Exp(-std::abs(static_cast<double>(g) - most))));
}

}  // namespace

int BestLegal(std::span<const std::uint8_t> mask, std::span<const float> scores, Stream* noise) {
  int best = -1;
  float best_score = 0.0F;
  for (std::size_t action = 0; action < mask.size(); ++action) {
    if (mask[action] == 0) continue;
    const float score = noise != nullptr ? scores[action] + Gumbel(*noise) : scores[action];
    if (best < 0 || score > best_score) best = static_cast<int>(action), best_score = score;
  }
  return best;
}

int BestLegal(const ClusterView& view, DecisionPoint& point, std::span<const float> scores, Stream* noise) {
  point.OfferDone(point.Runs(view) || point.mask().starts() == 0);
  return BestLegal(point.mask().bytes(), scores, noise);
}

void ScoreOrder::Rank(const ClusterView& view, const DecisionPoint& point, std::span<const float> scores,
                      Stream* noise) {
  scores_ = scores;
  noise_ = noise;
  if (point.grid() != nullptr) return RankCommands(point);
  ranked_.resize(U(view.num_types()) + 1);
  for (Heap& heap : ranked_) heap.clear();
  int action = 0;
  const auto rank = [&](Heap& heap) { heap.push_back(Draw(action)); };
  for (int job : point.visible()) {
    const std::span<const double> rates = view.Rates(job);
    for (std::size_t type = 0; type < rates.size(); ++type, ++action) {
      if (rates[type] > 0.0) rank(ranked_[type]);
    }
  }
  action = point.done();
  if (!point.commits()) rank(ranked_.back());
  for (Heap& heap : ranked_) std::make_heap(heap.begin(), heap.end());
}

ScoreOrder::Ranked ScoreOrder::Draw(int action) {
  const float score = scores_[U(action)];
  return {noise_ != nullptr ? score + Gumbel(*noise_) : score, action};
}

void ScoreOrder::Again(int action, float taken, Heap& heap) {
  const float score = scores_[U(action)];
  heap.push_back({noise_ != nullptr ? GumbelBelow(taken, score, *noise_) : score, action});
  std::push_heap(heap.begin(), heap.end());
}

ScoreOrder::Heap* ScoreOrder::Best() {
  Heap* best = nullptr;
  for (Heap& heap : ranked_) {
    if (!heap.empty() && (best == nullptr || best->front() < heap.front())) best = &heap;
  }
  return best;
}

int ScoreOrder::best() {
  const Heap* best = Best();
  BERTH_CHECK(best != nullptr, "no action");
  return best->front().action;
}

// Room only shrinks, so one walk in score order is the best legal action again and again. `done` is illegal
// while no event would follow (passed over then, it comes again once something is placed) and, in a
// work-conserving process, while anything fits. Few of many candidates find room, so the order is worked out
// only as far as it is walked, and a type that is full is walked no further.
void ScoreOrder::Fill(const ClusterView& view, DecisionPoint& point, Reserve reserve) {
  if (point.grid() != nullptr) return FillCommands(view, point);
  reserved_.assign(U(view.num_types()), {});
  bool wants_done = false;
  while (Heap* best = Best()) {
    const Ranked it = best->front();
    std::pop_heap(best->begin(), best->end());
    best->pop_back();
    if (it.action == point.done()) {
      if (point.mdp().work_conserving) continue;
      if (point.Runs(view)) break;
      wants_done = true;
      continue;
    }
    const Placement placement = point.PlacementOf(it.action);
    if (point.plan().Placed(placement.job)) continue;
    if (!point.plan().Fits(view, placement.job, placement.type)) {
      HoldBack(view, point.plan(), placement, reserve, *best);
    } else if (Passes(view, placement)) {
      point.Put(view, it.action);
      if (std::exchange(wants_done, false)) Again(point.done(), it.score, ranked_.back());
    }
    if (point.plan().room(placement.type) == 0) best->clear();
  }
}

void ScoreOrder::RankCommands(const DecisionPoint& point) {
  const CommandGrid& grid = *point.grid();
  ranked_.resize(1);
  Heap& heap = ranked_.front();
  heap.clear();
  for (int action = 0; action <= point.done(); ++action) {
    if (action == point.done() || grid.Present(action / grid.columns())) heap.push_back(Draw(action));
  }
  std::make_heap(heap.begin(), heap.end());
}

// As Fill, but what is not legal may become so: a command is asked again once the plan has its row's job, or,
// where it waits for others, anybody new; `done` once the plan has changed.
void ScoreOrder::FillCommands(const ClusterView& view, DecisionPoint& point) {
  const CommandGrid& grid = *point.grid();
  Heap& heap = ranked_.front();
  later_.resize(U(grid.rows()) + 1);  // the last: who waits for others
  for (std::vector<int>& later : later_) later.clear();
  const auto is_start = [&](const Ranked& it) {
    const int row = it.action / grid.columns(), column = it.action % grid.columns();
    return it.action != point.done() && grid.Runs(point.plan(), row, column) &&
           grid.Legal(view, point.plan(), row, column) == Legality::kYes;
  };
  while (!heap.empty()) {
    const Ranked best = heap.front();
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
    if (best.action == point.done()) {
      // It is legal once something runs and, where no GPU may idle, nothing can be started.
      if (point.Runs(view) && !point.mdp().work_conserving) break;
      if (std::none_of(heap.begin(), heap.end(), is_start)) break;
      later_.back().push_back(best.action);
      continue;
    }
    const int row = best.action / grid.columns(), column = best.action % grid.columns();
    const Legality legal = grid.Legal(view, point.plan(), row, column);
    if (legal == Legality::kNotYet)
      later_[grid.Awaits(column) ? U(grid.rows()) : U(row)].push_back(best.action);
    if (legal != Legality::kYes) continue;
    const int room = point.plan().total_room();
    point.Put(view, best.action);
    const auto again = [&](std::vector<int>& later) {
      for (int action : later) Again(action, best.score, heap);
      later.clear();
    };
    // Of rows that stand for several.
    if (grid.Legal(view, point.plan(), row, column) == Legality::kYes) Again(best.action, best.score, heap);
    again(later_[U(row)]);
    again(later_.back());
    if (const int beside = grid.RowBeside(view, row); beside >= 0) again(later_[U(beside)]);
    if (point.plan().total_room() <= room) continue;
    for (std::vector<int>& later : later_) again(later);  // a job that was to move stays after all
  }
}

// The best-scored job for which its type has no room.
void ScoreOrder::HoldBack(const ClusterView& view, const Plan& plan, const Placement& placement,
                          Reserve reserve, Heap& others) {
  if (reserve == Reserve::kHead) others.clear();
  Reservation& reserved = reserved_[U(placement.type)];
  if (reserve != Reserve::kEasy || reserved.held) return;
  releases_.Collect(view, placement.type, plan.room(placement.type), &plan);
  reserved = {true, releases_.When(view.Gang(placement.job))};
}

// Would a start now leave the reservation of the type as it is? Takes the spare GPUs that it needs.
bool ScoreOrder::Passes(const ClusterView& view, const Placement& placement) {
  Reservation& reserved = reserved_[U(placement.type)];
  if (!reserved.held) return true;
  const double end = EstimatedRelease(view, placement.job, placement.type, view.now());
  if (NoLater(end, reserved.vacancy.time)) return true;
  const int gang = view.Gang(placement.job);
  if (gang > reserved.vacancy.spare) return false;
  reserved.vacancy.spare -= gang;
  return true;
}

}  // namespace berth
