#include "policies/foreign_decider.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

bool IsForeign(const EncoderInfo& encoder) {
  return std::all_of(encoder.blocks.begin(), encoder.blocks.end(),
                     [](const BlockUse& use) { return use.info->foreign; });
}

void CheckForeign(const EncoderInfo& encoder, const std::string& policy) {
  if (IsForeign(encoder)) return;
  std::string able;
  for (const EncoderInfo& info : Encoders()) {
    if (IsForeign(info)) able += Join(able.empty() ? "" : " or ", info.name);
  }
  throw Error(Join(policy, ": expected a policy that sees ", able, ", found one of ", encoder.name, " (",
                   encoder.Blocks(), "), which tells more of nodes and devices than a ForeignCluster says"));
}

}  // namespace

ForeignDecider::ForeignDecider(PolicyBundle bundle, const std::string& name)
    : policy_(std::move(bundle), name, /*sample=*/false) {
  const DecisionPoint& point = policy_.point();
  if (point.commits()) {
    throw Error(Join(name, ": expected a policy of semantics 'redecide', found '",
                     ToString(point.mdp().semantics),
                     "', whose chosen job blocks the queue from one decision to the next; Berth's own "
                     "simulator runs it"));
  }
  if (point.grid() != nullptr) {
    throw Error(Join(name, ": expected a policy whose one action is '", kStartAlone, "', found one of ",
                     point.mdp().actions, ", which a ForeignCluster does not say the state of"));
  }
  CheckForeign(point.encoder(), name);
  for (const BlockUse& use : point.encoder().blocks) {
    reads_steps_ = reads_steps_ || (use.info->attained_steps && policy_.knowledge() == Knowledge::kBlind);
  }
}

// Without its steps a job that has run would look to the policy as if it had only come.
void ForeignDecider::CheckSteps(const ForeignCluster& cluster) const {
  if (!reads_steps_) return;
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
    if (cluster.jobs[i].attained_s > 0.0 && std::isnan(cluster.jobs[i].attained_steps)) {
      throw Error(Join("job ", i,
                       ": attained_steps: expected the steps that it has done, which a blind policy of ",
                       bundle().mdp.encoder, " reads, found none"));
    }
  }
}

void ForeignDecider::Decide(const ForeignCluster& cluster, std::span<int> type_of_job) {
  BERTH_CHECK(type_of_job.size() == cluster.jobs.size(), type_of_job.size(), " for ", cluster.jobs.size());
  CheckSteps(cluster);
  const ForeignView foreign(cluster, policy_.knowledge());
  decision_.Clear();
  policy_.Reset(foreign.view());
  policy_.Decide(foreign.view(), decision_);
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) type_of_job[i] = cluster.jobs[i].running_on;
  for (const Command& command : decision_.commands) {
    BERTH_CHECK(command.kind == CommandKind::kStart || command.kind == CommandKind::kMove ||
                    command.kind == CommandKind::kStop,
                "command ", static_cast<int>(command.kind));
    type_of_job[U(foreign.Position(command.job))] = command.kind == CommandKind::kStop ? -1 : command.type;
  }
}

void ForeignDecider::Score(const ForeignCluster& cluster, std::span<float> scores) {
  const std::size_t types = cluster.types.size();
  BERTH_CHECK(scores.size() == cluster.jobs.size() * types, scores.size(), " scores");
  std::fill(scores.begin(), scores.end(), -std::numeric_limits<float>::infinity());
  CheckSteps(cluster);
  const ForeignView foreign(cluster, policy_.knowledge());
  const ClusterView& view = foreign.view();
  policy_.Reset(view);  // refuses a cluster that the network is not for
  const std::span<const float> raw = policy_.Score(view);
  const std::span<const int> visible = policy_.point().visible();
  for (std::size_t row = 0; row < visible.size(); ++row) {
    for (std::size_t type = 0; type < types; ++type) {
      if (view.Rate(visible[row], static_cast<int>(type)) <= 0.0) continue;
      scores[U(foreign.Position(visible[row])) * types + type] = raw[row * types + type];
    }
  }
}

}  // namespace berth
