// What a node may draw. A node without a row keeps the cap that it has.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "env/base/index.hpp"
#include "env/features/power/power.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {
namespace {

constexpr int kMostNodes = 32;                        // that have rows
constexpr double kShares[] = {1.0, 0.85, 0.7, 0.55};  // of a node's peak; the first: what its settings say
constexpr int kCapLevels = static_cast<int>(std::size(kShares));

constexpr ChannelInfo kCapColumn[] = {
    {"cap", "share of the node's peak; 1 = what the settings allow it", 0, 1}};
constexpr ChannelInfo kCapRow[] = {
    {"is_node", "1 = the row is a node", 0, 1},
    {"watts", "what it draws over its peak", 0, 1},
    {"wanted", "what it would draw at full clocks, likewise", 0, 1},
    {"may", "what it may draw, likewise; 1 = its peak or more", 0, 1},
    {"size", "its peak over that of all GPUs", 0, 1},
};
constexpr ChannelInfo kCapPair[] = {
    {"as_now", "1 = it may draw that now", 0, 1},
    {"clock", "share of the full clock that it leaves the node's GPUs with what runs there now", 0, 1},
    {"saves", "of the node's peak, what it would draw less than now", -1, 1},
};

// What a cap makes of a node.
struct Capped {
  double clock, watts;
};

class CapNode final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    FeatureFor<PowerSettings>("cap", view);
    for (int level = 0; level < kCapLevels; ++level) columns.push_back({-1, level});
  }
  void Begin(const ClusterView& view) override {
    const PowerState& power = *view.Find<PowerState>();
    const PowerSettings& settings = *view.features().Find<PowerSettings>();
    idle_.assign(power.node_cap_w.size(), 0.0);
    peak_ = wanted_ = own_ = idle_;
    for (std::size_t node = 0; node < idle_.size(); ++node) {
      for (int gpu = power.first_gpu[node]; gpu < power.first_gpu[node + 1]; ++gpu) {
        idle_[node] += power.idle_w[power.type[U(gpu)]];
        peak_[node] += power.peak_w[power.type[U(gpu)]];
      }
      own_[node] = settings.NodeCap(power.kind[power.type[U(power.first_gpu[node])]]);
    }
    all_ = std::accumulate(peak_.begin(), peak_.end(), 0.0);
  }
  // Of many those with rows that would draw most.
  void Look(const ClusterView& view, std::span<const int> /*visible*/) override {
    const PowerState& power = *view.Find<PowerState>();
    const int top = static_cast<int>(power.dynamic_share.size()) - 1;
    rows_.resize(idle_.size());
    std::iota(rows_.begin(), rows_.end(), 0);
    for (int node : rows_) wanted_[U(node)] = Sum(power, node, top, /*asked=*/false);
    if (rows_.size() > kMostNodes) {
      std::partial_sort(rows_.begin(), rows_.begin() + kMostNodes, rows_.end(), [&](int a, int b) {
        return wanted_[U(a)] != wanted_[U(b)] ? wanted_[U(a)] > wanted_[U(b)] : a < b;
      });
      rows_.resize(kMostNodes);
    }
    capped_.clear();
    for (int node : rows_) {
      for (int level = 0; level < kCapLevels; ++level) capped_.push_back(Under(view, power, node, level));
    }
  }
  bool OfJobs() const override { return false; }
  int RowsLaidOut() const override { return std::min(static_cast<int>(idle_.size()), kMostNodes); }
  int Rows(const ClusterView&) override { return static_cast<int>(rows_.size()); }

  void WriteColumn(const ClusterView&, const ActionColumn& column, float* f) override {
    f[0] = static_cast<float>(kShares[column.level]);
  }
  void WriteRow(const ClusterView& view, int row, float* f) override {
    const PowerState& power = *view.Find<PowerState>();
    const int node = rows_[U(row)];
    const double peak = std::max(peak_[U(node)], 1e-9);
    double watts = 0.0;
    for (int gpu = power.first_gpu[U(node)]; gpu < power.first_gpu[U(node) + 1]; ++gpu)
      watts += power.watts[U(gpu)];
    f[0] = 1.0F;
    f[1] = static_cast<float>(watts / peak);
    f[2] = static_cast<float>(wanted_[U(node)] / peak);
    f[3] = static_cast<float>(std::min(power.node_cap_w[U(node)] / peak, 1.0));
    f[4] = static_cast<float>(peak / std::max(all_, 1e-9));
  }
  void WritePair(const ClusterView& view, const Plan&, int row, const ActionColumn& column,
                 float* f) override {
    const PowerState& power = *view.Find<PowerState>();
    const int node = rows_[U(row)];
    const Capped& capped = capped_[U(row * kCapLevels + column.level)];
    double watts = 0.0;
    for (int gpu = power.first_gpu[U(node)]; gpu < power.first_gpu[U(node) + 1]; ++gpu)
      watts += power.watts[U(gpu)];
    f[0] = Watts(node, column.level) == power.node_cap_w[U(node)] ? 1.0F : 0.0F;
    f[1] = static_cast<float>(capped.clock);
    f[2] = static_cast<float>(std::clamp((watts - capped.watts) / std::max(peak_[U(node)], 1e-9), -1.0, 1.0));
  }
  Legality Legal(const ClusterView& view, const Plan& plan, int row,
                 const ActionColumn& column) const override {
    const int node = rows_[U(row)];
    const double watts = Watts(node, column.level);
    const bool sets = watts > idle_[U(node)] && watts != view.Find<PowerState>()->node_cap_w[U(node)];
    return sets && !plan.IsSet(kPowerCapControl, node) ? Legality::kYes : Legality::kNo;
  }
  void Put(const ClusterView&, Plan& plan, int row, const ActionColumn& column) override {
    const int node = rows_[U(row)];
    plan.Set({kPowerCapControl, node, Watts(node, column.level)});
  }

 private:
  // Of a level; NaN where the settings allow no more than that anyway.
  double Watts(int node, int level) const {
    if (level == 0) return own_[U(node)];
    const double watts = kShares[level] * peak_[U(node)];
    return watts < own_[U(node)] ? watts : std::numeric_limits<double>::quiet_NaN();
  }
  // What the node draws under a ceiling of its GPUs' levels; asked: at no more than decisions set.
  double Sum(const PowerState& power, int node, int ceiling, bool asked) const {
    double sum = 0.0;
    for (int gpu = power.first_gpu[U(node)]; gpu < power.first_gpu[U(node) + 1]; ++gpu) {
      const int level = asked ? std::min<int>(power.asked[U(gpu)], ceiling) : ceiling;
      sum += WattsAt(power, gpu, level, 1.0);
    }
    return sum;
  }
  // By one ceiling for the node, as HoldCap holds it; without heat and the cluster's cap.
  Capped Under(const ClusterView& view, const PowerState& power, int node, int level) const {
    const PowerSettings& settings = *view.features().Find<PowerSettings>();
    const double cap = Watts(node, level);
    int ceiling = settings.levels() - 1;
    double sum = Sum(power, node, ceiling, true);
    while (ceiling > 0 && sum > cap) sum = Sum(power, node, --ceiling, true);
    if (!(sum > cap)) return {settings.clocks[U(ceiling)], sum};
    const double above = sum - idle_[U(node)];
    const double duty = above > 0.0 ? std::max(cap - idle_[U(node)], 0.0) / above : 0.0;
    return {settings.clocks[0] * duty, cap};
  }

  std::vector<double> idle_, peak_, wanted_, own_;  // [N] W; what the settings allow
  std::vector<int> rows_;                           // node of each
  std::vector<Capped> capped_;                      // [rows, levels]
  double all_ = 0.0;                                // W
};

}  // namespace

ActionInfo CapAction() {
  return {.name = "cap",
          .summary = "what a node may draw; of more than 32 those are offered that would draw most",
          .source = "budgets of nodes: Etinski et al. 2012",
          .column = kCapColumn,
          .row = kCapRow,
          .pair = kCapPair,
          .make = MakeAction<CapNode>,
          .on_request = true};
}

}  // namespace berth
