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
#include "env/features/stages/descendant_trees.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kJob[] = {
    {"descendants", "ln(1 + jobs that wait for it, or for one of those, ...)", 0, 12},
    {"chain",
     "ln(hours left of the longest chain from it on / its own), each job's a minute at least, at most 10; 0 "
     "when blind",
     0, 10},
    {"worth",
     "ln(its own work / turn), at most 10; work = GPU hours left, of a minute at least; turn = least work a "
     "job of it and of any "
     "that it lets go; 0 when blind",
     0, 10},
    {"turn", "GPUs wanted by candidates of at most its turn, its own too, over GPUs, at most 4; 0 when blind",
     0, 4},
};
constexpr double kMostTurn = 4.0, kMostLog = 10.0;

class Descendants final : public ObservationBlock {
 public:
  explicit Descendants(const BlockSetup& setup) : sighted_(setup.knowledge >= Knowledge::kEstimate) {}

  void Begin(const ClusterView& view) override { trees_.Begin(view.num_jobs()); }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    trees_.Make(input.view, input.candidates, sighted_);
    if (sighted_) Rank(input.view, input.candidates);
    for (std::size_t row = 0; row < input.visible.size(); ++row) {
      const int place = trees_.Place(input.visible[row]);
      float* f = out.jobs[row];
      f[0] = static_cast<float>(std::min(Log(1.0 + trees_.CountBehind(place)), 12.0));
      std::fill(f + 1, f + 4, 0.0F);
      if (!sighted_) continue;
      const DescendantTrees::Tree& tree = trees_.Of(place);
      f[1] = static_cast<float>(std::min(Log(tree.chain / tree.own_hours), kMostLog));
      f[2] = static_cast<float>(std::clamp(Log(tree.own_work / tree.Turn()), 0.0, kMostLog));
      f[3] = static_cast<float>(rank_[U(place)]);
    }
  }

 private:
  void Rank(const ClusterView& view, std::span<const int> candidates) {
    by_turn_.clear();
    double gpus = 0.0, wanted = 0.0;
    for (const GpuType& type : view.types()) gpus += type.count;
    for (int i = 0; i < static_cast<int>(candidates.size()); ++i)
      by_turn_.emplace_back(trees_.Of(i).Turn(), i);
    std::sort(by_turn_.begin(), by_turn_.end());
    rank_.resize(candidates.size());
    for (const auto& [turn, i] : by_turn_) {
      wanted += view.Gang(candidates[U(i)]);
      rank_[U(i)] = std::min(wanted / std::max(1.0, gpus), kMostTurn);
    }
  }

  bool sighted_;
  DescendantTrees trees_;
  std::vector<double> rank_;  // [n]
  std::vector<std::pair<double, int>> by_turn_;
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
