// A job trains with another batch: the least, the middle or the most that its application allows, or again
// the one that it finds best.
#include <algorithm>
#include <cmath>

#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {
namespace {

enum BatchLevel : int { kBestBatch, kLeastBatch, kMiddleBatch, kMostBatch, kBatchLevels };

constexpr ChannelInfo kBatchColumn[] = {
    {"own", "1 = the job chooses its batch itself", 0, 1},
    {"batch", "ln(batch over the least) / ln(most over the least); 0 where the job chooses", 0, 1},
};
constexpr ChannelInfo kBatchPair[] = {
    {"as_asked", "1 = that was asked for last", 0, 1},
    {"worth", "what a sample at that batch counts, over one of the least, in the job's epoch", 0, 1},
    {"change", "log2(the batch over the present one) / 8; 0 where it does not run or chooses", -2, 2},
};

class SetBatch final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    FeatureFor<GoodputSettings>("batch", view);
    for (int level = 0; level < kBatchLevels; ++level) columns.push_back({-1, level});
  }
  void WriteColumn(const ClusterView& /*view*/, const ActionColumn& column, float* f) override {
    f[0] = column.level == kBestBatch ? 1.0F : 0.0F;
    f[1] = column.level == kBestBatch ? 0.0F : static_cast<float>(column.level - kLeastBatch) / 2.0F;
  }
  void WritePair(const ClusterView& view, const Plan& /*plan*/, int job, const ActionColumn& column,
                 float* f) override {
    if (column.type >= 0 || column.level < 0) return;
    const GoodputState& goodput = *view.Find<GoodputState>();
    const GoodputState::Job& its = goodput.jobs[U(job)];
    const int batch = BatchOf(goodput, job, column.level);
    f[0] = its.target == batch ? 1.0F : 0.0F;
    if (batch == 0) return;
    const double scale = static_cast<double>(batch) / its.application->initial_batch();
    f[1] = static_cast<float>(goodput::Efficiency(its.application->curve.Gradients(batch, its.epoch), scale));
    if (view.IsRunning(job))
      f[2] = static_cast<float>(Log2(static_cast<double>(batch) / goodput.Batch(job))) / 8.0F;
  }
  Legality Legal(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    const GoodputState& goodput = *view.Find<GoodputState>();
    if (goodput.ApplicationOf(job).fixed_batch > 0 || plan.IsSet(kBatchControl, job)) return Legality::kNo;
    return goodput.jobs[U(job)].target == BatchOf(goodput, job, column.level) ? Legality::kNo
                                                                              : Legality::kYes;
  }
  void Put(const ClusterView& view, Plan& plan, int job, const ActionColumn& column) override {
    plan.Set(
        {kBatchControl, job, static_cast<double>(BatchOf(*view.Find<GoodputState>(), job, column.level))});
  }

 private:
  static int BatchOf(const GoodputState& goodput, int job, int level) {  // 0 = as the job finds best
    const Application& application = goodput.ApplicationOf(job);
    if (level == kLeastBatch) return application.initial_batch();
    if (level == kMostBatch) return application.max_batch();
    if (level == kBestBatch) return 0;
    return static_cast<int>(
        std::sqrt(static_cast<double>(application.initial_batch()) * application.max_batch()));
  }
};

}  // namespace

ActionInfo BatchAction() {
  return {
      .name = "batch",
      .summary =
          "a job trains with the least, the middle or the most batch of its application, or as it finds best",
      .source = "Berth; Qiao et al., Pollux, OSDI 2021, choose by goodput",
      .column = kBatchColumn,
      .pair = kBatchPair,
      .make = MakeAction<SetBatch>,
      .on_request = true};
}

}  // namespace berth
