// A job on 1, 2, 4, … GPUs of a type, at the batch that is best there. A job that the plan has on fewer may
// be given more, so that walking scores from the best down hands GPUs out by what they are worth. Jobs come
// to the nodes with most free GPUs, the widest first.
#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"
#include "env/features/goodput/goodput_now.hpp"
#include "env/sim/action_kind.hpp"
#include "env/sim/most_free_nodes.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kScalePair[] = {
    {"gpus", "log2(GPUs) / 6", 0, 2},
    {"worth", "ln(goodput that each of the last GPUs adds, over one GPU's on the best type) / 4", -3, 1},
    {"speed", "ln(goodput over one GPU's on the best type) / 4", -2, 2},
    {"rest", "ln(hours that are left at that goodput) / 4", -4, 3},
    {"held", "1 = it runs on as many of the type, or more", 0, 1},
    {"as_now", "1 = it runs on just so many of the type", 0, 1},
    {"starts", "share of the time to its end that a start would take; 0 where it runs so now", 0, 1},
};

int GpusOf(const ActionColumn& column) {
  return 1 << column.level;
}

class Scale final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    FeatureFor<GoodputSettings>("scale", view);
    for (int type = 0; type < view.num_types(); ++type) {
      for (int level = 0; 1 << level <= view.types()[U(type)].count; ++level)
        columns.push_back({type, level});
    }
  }
  void Begin(const ClusterView& view) override { now_.Begin(view); }
  void WritePair(const ClusterView& view, const Plan& /*plan*/, int job, const ActionColumn& column,
                 float* f) override {
    const int type = column.type, gpus = column.level < 0 ? view.Gang(job) : GpusOf(column);
    if (gpus > view.types()[U(type)].count) return;
    const double rate = now_.At(view, job, type, gpus);
    double one = 0.0;
    for (int other = 0; other < view.num_types(); ++other) one = std::max(one, now_.At(view, job, other, 1));
    if (rate <= 0.0 || one <= 0.0) return;
    f[0] = static_cast<float>(Log2(gpus)) / 6.0F;
    f[1] = static_cast<float>(Log(std::max(Worth(view, job, type, gpus) / one, 1e-5))) / 4.0F;
    f[2] = static_cast<float>(Log(rate / one)) / 4.0F;
    const bool there = view.IsRunning(job) && view.TypeOf(job) == type;
    f[4] = there && view.Width(job) >= gpus ? 1.0F : 0.0F;
    f[5] = there && view.Width(job) == gpus ? 1.0F : 0.0F;
    if (view.granted() < Knowledge::kEstimate) return;
    const double rest = std::max(view.RemainingSteps(job) / rate, 1.0);
    const double start = view.Find<GoodputState>()->ApplicationOf(job).restart_s;
    f[3] = static_cast<float>(Log(rest / 3600.0)) / 4.0F;
    f[6] = f[5] > 0.0F ? 0.0F : static_cast<float>(start / (start + rest));
  }
  Legality Legal(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    const int gpus = GpusOf(column);
    if (plan.Placed(job) && (plan.TypeOf(job) != column.type || plan.WidthOf(job) >= gpus))
      return Legality::kNo;
    if (!MayRun(view, job, column)) return Legality::kNo;
    // On more than now, as `start` puts it on its gang, it may be slower, and gain then.
    if (plan.Placed(job) && !Gains(view, plan, job, column)) return Legality::kNotYet;
    return plan.FitsOn(view, job, column.type, gpus) ? Legality::kYes : Legality::kNotYet;
  }
  int RoomNeeded(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    if (!MayRun(view, job, column)) return kNeverFits;
    return plan.Takes(view, job, column.type, GpusOf(column));
  }
  void Put(const ClusterView& view, Plan& plan, int job, const ActionColumn& column) override {
    plan.PutOn(view, job, column.type, GpusOf(column));
  }
  bool Runs() const override { return true; }
  bool Widens() const override { return true; }
  void Close(const ClusterView& view, const Plan& /*plan*/, Decision& decision) override {
    std::stable_sort(decision.commands.begin(), decision.commands.end(),
                     [](const Command& a, const Command& b) { return a.width > b.width; });
    nodes_.Name(view, decision);
  }

 private:
  static bool MayRun(const ClusterView& view, int job, const ActionColumn& column) {
    const int gpus = GpusOf(column);
    return gpus >= view.MinGang(job) && gpus <= view.MaxGang(job) &&
           view.RateAt(job, column.type, gpus) > 0.0;
  }
  bool Gains(const ClusterView& view, const Plan& plan, int job, const ActionColumn& column) const {
    return now_.At(view, job, column.type, GpusOf(column)) >
           now_.At(view, job, column.type, plan.WidthOf(job));
  }
  // Of each of the GPUs beyond the next fewer power of two, but never more than of those before: a GPU whose
  // worth grows again is reached by way of those.
  double Worth(const ClusterView& view, int job, int type, int gpus) {
    double least = 1e300, before = 0.0;
    for (int has = 0, next = 1;; next *= 2) {
      next = std::min(next, gpus);
      const double rate = now_.At(view, job, type, next);
      if (rate > before) {
        least = std::min(least, (rate - before) / (next - has));
        before = rate, has = next;
      } else if (next == gpus) {
        return 0.0;
      }
      if (next == gpus) return least;
    }
  }

  mutable GoodputNow now_;  // a memory
  MostFreeNodes nodes_;
};

}  // namespace

ActionInfo ScaleAction() {
  return {.name = "scale",
          .summary = "a job on 1, 2, 4, ... GPUs of a type, at the batch that is best there",
          .source = "Berth; Qiao et al., Pollux, OSDI 2021, choose GPUs by goodput",
          .pair = kScalePair,
          .make = MakeAction<Scale>,
          .resizes = true};
}

}  // namespace berth
