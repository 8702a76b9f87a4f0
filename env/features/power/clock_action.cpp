// All GPUs of a type at another clock.
#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/power/power.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kClockColumn[] = {{"clock", "the level's share of the full clock", 0, 1}};
constexpr ChannelInfo kClockRow[] = {
    {"is_clock", "1 = the row is the GPUs of a type", 0, 1},
    {"watts", "what they draw over their peak", 0, 1},
    {"peak", "their peak over that of all GPUs", 0, 1},
};
constexpr ChannelInfo kClockPair[] = {{"as_now", "1 = they run at this level", 0, 1}};

class SetClock final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    const auto& settings = FeatureFor<PowerSettings>("clock", view);
    for (int level = 0; level < settings.levels(); ++level) columns.push_back({-1, level});
  }
  void Begin(const ClusterView& view) override {
    const PowerState& power = *view.Find<PowerState>();
    types_.clear();
    for (int type = 0; type < view.num_types(); ++type) {  // not slices, which are clocked with their GPU
      const int device = view.first_device(type);
      if (power.type[U(power.GpuOf(device))] == type) types_.push_back(type);
    }
  }
  void Look(const ClusterView& view, std::span<const int> /*visible*/) override {
    asked_.clear();
    for (std::size_t row = 0; row < types_.size(); ++row)
      asked_.push_back(Asked(view, static_cast<int>(row)));
  }
  bool OfJobs() const override { return false; }
  int RowsLaidOut() const override { return static_cast<int>(types_.size()); }
  int Rows(const ClusterView&) override { return RowsLaidOut(); }

  void WriteColumn(const ClusterView& view, const ActionColumn& column, float* f) override {
    f[0] = static_cast<float>(view.features().Find<PowerSettings>()->clocks[U(column.level)]);
  }
  void WriteRow(const ClusterView& view, int row, float* f) override {
    const PowerState& power = *view.Find<PowerState>();
    double watts = 0.0, peak = 0.0, all = 0.0;
    for (std::size_t gpu = 0; gpu < power.type.size(); ++gpu) {
      all += power.peak_w[power.type[gpu]];
      if (power.type[gpu] != types_[U(row)]) continue;
      watts += power.watts[gpu];
      peak += power.peak_w[power.type[gpu]];
    }
    f[0] = 1.0F;
    f[1] = static_cast<float>(watts / std::max(peak, 1e-9));
    f[2] = static_cast<float>(peak / std::max(all, 1e-9));
  }
  void WritePair(const ClusterView&, const Plan&, int row, const ActionColumn& column, float* f) override {
    f[0] = asked_[U(row)] == column.level ? 1.0F : 0.0F;
  }
  Legality Legal(const ClusterView& view, const Plan& plan, int row,
                 const ActionColumn& column) const override {
    const int first = view.first_device(types_[U(row)]);
    if (plan.IsSet(kClockControl, first) || asked_[U(row)] == column.level) return Legality::kNo;
    return Legality::kYes;
  }
  void Put(const ClusterView& view, Plan& plan, int row, const ActionColumn& column) override {
    const int type = types_[U(row)], first = view.first_device(type);
    for (int d = first; d < first + view.cluster().types[U(type)].count; ++d)
      plan.Set({kClockControl, d, static_cast<double>(column.level)});
  }

 private:
  // Of the first of them: -1 where others were asked for another.
  int Asked(const ClusterView& view, int row) const {
    const PowerState& power = *view.Find<PowerState>();
    int asked = -1;
    for (std::size_t gpu = 0; gpu < power.type.size(); ++gpu) {
      if (power.type[gpu] != types_[U(row)]) continue;
      if (asked >= 0 && power.asked[gpu] != asked) return -1;
      asked = power.asked[gpu];
    }
    return asked;
  }
  std::vector<int> types_;
  std::vector<int> asked_;  // of each of them, as the point began
};

}  // namespace

ActionInfo ClockAction() {
  return {.name = "clock",
          .summary = "all GPUs of a type at another clock",
          .column = kClockColumn,
          .row = kClockRow,
          .pair = kClockPair,
          .make = MakeAction<SetClock>};
}

}  // namespace berth
