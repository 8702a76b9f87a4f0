#include "policies/foreign_decider.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/gym/actions/action_set.hpp"
#include "policies/architecture.hpp"

namespace berth {
namespace {

// Kinds of actions that need of a cluster its jobs, its types, and what a detailed ForeignCluster states of
// widths and pairs. What else there is needs clocks, layouts, replicas or nodes, which it does not.
constexpr const char* kResize = "resize";
constexpr const char* kPackAction = "pack";
constexpr const char* kForeign[] = {kResize, kPackAction, "reject"};

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

ForeignDecider::ForeignDecider(PolicyBundle bundle, const std::string& name, Answers answers)
    : policy_(std::move(bundle), name, /*sample=*/false) {
  const DecisionPoint& point = policy_.point();
  if (point.commits()) {
    throw Error(Join(name, ": expected a policy of semantics 'redecide', found '",
                     ToString(point.mdp().semantics),
                     "', whose chosen job blocks the queue from one decision to the next; Berth's own "
                     "simulator runs it"));
  }
  if (const int memory =
          MemoryOf(policy_.bundle().network, policy_.bundle().layout, policy_.bundle().num_actions);
      memory > 0) {
    throw Error(Join(name, ": expected a network without memory, found ", policy_.bundle().network,
                     ", whose ", memory,
                     " numbers go on from one decision to the next, which a decision by itself cannot say; "
                     "Berth's own simulator runs it"));
  }
  CheckActions(answers, name);
  CheckForeign(point.encoder(), name);
  if (answers == Answers::kTypes && features_.any()) {  // a block would see zeros
    throw Error(Join(name, ": expected a policy that sees no feature of the cluster, found one of ",
                     point.encoder().name, " (", point.encoder().Blocks(),
                     "), which is told of widths when it is asked for commands"));
  }
  for (const BlockUse& use : point.encoder().blocks) {
    reads_steps_ = reads_steps_ || (use.info->attained_steps && policy_.knowledge() == Knowledge::kBlind);
  }
}

void ForeignDecider::CheckActions(Answers answers, const std::string& name) {
  const DecisionPoint& point = policy_.point();
  // The features that its actions and blocks are of.
  for (const FeatureModule& module : ShippedFeatures()) {
    bool used = false;
    for (const ActionUse& use : ParseActions(point.mdp().actions)) {
      used = used || std::any_of(module.actions.begin(), module.actions.end(),
                                 [&](const auto make) { return std::string(make().name) == use.info->name; });
    }
    for (const BlockUse& use : point.encoder().blocks) {
      used = used || std::any_of(module.blocks.begin(), module.blocks.end(),
                                 [&](const auto make) { return std::string(make().name) == use.info->name; });
    }
    if (used) features_.Add(module, module.make());
  }
  if (answers == Answers::kTypes) {
    if (point.grid() == nullptr) return;
    throw Error(Join(name, ": expected a policy whose one action is '", kStartAlone, "', found one of ",
                     point.mdp().actions, ", which a ForeignCluster does not say the state of"));
  }
  for (const ActionUse& use : ParseActions(point.mdp().actions)) {
    const std::string kind = use.info->name;
    if (std::find(std::begin(kForeign), std::end(kForeign), kind) == std::end(kForeign)) {
      throw Error(Join(name, ": expected a policy of actions among ", kStartAlone, ", ", kResize, ", ",
                       kPackAction, " and reject, found one of ", point.mdp().actions, ", and what '", kind,
                       "' sets a ForeignCluster does not say the state of"));
    }
    reads_pairs_ = reads_pairs_ || kind == kPackAction;
  }
  reads_widths_ = features_.any();
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

std::span<const ForeignCommand> ForeignDecider::DecideCommands(ForeignCluster cluster) {
  CheckSteps(cluster);
  commands_.clear();
  if (cluster.jobs.empty()) {
    const ForeignView checked(cluster, policy_.knowledge());
    return commands_;
  }
  cluster.detailed = true;
  const std::string& actions = bundle().mdp.actions;
  if (reads_widths_ && cluster.rates_by_width.empty()) {
    throw Error(Join("rates_by_width: expected rates on 1 to max_width GPUs, which a policy of ", actions,
                     " reads, found none"));
  }
  if (reads_pairs_ && cluster.pair_rates.empty()) {
    throw Error(Join("pair_rates: expected rates of two jobs on one GPU, which a policy of ", actions,
                     " reads, found none"));
  }
  const ForeignView foreign(cluster, policy_.knowledge(), features_);
  const ClusterView& view = foreign.view();
  decision_.Clear();
  policy_.Reset(view);
  policy_.Decide(view, decision_);
  BERTH_CHECK(decision_.controls.empty() && decision_.devices.empty(), "a command beyond jobs and types");
  std::vector<int> type_of(cluster.jobs.size(), -1);  // after the decision, of who runs
  for (int job : view.running()) type_of[U(job)] = view.TypeOf(job);
  for (const Command& c : decision_.commands) {
    if (c.type >= 0) type_of[U(c.job)] = c.type;
  }
  for (const Command& c : decision_.commands) {
    ForeignCommand& to = commands_.emplace_back(ForeignCommand{c.kind, foreign.Position(c.job)});
    if (c.kind == CommandKind::kStart || c.kind == CommandKind::kMove) {
      to.type = c.type;
      to.width = c.width > 0 ? c.width : view.Gang(c.job);
    } else if (c.kind == CommandKind::kPack) {
      to.type = type_of[U(c.host)];
      to.host = foreign.Position(c.host);
    }
  }
  return commands_;
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
