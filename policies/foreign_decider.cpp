#include "policies/foreign_decider.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/gym/candidates.hpp"
#include "policies/architecture.hpp"
#include "policies/schedulers.hpp"

namespace berth {
namespace {

// Encoders that read of a view what a ForeignCluster says: jobs, and how many GPUs there are and are idle,
// nothing of nodes, devices and features.
struct ForeignEncoder {
  const char* name;
  bool attained_steps;  // read where the knowledge is blind
};
constexpr ForeignEncoder kEncoders[] = {{kObservationV1, false}, {"ObservationV3", true}};

const ForeignEncoder& ForeignEncoderOf(const std::string& spec, const std::string& policy) {
  std::string able;
  for (const ForeignEncoder& encoder : kEncoders) {
    if (ParseSpec(spec).name == encoder.name) return encoder;
    able += Join(able.empty() ? "" : " or ", encoder.name);
  }
  throw Error(Join(policy, ": expected a policy that sees ", able, ", found one of ", spec,
                   ", which tells more of nodes and devices than a ForeignCluster says"));
}

}  // namespace

ForeignDecider::ForeignDecider(PolicyBundle bundle, const std::string& name)
    : bundle_(std::move(bundle)),
      scheduler_(MakePolicyScheduler(bundle_, name, /*sample=*/false)),
      encoder_(MakeEncoder(bundle_.mdp)),
      network_(Freeze(bundle_)),
      any_size_(FindArchitecture(ParseSpec(bundle_.network).name).any_size) {
  if (bundle_.mdp.semantics != Semantics::kRedecide) {
    throw Error(Join(name, ": expected a policy of semantics 'redecide', found '",
                     ToString(bundle_.mdp.semantics),
                     "', whose chosen job blocks the queue from one decision to the next; Berth's own "
                     "simulator runs it"));
  }
  const ForeignEncoder& encoder = ForeignEncoderOf(bundle_.mdp.encoder, name);
  reads_steps_ = encoder.attained_steps && bundle_.mdp.knowledge == Knowledge::kBlind;
}

// Without its steps a job that has run would look to the policy as if it had only come.
void ForeignDecider::CheckSteps(const ForeignCluster& cluster) const {
  if (!reads_steps_) return;
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
    if (cluster.jobs[i].attained_s > 0.0 && std::isnan(cluster.jobs[i].attained_steps)) {
      throw Error(Join("job ", i,
                       ": attained_steps: expected the steps that it has done, which a blind policy of ",
                       bundle_.mdp.encoder, " reads, found none"));
    }
  }
}

void ForeignDecider::Decide(const ForeignCluster& cluster, std::span<int> type_of_job) {
  BERTH_CHECK(type_of_job.size() == cluster.jobs.size(), type_of_job.size(), " for ", cluster.jobs.size());
  CheckSteps(cluster);
  const ForeignView foreign(cluster, bundle_.mdp.knowledge);
  decision_.Clear();
  scheduler_->Reset(foreign.view());
  scheduler_->Decide(foreign.view(), decision_);
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
  const ForeignView foreign(cluster, bundle_.mdp.knowledge);
  const ClusterView& view = foreign.view();
  scheduler_->Reset(view);  // refuses a cluster that the network is not for
  Candidates list;
  const std::span<const int> candidates = list.List(view, bundle_.mdp);
  const int queue = any_size_ ? std::max(static_cast<int>(candidates.size()), 1) : bundle_.layout.q;
  std::vector<int> visible;
  encoder_->Begin(view);
  encoder_->Select(view, candidates, queue, visible);
  const ObservationLayout layout = EncoderOf(bundle_.mdp.encoder).Layout(queue, view.num_types());
  observation_.resize(U(layout.size()));
  encoder_->Encode({view, view.free_gpus(), candidates, visible}, layout, observation_);
  raw_.resize(U(layout.q * layout.g) + (bundle_.has_done() ? 1 : 0));
  network_->Evaluate(observation_, layout, raw_);
  for (std::size_t row = 0; row < visible.size(); ++row) {
    for (std::size_t type = 0; type < types; ++type) {
      if (view.Rate(visible[row], static_cast<int>(type)) <= 0.0) continue;
      scores[U(foreign.Position(visible[row])) * types + type] = raw_[row * types + type];
    }
  }
}

}  // namespace berth
