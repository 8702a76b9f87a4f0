// A waiting job is turned away for good: admission by deadline, or of whoever would cost others more than it
// is worth.
#include <algorithm>

#include "env/gym/actions/action_table.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kRejectPair[] = {
    {"slack",
     "time to its deadline over what it still takes on its fastest type, less 1, in [-1, 4] / 4; "
     "1 = no deadline, 0 = run times are not known",
     -0.25F, 1},
};

class Reject final : public ActionKind {
 public:
  void AddColumns(const ClusterView& /*view*/, std::vector<ActionColumn>& columns) const override {
    columns.push_back({});
  }
  void WritePair(const ClusterView& view, const Plan& /*plan*/, int job, const ActionColumn& /*column*/,
                 float* f) override {
    if (view.Deadline(job) == kNever) {
      f[0] = 1.0F;
    } else if (view.granted() >= Knowledge::kEstimate) {
      const double left = view.RemainingSteps(job) / view.BestRate(job);
      const double slack = (view.Deadline(job) - view.now()) / std::max(left, 1.0) - 1.0;
      f[0] = static_cast<float>(std::clamp(slack, -1.0, 4.0) / 4.0);
    }
  }
  Legality Legal(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& /*column*/) const override {
    return plan.MayReject(view, job) ? Legality::kYes : Legality::kNo;
  }
  void Put(const ClusterView& /*view*/, Plan& plan, int job, const ActionColumn& /*column*/) override {
    plan.Reject(job);
  }
};

}  // namespace

ActionInfo RejectAction() {
  return {.name = "reject",
          .summary = "a waiting job is turned away for good",
          .pair = kRejectPair,
          .make = MakeAction<Reject>,
          .needs_reward = "deadline"};
}

}  // namespace berth
