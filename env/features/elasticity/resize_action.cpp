// A job on fewer or more GPUs than its gang: the fewest that it can run on, or as many as speed it up in the
// room that there is. A job that the plan has on fewer may be given more.
#include <algorithm>
#include <array>

#include "env/base/index.hpp"
#include "env/features/elasticity/elasticity.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {
namespace {

enum ResizeLevel : int { kNarrowest, kWidest, kGang = -1 };

constexpr ChannelInfo kResizeColumn[] = {{"widest", "1 = as wide as room is, 0 = as narrow as can be", 0, 1}};
constexpr ChannelInfo kResizePair[] = {
    {"width", "log2(GPUs over the gang) / 3", -2, 2},
    {"speed", "ln(rate over the gang's on the type) / 2; 0 where either cannot run", -2, 2},
    {"as_now", "1 = it runs on as many GPUs of the type now", 0, 1},
};

double Log2Of(int gpus) {
  static const std::array<double, 129> kKnown = [] {
    std::array<double, 129> known{};
    for (int n = 1; n < 129; ++n) known[U(n)] = Log2(n);
    return known;
  }();
  return U(gpus) < kKnown.size() ? kKnown[U(gpus)] : Log2(gpus);
}

class Resize final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    FeatureFor<ElasticitySettings>("resize", view);
    for (int type = 0; type < view.num_types(); ++type) {
      for (const int level : {kNarrowest, kWidest}) columns.push_back({type, level});
    }
  }
  void WriteColumn(const ClusterView& /*view*/, const ActionColumn& column, float* f) override {
    f[0] = column.level == kWidest ? 1.0F : 0.0F;
  }
  void WritePair(const ClusterView& view, const Plan& plan, int job, const ActionColumn& column,
                 float* f) override {
    const int gang = view.Gang(job), width = WidthAt(view, plan, job, column);
    if (width == 0) return;
    f[2] = column.type == view.TypeOf(job) && width == view.Width(job) ? 1.0F : 0.0F;
    if (width == gang) return;  // the others are 0
    const double rate = view.RateAt(job, column.type, width), whole = view.Rate(job, column.type);
    f[0] = static_cast<float>(Log2Of(width) - Log2Of(gang)) / 3.0F;
    if (rate > 0.0 && whole > 0.0) f[1] = static_cast<float>(Log(rate / whole)) / 2.0F;
  }
  Legality Legal(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    const bool elsewhere = plan.Placed(job) && plan.TypeOf(job) != column.type;
    const int width = elsewhere ? 0 : WidthAt(view, plan, job, column);
    if (width == 0) return Legality::kNotYet;
    return plan.FitsOn(view, job, column.type, width) ? Legality::kYes : Legality::kNotYet;
  }
  int RoomNeeded(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    const int type = column.type, least = Least(view, job, type);
    if (least == 0) return kNeverFits;
    const int needed = plan.Takes(view, job, type, least);
    // Wider takes more, but for who stays on GPUs that take no new job.
    const bool may_stay = column.level == kWidest && view.IsRunning(job) && view.TypeOf(job) == type;
    return may_stay ? std::min(needed, plan.Takes(view, job, type, view.Width(job))) : needed;
  }
  void Put(const ClusterView& view, Plan& plan, int job, const ActionColumn& column) override {
    plan.PutOn(view, job, column.type, WidthAt(view, plan, job, column));
  }
  bool Runs() const override { return true; }

 private:
  // 0 = none.
  static int Least(const ClusterView& view, int job, int type) {
    const std::span<const double> rates = view.RateCurve(job, type);
    const auto first = std::find_if(rates.begin(), rates.end(), [](double rate) { return rate > 0.0; });
    return first == rates.end() ? 0 : view.MinGang(job) + static_cast<int>(first - rates.begin());
  }
  static int WidthAt(const ClusterView& view, const Plan& plan, int job, const ActionColumn& column) {
    if (column.level == kGang) return view.Gang(job);
    if (column.level == kNarrowest) return Least(view, job, column.type);
    const int type = column.type, has = plan.TypeOf(job) == type ? plan.WidthOf(job) : 0;
    const bool alone = !plan.Placed(job) && !view.IsRunning(job);  // it takes as many GPUs as it is wide
    int best = 0, width = view.MinGang(job);
    double best_rate = 0.0;
    for (const double rate : view.RateCurve(job, type)) {
      if (alone && width > plan.room(type)) break;
      if (rate > best_rate && (alone || width <= has || plan.FitsOn(view, job, type, width)))
        best = width, best_rate = rate;
      ++width;
    }
    return best;
  }
};

}  // namespace

ActionInfo ResizeAction() {
  return {.name = "resize",
          .summary =
              "a job on fewer or more GPUs than its gang: the fewest it can run on, or the most that "
              "speed it up in the room left",
          .source = "Berth; optimus and elastic_srpt choose among the same widths",
          .column = kResizeColumn,
          .pair = kResizePair,
          .make = MakeAction<Resize>,
          .resizes = true};
}

}  // namespace berth
