// A frozen policy as a Scheduler: all candidates are scored once a decision point, then the plan is filled in
// score order. The observation does not change while a plan is filled, so this is the policy's own sequence
// of micro-actions (design.md §5); with `sample` it is a draw from it, since adding Gumbel noise to logits
// and taking the best again and again samples without replacement (Vieira 2014; Kool et al., ICML 2019).
#include <algorithm>
#include <numeric>

#include "env/check.hpp"
#include "env/commit_backfill.hpp"
#include "env/plan.hpp"
#include "env/portable_math.hpp"
#include "env/rng.hpp"
#include "policies/architecture.hpp"
#include "policies/schedulers.hpp"

namespace berth {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

class PolicyScheduler : public Scheduler {
 public:
  PolicyScheduler(PolicyBundle bundle, const std::string& name, bool sample)
      : bundle_(std::move(bundle)), name_(name), sample_(sample), network_(Freeze(bundle_)) {
    any_size_ = FindArchitecture(ParseSpec(bundle_.network).name).any_size;
    if (bundle_.layout.q == 0) {
      throw Error(Join(name_, ": expected a policy for clusters, found one for a flat environment of ",
                       bundle_.layout.size(), " observations"));
    }
  }

  Knowledge knowledge() const override { return bundle_.mdp.knowledge; }

  void Reset(const ClusterView& view) override {
    stream_ = Stream(view.seed(), Purpose::kScheduler);
    pending_job_ = -1;
    backfill_.Forget();
    if (any_size_) return;
    if (view.num_types() != bundle_.layout.g) {
      throw Error(Join(name_, ": an mlp runs only on what it was trained on: ", bundle_.layout.g,
                       " GPU types, found a cluster of ", view.num_types()));
    }
    for (int g = 0; g < view.num_types(); ++g) {
      const std::string& found = view.types()[U(g)].name;
      if (U(g) < bundle_.gpu_types.size() && found != bundle_.gpu_types[U(g)]) {
        throw Error(Join(name_, ": an mlp runs only on what it was trained on: GPU type ", g, " is '",
                         bundle_.gpu_types[U(g)], "', found '", found, "'"));
      }
    }
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    if (bundle_.mdp.semantics == Semantics::kCommit) {
      Commit(view, decision);
    } else if (!PassesOver(view, bundle_.mdp)) {
      Redecide(view, decision);
    }
  }

 private:
  void Redecide(const ClusterView& view, Decision& decision) {
    Rank(view);
    plan_.Begin(view, bundle_.mdp.preemptive);
    if (bundle_.mdp.preemptive && visible_.size() < candidates_.size()) KeepUnseen(view);
    const bool already = !plan_.placed().empty() || (!plan_.preemptive() && !view.running().empty());
    const int done = layout_.q * layout_.g;
    // Room only shrinks, so one walk in score order is the best legal action again and again. `done` is
    // illegal while no event would follow (passed over then, it is the best action as soon as something is
    // placed) and, in a work-conserving process, while anything fits.
    bool wants_done = false;
    for (const int action : order_) {
      if (wants_done && (already || !plan_.placed().empty())) break;
      if (action == done) {
        wants_done = !bundle_.mdp.work_conserving;
        continue;
      }
      const int job = visible_[U(action / layout_.g)], type = action % layout_.g;
      if (plan_.Fits(view, job, type)) plan_.Put(view, job, type);
    }
    plan_.Emit(view, decision);
  }

  // The chosen job blocks the queue until it fits; meanwhile the published backfill may start others. All
  // that start at one decision point are chosen by the scores at its beginning.
  void Commit(const ClusterView& view, Decision& decision) {
    plan_.Begin(view, /*preemptive=*/false);
    if (pending_job_ >= 0) Start(view);
    if (pending_job_ < 0 && !view.waiting().empty()) {
      Rank(view);
      for (const int action : order_) {
        pending_job_ = visible_[U(action / layout_.g)], pending_type_ = action % layout_.g;
        if (plan_.Placed(pending_job_)) {
          pending_job_ = -1;
          continue;
        }
        Start(view);
        if (pending_job_ >= 0) break;
      }
    }
    if (pending_job_ >= 0 && bundle_.mdp.commit_backfill) {
      backfill_.Fill(view, view.waiting(), pending_job_, pending_type_, plan_);
    }
    plan_.Emit(view, decision);
  }

  // The pending job, where it fits.
  void Start(const ClusterView& view) {
    if (!plan_.Fits(view, pending_job_, pending_type_)) return;
    plan_.Put(view, pending_job_, pending_type_);
    pending_job_ = -1;
    backfill_.Forget();
  }

  // Fills visible_, layout_ and order_: the actions that any plan could take (done included), best first.
  void Rank(const ClusterView& view) {
    const int all = static_cast<int>((bundle_.mdp.preemptive ? view.active() : view.waiting()).size());
    const int queue = any_size_ ? std::max(all, 1) : bundle_.layout.q;
    SelectCandidates(view, bundle_.mdp, queue, candidates_, visible_);
    layout_ = ObservationV1::Layout(queue, view.num_types());
    observation_.resize(U(layout_.size()));
    ObservationV1::Encode(view, bundle_.mdp, candidates_, visible_, layout_, observation_);
    const int pairs = layout_.q * layout_.g;
    scores_.resize(U(pairs) + (bundle_.has_done() ? 1 : 0));
    network_->Evaluate(observation_, layout_, scores_);
    order_.clear();
    for (int action = 0; action < static_cast<int>(scores_.size()); ++action) {
      const int row = action / layout_.g;
      const bool possible = action == pairs || (row < static_cast<int>(visible_.size()) &&
                                                view.Rate(visible_[U(row)], action % layout_.g) > 0.0);
      if (!possible) continue;
      if (sample_) scores_[U(action)] += Gumbel();
      order_.push_back(action);
    }
    std::sort(order_.begin(), order_.end(), [&](int a, int b) {
      return scores_[U(a)] != scores_[U(b)] ? scores_[U(a)] > scores_[U(b)] : a < b;
    });
  }

  // Running jobs beyond the visible keep their GPUs, as in training.
  void KeepUnseen(const ClusterView& view) {
    for (int job : candidates_) {
      const bool seen = std::find(visible_.begin(), visible_.end(), job) != visible_.end();
      if (!seen && view.IsRunning(job)) plan_.Keep(view, job);
    }
  }

  float Gumbel() { return static_cast<float>(-Log(-Log(std::max(stream_.Uniform(), 1e-300)))); }

  PolicyBundle bundle_;
  std::string name_;
  bool sample_;
  std::unique_ptr<FrozenNetwork> network_;
  bool any_size_ = false;
  Stream stream_{0, Purpose::kScheduler};
  int pending_job_ = -1, pending_type_ = -1;  // semantics commit: blocks until it fits
  CommitBackfill backfill_;
  Plan plan_;
  ObservationLayout layout_;
  std::vector<int> candidates_, visible_, order_;
  std::vector<float> observation_, scores_;
};

constexpr ParamInfo kParams[] = {
    {"file", "policy.h5", "bundle written by `berth export`"},
    {"sample", "false", "true draws from the policy's distribution, false takes its best action"},
};

std::unique_ptr<Scheduler> Make(Params& params) {
  const std::string file = params.Text("file");
  const bool sample = params.Bool("sample");
  return MakePolicyScheduler(LoadBundle(file), file, sample);
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
