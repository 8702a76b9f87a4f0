// descendants: what hangs on a job. A job is worth doing for those that it lets go as much as for itself:
//
//   turn(j) = least over sets S of j and of jobs behind it, each with whom it waits for, of work(S) / |S|
//
// On one machine, with every job behind at most one other, to do the jobs by rising `turn` is the order of
// the least mean completion time: Horn, "Single-machine job sequencing with treelike precedence ordering and
// linear delay penalties", SIAM J. Applied Math. 23 (1972), section 3; Sidney, Operations Research 23 (1975).
// Of a job that waits for several its share in each set is one over how many are still to be done. The
// longest chain is the upward rank of HEFT (Topcuoglu, Hariri & Wu 2002, equation 3) on fastest types.
#include <algorithm>
#include <utility>
#include <vector>

#include "env/base/index.hpp"
#include "env/features/stages/stages.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kJob[] = {
    {"descendants", "ln(1 + jobs that wait for it, or for one of those, ...)", 0, 12},
    {"chain", "ln(hours left of the longest chain from it on / its own), at most 10; 0 when blind", 0, 10},
    {"worth",
     "ln(its own work / turn), at most 10; work = GPU hours left; turn = least work a job of it and of any "
     "that it lets go; 0 when blind",
     0, 10},
    {"turn", "GPUs wanted by candidates of at most its turn, its own too, over GPUs, at most 4; 0 when blind",
     0, 4},
};
constexpr double kMostTurn = 4.0, kMostLog = 10.0;
constexpr double kAtLeast = 1.0 / 60.0;  // hours

class Descendants final : public ObservationBlock {
 public:
  explicit Descendants(const BlockSetup& setup) : sighted_(setup.knowledge >= Knowledge::kEstimate) {}

  void Begin(const ClusterView& view) override { at_.assign(U(view.num_jobs()), -1); }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    const ClusterView& view = input.view;
    stages_ = view.Find<StageState>();
    trees_.clear();
    for (const int job : input.candidates) {
      at_[U(job)] = static_cast<int>(trees_.size());
      trees_.push_back(TreeOf(view, job, 1.0));
    }
    if (sighted_) Rank(view, input.candidates);
    for (std::size_t row = 0; row < input.visible.size(); ++row) {
      const auto place = U(at_[U(input.visible[row])]);
      const Tree& tree = trees_[place];
      float* f = out.jobs[row];
      f[0] = static_cast<float>(std::min(Log(1.0 + tree.jobs), 12.0));
      std::fill(f + 1, f + 4, 0.0F);
      if (!sighted_) continue;
      f[1] = static_cast<float>(std::min(Log(tree.chain / tree.own_hours), kMostLog));
      f[2] = static_cast<float>(std::clamp(Log(tree.own_work / tree.Turn()), 0.0, kMostLog));
      f[3] = static_cast<float>(rank_[place]);
    }
  }

 private:
  struct Set {  // of jobs, or of parts of them
    double work, jobs;
    double Turn() const { return work / jobs; }
  };
  struct Tree {
    double jobs = 0.0;  // behind it
    double own_hours = kAtLeast, own_work = kAtLeast;
    double chain = kAtLeast;  // hours
    std::vector<Set> sets;    // by rising turn: the job's own, and those left to do after it
    double Turn() const { return sets.front().Turn(); }
  };

  // Horn's algorithm from the last jobs on: the first set of a job takes in the best of those behind it as
  // long as that lowers its turn. Trees are small: who waits had to arrive while others ran.
  Tree TreeOf(const ClusterView& view, int job, double share) const {
    Tree tree;
    if (sighted_) {
      const double hours = view.RemainingSteps(job) / view.BestRate(job) / 3600.0;
      tree.own_hours = std::max(hours, kAtLeast);
      tree.own_work = tree.own_hours * view.Gang(job);
    }
    Set first{tree.own_work * share, share};
    double longest = 0.0;
    if (stages_ != nullptr) {
      for (const int child : stages_->children[U(job)]) {
        if (!view.IsBlocked(child)) continue;
        const Tree behind = TreeOf(view, child, share / std::max(1, stages_->open_parents[U(child)]));
        tree.jobs += 1.0 + behind.jobs;
        longest = std::max(longest, behind.chain);
        tree.sets.insert(tree.sets.end(), behind.sets.begin(), behind.sets.end());
      }
    }
    tree.chain = tree.own_hours + longest;
    std::sort(tree.sets.begin(), tree.sets.end(),
              [](const Set& a, const Set& b) { return a.work * b.jobs < b.work * a.jobs; });
    std::size_t taken = 0;
    while (taken < tree.sets.size() && tree.sets[taken].Turn() < first.Turn()) {
      first.work += tree.sets[taken].work, first.jobs += tree.sets[taken].jobs;
      ++taken;
    }
    tree.sets.erase(tree.sets.begin(), tree.sets.begin() + static_cast<std::ptrdiff_t>(taken));
    tree.sets.insert(tree.sets.begin(), first);
    return tree;
  }

  void Rank(const ClusterView& view, std::span<const int> candidates) {
    order_.clear();
    double gpus = 0.0, wanted = 0.0;
    for (const GpuType& type : view.types()) gpus += type.count;
    for (int i = 0; i < static_cast<int>(candidates.size()); ++i) order_.emplace_back(trees_[U(i)].Turn(), i);
    std::sort(order_.begin(), order_.end());
    rank_.resize(candidates.size());
    for (const auto& [turn, i] : order_) {
      wanted += view.Gang(candidates[U(i)]);
      rank_[U(i)] = std::min(wanted / std::max(1.0, gpus), kMostTurn);
    }
  }

  bool sighted_;
  const StageState* stages_ = nullptr;  // of the point at hand; null = off
  std::vector<int> at_;                 // [J] place of a candidate
  std::vector<Tree> trees_;             // [n]
  std::vector<double> rank_;            // [n]
  std::vector<std::pair<double, int>> order_;
};

}  // namespace

BlockInfo DescendantsBlock() {
  BlockInfo info{"descendants", 1,
                 "the jobs behind a job at any distance, and what it is worth to let them go",
                 "Horn, SIAM J. Applied Math. 1972; Topcuoglu, Hariri & Wu, IEEE TPDS 2002"};
  info.job = kJob;
  info.make = MakeBlock<Descendants>;
  return info;
}

}  // namespace berth
