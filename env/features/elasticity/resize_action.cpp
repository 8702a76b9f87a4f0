// A job on fewer or more GPUs than its gang: the fewest that it can run on, or as many as speed it up in the
// room that there is. A job that the plan has on fewer may be given more.
#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/elasticity/elasticity.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {
namespace {

enum Level : int { kLeast, kMost, kGang = -1 };

constexpr ChannelInfo kColumn[] = {{"widest", "1 = as wide as room is, 0 = as narrow as can be", 0, 1}};
constexpr ChannelInfo kPair[] = {
    {"width", "log2(GPUs over the gang) / 3", -2, 2},
    {"speed", "ln(rate over the gang's on the type) / 2; 0 where either cannot run", -2, 2},
    {"as_now", "1 = it runs on as many GPUs of the type now", 0, 1},
};

class Resize final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    FeatureFor<ElasticitySettings>("resize", view);
    for (int type = 0; type < view.num_types(); ++type) {
      for (const int level : {kLeast, kMost}) columns.push_back({type, level});
    }
  }
  void WriteColumn(const ClusterView& /*view*/, const ActionColumn& column, float* f) override {
    f[0] = column.level == kMost ? 1.0F : 0.0F;
  }
  void WritePair(const ClusterView& view, const Plan& plan, int job, const ActionColumn& column,
                 float* f) override {
    const int gang = view.Gang(job), width = WidthAt(view, plan, job, column);
    if (width == 0) return;
    const double rate = view.RateAt(job, column.type, width), whole = view.Rate(job, column.type);
    f[0] = static_cast<float>(Log2(width) - Log2(gang)) / 3.0F;
    f[1] = rate > 0.0 && whole > 0.0 ? static_cast<float>(Log(rate / whole)) / 2.0F : 0.0F;
    f[2] = column.type == view.TypeOf(job) && width == view.Width(job) ? 1.0F : 0.0F;
  }
  Legality Legal(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    const int width = WidthAt(view, plan, job, column);
    if (width == 0) return Legality::kNotYet;
    return plan.FitsOn(view, job, column.type, width) ? Legality::kYes : Legality::kNotYet;
  }
  void Put(const ClusterView& view, Plan& plan, int job, const ActionColumn& column) override {
    plan.PutOn(view, job, column.type, WidthAt(view, plan, job, column));
  }
  bool Runs() const override { return true; }

 private:
  // 0 = none.
  static int WidthAt(const ClusterView& view, const Plan& plan, int job, const ActionColumn& column) {
    const int type = column.type, most = view.MaxGang(job);
    if (column.level == kGang) return view.Gang(job);
    if (column.level == kLeast) {
      for (int width = view.MinGang(job); width <= most; ++width) {
        if (view.RateAt(job, type, width) > 0.0) return width;
      }
      return 0;
    }
    const int has = plan.TypeOf(job) == type ? plan.WidthOf(job) : 0;
    int best = 0;
    double best_rate = 0.0;
    for (int width = view.MinGang(job); width <= most; ++width) {
      const double rate = view.RateAt(job, type, width);
      if (rate > best_rate && (width <= has || plan.FitsOn(view, job, type, width)))
        best = width, best_rate = rate;
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
          .column = kColumn,
          .pair = kPair,
          .make = MakeAction<Resize>};
}

}  // namespace berth
