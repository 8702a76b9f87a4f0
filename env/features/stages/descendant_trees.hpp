// The jobs that wait for those of an observation, directly or for one another, and what it is worth to let
// them go: Horn's sets (descendants_block.cpp).
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "env/base/index.hpp"
#include "env/features/stages/stages.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

class DescendantTrees {
 public:
  static constexpr double kAtLeast = 1.0 / 60.0;  // hours, of a job
  struct Set {                                    // of jobs, or of parts of them
    double work, jobs;
    int head;  // the job that all others of it wait for: sets of one head are parts of one
    double Turn() const { return work / jobs; }
  };
  struct Tree {
    int job;
    int parents = 0;    // in trees_
    int waits_for = 0;  // of those, not in order_ yet; then, without this one in their sets
    int counted = -1;   // the last candidate that it was counted behind
    double own_hours = kAtLeast, own_work = kAtLeast;
    double chain = kAtLeast;     // hours
    std::vector<Set> sets = {};  // by falling turn: those left to do after it, and the job's own
    double Turn() const { return sets.back().Turn(); }
  };

  void Begin(int jobs) { at_.assign(U(jobs), -1); }

  // `works`: their times and sets too.
  void Make(const ClusterView& view, std::span<const int> candidates, bool works) {
    view_ = &view, stages_ = view.Find<StageState>();
    trees_.clear();
    for (const int job : candidates) PlaceOf(job);
    Find();
    for (auto i = order_.rbegin(); works && i != order_.rend(); ++i) Grow(*i);
  }

  // Of the last Make.
  int Place(int candidate) const { return at_[U(candidate)]; }  // in `candidates`
  const Tree& Of(int place) const { return trees_[U(place)]; }
  // How many jobs are behind the candidate, each once.
  int CountBehind(int candidate) {
    int count = 0;
    stack_.assign(1, candidate);
    while (!stack_.empty()) {
      const int job = trees_[U(stack_.back())].job;
      stack_.pop_back();
      EachChild(job, [&](int child) {
        const int place = at_[U(child)];
        if (std::exchange(trees_[U(place)].counted, candidate) == candidate) return;
        ++count;
        stack_.push_back(place);
      });
    }
    return count;
  }

 private:
  // In trees_, where it is put if it is not there.
  int PlaceOf(int job) {
    int& at = at_[U(job)];
    if (at < 0 || U(at) >= trees_.size() || trees_[U(at)].job != job) {
      at = static_cast<int>(trees_.size());
      trees_.push_back({job});
    }
    return at;
  }

  template <class F>
  void EachChild(int job, const F& f) const {
    if (stages_ == nullptr) return;
    for (const int child : stages_->children[U(job)]) {
      if (view_->IsBlocked(child)) f(child);
    }
  }

  // Who is behind the candidates, each once however many ways lead there (these may be exponentially many),
  // in an order in which everybody comes after all that it waits for.
  void Find() {
    order_.resize(trees_.size());
    std::iota(order_.begin(), order_.end(), 0);
    for (std::size_t i = 0; i < trees_.size(); ++i)
      EachChild(trees_[i].job, [&](int child) { ++trees_[U(PlaceOf(child))].parents; });
    for (Tree& tree : trees_) tree.waits_for = tree.parents;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      EachChild(trees_[U(order_[k])].job, [&](int child) {
        if (--trees_[U(at_[U(child)])].waits_for == 0) order_.push_back(at_[U(child)]);
      });
    }
    for (Tree& tree : trees_) tree.waits_for = tree.parents;
  }

  // Horn's algorithm from the last jobs on: the first set of a job takes in the best of those behind it as
  // long as that lowers its turn.
  void Grow(int place) {
    Tree& tree = trees_[U(place)];
    tree.own_hours = std::max(view_->RemainingSteps(tree.job) / view_->BestRate(tree.job) / 3600.0, kAtLeast);
    tree.own_work = tree.own_hours * view_->Gang(tree.job);
    double longest = 0.0;
    bool several = false;
    EachChild(tree.job, [&](int child) {
      Tree& behind = trees_[U(at_[U(child)])];
      longest = std::max(longest, behind.chain);
      several = several || !tree.sets.empty();
      const std::size_t before = tree.sets.size();
      const bool last = --behind.waits_for == 0;
      if (last && before == 0)
        tree.sets.swap(behind.sets);  // of a chain nothing is copied
      else
        tree.sets.insert(tree.sets.end(), behind.sets.begin(), behind.sets.end());
      if (last) behind.sets = {};
      const double share = 1.0 / std::max(1, stages_->open_parents[U(child)]);
      for (std::size_t k = before; share < 1.0 && k < tree.sets.size(); ++k)
        tree.sets[k].work *= share, tree.sets[k].jobs *= share;
    });
    tree.chain = tree.own_hours + longest;
    if (several) Sort(tree.sets);
    Set first{tree.own_work, 1.0, tree.job};
    for (; !tree.sets.empty() && tree.Turn() < first.Turn(); tree.sets.pop_back())
      first.work += tree.sets.back().work, first.jobs += tree.sets.back().jobs;
    tree.sets.push_back(first);
  }

  // By falling turn, those of one head as one.
  static void Sort(std::vector<Set>& sets) {
    std::stable_sort(sets.begin(), sets.end(), [](const Set& a, const Set& b) { return a.head < b.head; });
    std::size_t kept = 0;
    for (std::size_t k = 1; k < sets.size(); ++k) {
      if (sets[k].head == sets[kept].head) {
        sets[kept].work += sets[k].work, sets[kept].jobs += sets[k].jobs;
      } else {
        sets[++kept] = sets[k];
      }
    }
    sets.resize(kept + 1);
    std::stable_sort(sets.begin(), sets.end(),
                     [](const Set& a, const Set& b) { return a.work * b.jobs > b.work * a.jobs; });
  }

  const ClusterView* view_ = nullptr;   // of the last Make
  const StageState* stages_ = nullptr;  // null = off
  std::vector<int> at_;                 // [J] place of who is in trees_
  std::vector<Tree> trees_;             // of the candidates in their order, then of those behind them
  std::vector<int> order_, stack_;      // places
};

}  // namespace berth
