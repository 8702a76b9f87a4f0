#include "policies/policy_scheduler.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/gym/actions/action_set.hpp"
#include "policies/architecture.hpp"
#include "policies/inference.hpp"
#include "policies/schedulers.hpp"

namespace berth {

PolicyScheduler::PolicyScheduler(PolicyBundle bundle, const std::string& name, bool sample)
    : bundle_(std::move(bundle)),
      name_(name),
      sample_(sample),
      any_size_(FindArchitecture(ParseSpec(bundle_.network).name).any_size),
      resizes_(std::ranges::any_of(ParseActions(bundle_.mdp.actions),
                                   [](const ActionUse& use) { return use.info->resizes; })),
      network_(Freeze(bundle_)),
      point_(bundle_.mdp),
      next_(U(network_->memory())) {
  if (bundle_.layout.q == 0) {
    throw Error(Join(name_, ": expected a policy for clusters, found one for a flat environment of ",
                     bundle_.layout.size(), " observations"));
  }
  const MdpSpec& mdp = bundle_.mdp;
  if (bundle_.reserve != Reserve::kNone &&
      (mdp.preemptive || point_.commits() || point_.grid() != nullptr || mdp.reread)) {
    throw Error(Join(name_, ": reserve: expected a non-preemptive policy of semantics redecide with it, ",
                     "which has no action but ", kStartAlone, " and does not reread, found ",
                     mdp.ToString()));
  }
}

void PolicyScheduler::Reset(const ClusterView& view) {
  stream_ = Stream(view.seed(), Purpose::kScheduler);
  state_.assign(next_.size(), 0.0F);
  kept_ = state_;
  kept_at_s_ = -1.0;
  try {
    point_.Begin(view);
  } catch (const Error& error) {  // commands that the cluster lacks
    throw Error(Join(name_, ": ", error.what()));
  }
  if (any_size_) return;
  const bool grid = point_.grid() != nullptr;
  if (const int columns = grid ? point_.grid()->columns() : view.num_types(); columns != bundle_.layout.g) {
    throw Error(Join(name_, ": an mlp runs only on what it was trained on: ", bundle_.layout.g,
                     grid ? " columns of actions" : " GPU types", ", found a cluster of ", columns));
  }
  for (int g = 0; g < view.num_types(); ++g) {
    const std::string& found = view.types()[U(g)].name;
    if (U(g) < bundle_.gpu_types.size() && found != bundle_.gpu_types[U(g)]) {
      throw Error(Join(name_, ": an mlp runs only on what it was trained on: GPU type ", g, " is '",
                       bundle_.gpu_types[U(g)], "', found '", found, "'"));
    }
  }
}

void PolicyScheduler::Decide(const ClusterView& view, Decision& decision) {
  if (!point_.commits() && point_.PassesOver(view)) return;
  CheckRequests(view);
  Stream* noise = sample_ ? &stream_ : nullptr;
  point_.Start(view);
  if (point_.commits()) {
    while (!point_.blocked() && point_.Gather(view)) {
      Evaluate(view);
      Keep(view);
      order_.Rank(view, point_, scores_, noise);
      point_.Choose(view, point_.PlacementOf(order_.best()));
    }
  } else {
    point_.Gather(view);
    Evaluate(view);
    if (bundle_.mdp.reread) {
      FillOneByOne(view, noise);
    } else {
      if (Remembers()) {  // as in training, where it is a point only if there is anything to choose
        point_.OpenMask(view);
        if (point_.mask().pairs() > 0) Keep(view);
      }
      order_.Rank(view, point_, scores_, noise);
      order_.Fill(view, point_, bundle_.reserve);
    }
  }
  point_.Close(view, decision);
}

// Backfilling goes by when jobs end. A policy that is shown no estimate has requests alone for that.
void PolicyScheduler::CheckRequests(const ClusterView& view) const {
  const bool backfills = bundle_.reserve == Reserve::kEasy || bundle_.mdp.commit_backfill;
  if (!backfills || view.granted() >= Knowledge::kEstimate) return;
  for (const int job : view.active()) {
    if (!std::isnan(view.Requested(job))) continue;
    throw Error(Join(name_, ": job ", view.Id(job),
                     ": requested_s: expected the run time that its user asked for, which a policy of "
                     "knowledge '",
                     ToString(view.granted()), "' that backfills goes by, found none"));
  }
}

void PolicyScheduler::FillOneByOne(const ClusterView& view, Stream* noise) {
  for (point_.OpenMask(view);;
       network_->Evaluate(point_.observation(), point_.layout(), scores_, StateAt(view), next_)) {
    const bool open = point_.mask().pairs() > 0;
    const int action = BestLegal(view, point_, scores_, noise);
    if (open && action >= 0) Keep(view);
    if (action < 0 || action == point_.done()) return;
    point_.Put(view, action);
  }
}

void PolicyScheduler::Evaluate(const ClusterView& view) {
  const int rows =
      point_.grid() != nullptr ? bundle_.mdp.visible : bundle_.layout.q - point_.encoder().entities;
  point_.Observe(view, any_size_ ? 0 : rows);
  scores_.resize(U(point_.done()) + (bundle_.has_done() ? 1 : 0));
  network_->Evaluate(point_.observation(), point_.layout(), scores_, StateAt(view), next_);
}

std::span<const float> PolicyScheduler::StateAt(const ClusterView& view) const {
  return view.now() > kept_at_s_ ? kept_ : state_;
}

void PolicyScheduler::Keep(const ClusterView& view) {
  if (!Remembers()) return;
  if (view.now() > kept_at_s_) state_ = kept_;
  kept_at_s_ = view.now();
  kept_ = next_;
}

std::span<const float> PolicyScheduler::Score(const ClusterView& view) {
  point_.Start(view);
  point_.Gather(view);
  Evaluate(view);
  return scores_;
}

namespace {

constexpr ParamInfo kParams[] = {
    {"file", "policy.h5", "bundle written by `berth export`"},
    {"sample", "false", "true draws from the policy's distribution, false takes its best action"},
    {"estimated", "false",
     "true: one that knows run times takes estimates for them, where there are no better"},
};

std::unique_ptr<Scheduler> Make(Params& params) {
  const std::string file = params.Text("file");
  const bool sample = params.Bool("sample"), estimated = params.Bool("estimated");
  PolicyBundle bundle = LoadBundle(file);
  if (estimated) bundle.mdp.knowledge = std::min(bundle.mdp.knowledge, Knowledge::kEstimate);
  return MakePolicyScheduler(std::move(bundle), file, sample);
}

}  // namespace

std::unique_ptr<Scheduler> MakePolicyScheduler(PolicyBundle bundle, const std::string& name, bool sample) {
  return std::make_unique<PolicyScheduler>(std::move(bundle), name, sample);
}

SchedulerTable PolicySchedulers() {
  static const SchedulerInfo kTable[] = {
      {"policy", "a frozen policy: what `berth train` learned and `berth export` wrote", "policies/README.md",
       "", Knowledge::kOracle, /*preemptive=*/true, kParams, Make}};
  return kTable;
}

}  // namespace berth
