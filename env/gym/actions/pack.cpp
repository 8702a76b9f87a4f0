// A job beside another on its one GPU, of those that the plan has alone on one GPU of the type. `together`:
// the host with which the two keep most of their speed. `soonest`: with which most is gained by Smith's rule,
// each job's speed over the time that it still takes alone there,
//
//   keeps / left - (1 - host_keeps) / host's left
//
// and none where nothing is: a short job is then not held up by a long one. Where run times are not known
// both are `together`.
#include <algorithm>

#include "env/base/index.hpp"
#include "env/gym/actions/action_table.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kPackPair[] = {
    {"keeps",
     "of its speed alone, what it keeps beside the best host of the plan or, while it has none, of "
     "the visible jobs",
     0, 1},
    {"host_keeps", "of that host's speed alone, what it keeps", 0, 1},
    {"host_longer", "tanh(ln(what the host still takes over what the job does) / 2); 0 = not known", -1, 1},
    {"as_now", "1 = it runs beside that host, or before there is one beside another, on the type now", 0, 1},
};

constexpr ParamInfo kPackParams[] = {
    {"host", "together",
     "together: with whom both keep most of their speed | soonest: where most is gained of speed over time "
     "left, and nobody where nothing is"},
};

class Pack final : public ActionKind {
 public:
  explicit Pack(Params& params) : soonest_(params.Choice("host", {"together", "soonest"}) == 1) {}

  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    if (!view.has_pairs()) {
      throw Error(
          "actions: pack: expected throughputs of pairs on one GPU (--throughputs pairs), found none");
    }
    for (int type = 0; type < view.num_types(); ++type) columns.push_back({type, 0});
  }

  void Look(const ClusterView& view, std::span<const int> visible) override {
    known_.assign(view.throughputs().job_types.size(), -1);
    of_type_.clear();  // one job for all of its job type: pairs' rates are those of job types
    for (int job : visible) {
      if (view.Gang(job) != 1 || view.GpuMilli(job) < 1000) continue;
      int& found = known_[U(view.JobType(job))];
      if (found >= 0) continue;
      found = static_cast<int>(of_type_.size());
      of_type_.push_back(job);
    }
    const std::size_t types = U(view.num_types());
    best_.assign(of_type_.size() * types, {});
    for (std::size_t i = 0; i < of_type_.size(); ++i) {
      for (std::size_t type = 0; type < types; ++type) {
        for (int host : of_type_) {
          const Kept kept = Together(view, of_type_[i], host, static_cast<int>(type));
          if (kept.sum() > best_[i * types + type].sum()) best_[i * types + type] = kept;
        }
      }
    }
  }

  void WritePair(const ClusterView& view, const Plan& plan, int job, const ActionColumn& column,
                 float* f) override {
    if (column.level != 0 || view.Gang(job) != 1 || view.GpuMilli(job) < 1000) return;
    const int host =
        plan.Placed(job) ? plan.HostOf(job) : HostOf(view, plan, job, column.type, /*any=*/false);
    const Kept kept = host >= 0
                          ? Together(view, job, host, column.type)
                          : best_[U(known_[U(view.JobType(job))]) * U(view.num_types()) + U(column.type)];
    f[0] = static_cast<float>(kept.own);
    f[1] = static_cast<float>(kept.host);
    if (host >= 0 && view.granted() >= Knowledge::kEstimate) {
      const double own = Left(view, job), other = Left(view, host);
      f[2] = static_cast<float>((other - own) / (other + own));  // tanh(ln(x) / 2) = (x - 1) / (x + 1)
    }
    const bool together = host >= 0 ? view.Partner(job) == host : view.Partner(job) >= 0;
    f[3] = together && view.TypeOf(job) == column.type ? 1.0F : 0.0F;
  }

  Legality Legal(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    if (plan.Placed(job) || view.Gang(job) != 1) return Legality::kNo;
    return HostOf(view, plan, job, column.type, /*any=*/true) >= 0 ? Legality::kYes : Legality::kNotYet;
  }
  void Put(const ClusterView& view, Plan& plan, int job, const ActionColumn& column) override {
    plan.Pack(view, job, HostOf(view, plan, job, column.type, /*any=*/false));
  }

  bool Awaits() const override { return true; }

 private:
  struct Kept {
    double own = 0.0, host = 0.0;
    double sum() const { return own + host; }
  };
  static Kept Together(const ClusterView& view, int job, int host, int type) {
    const double own = view.PairRate(job, host, type), other = view.PairRate(host, job, type);
    if (own <= 0.0 || other <= 0.0) return {};
    return {own / view.Rate(job, type), other / view.Rate(host, type)};
  }
  // s alone on its fastest type, a little more than 0.
  static double Left(const ClusterView& view, int job) {
    return view.RemainingSteps(job) / view.BestRate(job) + 1.0;
  }
  // The best, or any; -1 = none.
  int HostOf(const ClusterView& view, const Plan& plan, int job, int type, bool any) const {
    int best = -1;
    double most = 0.0;
    const bool soonest = soonest_ && view.granted() >= Knowledge::kEstimate;
    const double own = soonest ? view.RemainingSeconds(job, type) + 1.0 : 0.0;
    const auto look = [&](int host) {
      if (!plan.MayHost(view, host, job, type)) return;
      const Kept kept = Together(view, job, host, type);
      const double gain = soonest
                              ? kept.own / own - (1.0 - kept.host) / (view.RemainingSeconds(host, type) + 1.0)
                              : kept.sum();
      if (soonest && gain <= 0.0) return;
      if (best < 0 || gain > most) best = host, most = gain;
    };
    for (int host : plan.placed()) {
      look(host);
      if (any && best >= 0) return best;
    }
    for (int host : view.running()) {
      if (plan.preemptive()) break;
      if (!plan.Placed(host)) look(host);
      if (any && best >= 0) return best;
    }
    return best;
  }

  bool soonest_;
  std::vector<int> known_, of_type_;  // [T] of a job type which of those seen; a job of each of these
  std::vector<Kept> best_;            // [seen, G]
};

}  // namespace

ActionInfo PackAction() {
  return {
      .name = "pack",
      .summary = "a job of one GPU beside another that the plan has alone on one",
      .source = "Gandiva, Xiao et al., OSDI 2018; Gavel, Narayanan et al., OSDI 2020",
      .params = kPackParams,
      .pair = kPackPair,
      .make = [](Params& params) -> std::unique_ptr<ActionKind> { return std::make_unique<Pack>(params); }};
}

}  // namespace berth
