// held_back: jobs that have arrived and wait for others, as entities, each with the rows of those that it
// waits for: a graph in the rows of one observation, over which a network may pass messages (architecture
// `messages`, after Decima: Mao et al., SIGCOMM 2019, section 5.1).
#include <algorithm>
#include <vector>

#include "env/base/index.hpp"
#include "env/features/stages/stages.hpp"
#include "env/sim/entity_rows.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"most", "16",
     "jobs that wait for others with a row of their own, 1 to 1024: those nearest to a job that could run "
     "first (fewest jobs to be done between), then by arrival"},
};
constexpr int kParents = 4;
constexpr ChannelInfo kHeldJob[] = {
    {"held_back", "1 = the row is a job's that waits for others, or that of all further ones", 0, 1},
    {"held_jobs", kEntityCountMeaning, 0, 2},
    {"held_work", "ln(1 + its time on its fastest type / 60 s) / 10; 0 when blind", 0, 2},
    {"held_gang", "log2(gang size) / 5", 0, 3},
    {"held_weight", "ln(weight) / 3", -250, 250},
    {"held_age", "ln(1 + time since arrival / 60 s) / 10", 0, 2},
    {"held_for", "ln(1 + jobs that it waits for) / 3", 0, 4},
    {"held_behind", "ln(1 + jobs that wait for it) / 3", 0, 4},
    {"held_depth", "steps from it to the nearest job that could run, / 10, at most 2", 0, 2},
    {"waits_for_1", "(1 + row of a job that it waits for) / 65536; 0 = none, or one without a row", 0, 2},
    {"waits_for_2", "the same of a second, by arrival", 0, 2},
    {"waits_for_3", "of a third", 0, 2},
    {"waits_for_4", "of a fourth; further ones are in held_for alone", 0, 2},
};
constexpr std::size_t kChannels = std::size(kHeldJob), kEdge = kChannels - kParents;
static_assert(kEdge == 9);

class HeldBack final : public EntityBlock {
 public:
  HeldBack(int most, const BlockSetup& setup)
      : EntityBlock(most), sighted_(setup.knowledge >= Knowledge::kEstimate) {}

  void Begin(const ClusterView& view) override {
    row_.assign(U(view.num_jobs()), -1);
    depth_.assign(U(view.num_jobs()), 0);
    held_.clear();
    had_.clear();
  }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    const ClusterView& view = input.view;
    stages_ = view.Find<StageState>();
    if (stages_ == nullptr) return;
    Find(view);
    for (const int job : had_) row_[U(job)] = -1;
    had_.assign(input.visible.begin(), input.visible.end());
    for (std::size_t row = 0; row < input.visible.size(); ++row)
      row_[U(input.visible[row])] = static_cast<int>(row);
    for (std::size_t i = 0; i < std::min(held_.size(), most_); ++i) {
      row_[U(held_[i])] = static_cast<int>(out.first_entity + i);
      had_.push_back(held_[i]);
    }
    WriteEntities(out.entities, most_, held_.size(), kChannels, kParents, scratch_,
                  [&](std::size_t i, float* f) { WriteOne(view, held_[i], f); });
  }

 private:
  // Breadth first from whoever is in the system: the least number of jobs between, then arrival.
  void Find(const ClusterView& view) {
    for (const int job : held_) depth_[U(job)] = 0;
    held_.clear();
    std::size_t begin = 0;
    int depth = 1;
    const auto reach = [&](int job) {
      for (const int child : stages_->children[U(job)]) {
        if (!view.IsBlocked(child) || depth_[U(child)] > 0) continue;
        depth_[U(child)] = depth;
        held_.push_back(child);
      }
    };
    for (const int job : view.active()) reach(job);
    while (begin < held_.size()) {
      const std::size_t end = held_.size();
      std::sort(held_.begin() + static_cast<std::ptrdiff_t>(begin), held_.end());
      ++depth;
      for (; begin < end; ++begin) reach(held_[begin]);
    }
  }

  void WriteOne(const ClusterView& view, int job, float* f) const {
    int behind = 0;
    for (const int child : stages_->children[U(job)]) behind += view.IsBlocked(child);
    f[2] = sighted_ ? LogMinutes(view.RemainingSteps(job) / view.BestRate(job)) : 0.0F;
    f[3] = static_cast<float>(Log2(view.Gang(job)) / 5.0);
    f[4] = static_cast<float>(Log(view.Weight(job)) / 3.0);
    f[5] = LogMinutes(view.now() - view.Arrival(job));
    f[6] = static_cast<float>(Log(1.0 + stages_->open_parents[U(job)]) / 3.0);
    f[7] = static_cast<float>(Log(1.0 + behind) / 3.0);
    f[8] = std::min(2.0F, static_cast<float>(depth_[U(job)]) / 10.0F);
    std::size_t edge = kEdge;
    for (const int parent : stages_->parents[U(job)]) {
      if (row_[U(parent)] >= 0 && edge < kChannels) f[edge++] = EdgeTo(U(row_[U(parent)]));
    }
  }

  bool sighted_;
  const StageState* stages_ = nullptr;  // of the point at hand; null = off
  std::vector<int> row_, depth_;        // [J] -1 = none, 0 = not held back
  std::vector<int> held_, had_;         // in the stated order; who had a row
};

}  // namespace

BlockInfo HeldBackBlock() {
  BlockInfo info{"held_back", 1,
                 "entities: jobs that wait for others, and the rows of those that they wait for",
                 "Decima (Mao et al., SIGCOMM 2019)"};
  info.params = kParams;
  info.entity = kHeldJob;
  info.edges = kParents;
  info.make = MakeEntityBlock<HeldBack>;
  return info;
}

}  // namespace berth
