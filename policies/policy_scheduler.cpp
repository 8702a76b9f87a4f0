// A frozen policy as a Scheduler. Semantics `redecide`: all candidates are scored once a decision point, then
// the plan is filled in score order. The observation does not change while a plan is filled, so this is the
// policy's own sequence of micro-actions (design.md §5); with `sample` it is a draw from it, since adding
// Gumbel noise to logits and taking the best again and again samples without replacement (Vieira 2014; Kool
// et al., ICML 2019). Semantics `commit`: scored anew after every start, with the room that it leaves, as in
// training.
#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "env/gym/candidates.hpp"
#include "env/gym/commit_backfill.hpp"
#include "env/gym/encoder.hpp"
#include "env/predict/releases.hpp"
#include "env/predict/run_times.hpp"
#include "env/sim/plan.hpp"
#include "policies/architecture.hpp"
#include "policies/schedulers.hpp"

namespace berth {
namespace {

// Less is chosen later: higher scores first, of equal ones the first action.
struct Ranked {
  float score;
  int action;
  bool operator<(const Ranked& other) const {
    return score != other.score ? score < other.score : action > other.action;
  }
};

using Heap = std::vector<Ranked>;  // the best in front

class PolicyScheduler : public Scheduler {
 public:
  PolicyScheduler(PolicyBundle bundle, const std::string& name, bool sample)
      : bundle_(std::move(bundle)),
        name_(name),
        sample_(sample),
        network_(Freeze(bundle_)),
        encoder_info_(EncoderOf(bundle_.mdp.encoder)),
        encoder_(MakeEncoder(bundle_.mdp)) {
    any_size_ = FindArchitecture(ParseSpec(bundle_.network).name).any_size;
    if (bundle_.layout.q == 0) {
      throw Error(Join(name_, ": expected a policy for clusters, found one for a flat environment of ",
                       bundle_.layout.size(), " observations"));
    }
    if (bundle_.reserve != Reserve::kNone &&
        (bundle_.mdp.preemptive || bundle_.mdp.semantics != Semantics::kRedecide)) {
      throw Error(Join(name_,
                       ": reserve: expected a non-preemptive policy of semantics redecide with it, found ",
                       bundle_.mdp.ToString()));
    }
  }

  Knowledge knowledge() const override { return bundle_.mdp.knowledge; }

  void Reset(const ClusterView& view) override {
    stream_ = Stream(view.seed(), Purpose::kScheduler);
    pending_job_ = -1;
    backfill_.Forget();
    encoder_->Begin(view);
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
    const std::span<const int> candidates = candidates_.List(view, bundle_.mdp);
    Score(view, candidates, view.free_gpus(), nullptr);
    plan_.Begin(view, bundle_.mdp.preemptive);
    reserved_.assign(U(view.num_types()), {});
    if (bundle_.mdp.preemptive) KeepUnseen(view, candidates, visible_, plan_);
    const bool already = !plan_.placed().empty() || (!plan_.preemptive() && !view.running().empty());
    const int done = layout_.q * layout_.g;
    // Room only shrinks, so one walk in score order is the best legal action again and again. `done` is
    // illegal while no event would follow (passed over then, it is the best action as soon as something is
    // placed) and, in a work-conserving process, while anything fits. Few of many candidates find room, so
    // the order is worked out only as far as it is walked, and a type that is full is walked no further.
    bool wants_done = false;
    while (Heap* best = Best()) {
      if (wants_done && (already || !plan_.placed().empty())) break;
      const int action = best->front().action;
      std::pop_heap(best->begin(), best->end());
      best->pop_back();
      if (action == done) {
        wants_done = !bundle_.mdp.work_conserving;
        continue;
      }
      const int job = visible_[U(action / layout_.g)], type = action % layout_.g;
      if (plan_.Placed(job)) continue;
      if (!plan_.Fits(view, job, type)) {
        HoldBack(view, job, type, *best);
      } else if (Passes(view, job, type)) {
        plan_.Put(view, job, type);
      }
      if (plan_.room(type) == 0) best->clear();
    }
    plan_.Emit(view, decision);
  }

  // The best-scored job for which `type` has no room.
  void HoldBack(const ClusterView& view, int job, int type, Heap& others) {
    if (bundle_.reserve == Reserve::kHead) others.clear();
    Reservation& reserved = reserved_[U(type)];
    if (bundle_.reserve != Reserve::kEasy || reserved.held) return;
    releases_.Collect(view, type, plan_.room(type), &plan_);
    reserved = {true, releases_.When(view.Gang(job))};
  }

  // Would a start now leave the reservation of the type as it is? Takes the spare GPUs that it needs.
  bool Passes(const ClusterView& view, int job, int type) {
    Reservation& reserved = reserved_[U(type)];
    if (!reserved.held || EstimatedRelease(view, job, type, view.now()) <= reserved.vacancy.time) return true;
    if (view.Gang(job) > reserved.vacancy.spare) return false;
    reserved.vacancy.spare -= view.Gang(job);
    return true;
  }

  // The chosen job blocks the queue until it fits; meanwhile the published backfill may start others.
  void Commit(const ClusterView& view, Decision& decision) {
    plan_.Begin(view, /*preemptive=*/false);
    if (pending_job_ >= 0) Start(view);
    while (pending_job_ < 0) {
      const std::span<const int> waiting = candidates_.List(view, bundle_.mdp, &plan_);
      if (waiting.empty()) break;
      room_.clear();
      for (int type = 0; type < view.num_types(); ++type) room_.push_back(plan_.room(type));
      Score(view, waiting, room_, &plan_);
      const int action = Best()->front().action;
      pending_job_ = visible_[U(action / layout_.g)], pending_type_ = action % layout_.g;
      Start(view);
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

  // Fills visible_, layout_ and ranked_ with the actions that any plan could take, done included.
  void Score(const ClusterView& view, std::span<const int> candidates, std::span<const int> room,
             const Plan* started) {
    const int queue = any_size_ ? std::max(static_cast<int>(candidates.size()), 1) : bundle_.layout.q;
    encoder_->Select(view, candidates, queue, visible_);
    layout_ = encoder_info_.Layout(queue, view.num_types());
    observation_.resize(U(layout_.size()));
    encoder_->Encode({view, room, candidates, visible_, started}, layout_, observation_);
    const int pairs = layout_.q * layout_.g;
    scores_.resize(U(pairs) + (bundle_.has_done() ? 1 : 0));
    network_->Evaluate(observation_, layout_, scores_);
    ranked_.resize(U(layout_.g) + 1);
    for (Heap& heap : ranked_) heap.clear();
    int action = 0;
    const auto rank = [&](std::size_t heap) {
      ranked_[heap].push_back({sample_ ? scores_[U(action)] + Gumbel() : scores_[U(action)], action});
    };
    for (int job : visible_) {
      const std::span<const double> rates = view.Rates(job);
      for (std::size_t type = 0; type < rates.size(); ++type, ++action) {
        if (rates[type] > 0.0) rank(type);
      }
    }
    action = pairs;
    if (bundle_.has_done()) rank(U(layout_.g));
    for (Heap& heap : ranked_) std::make_heap(heap.begin(), heap.end());
  }

  // The heap with the best action left; null when none is.
  Heap* Best() {
    Heap* best = nullptr;
    for (Heap& heap : ranked_) {
      if (!heap.empty() && (best == nullptr || best->front() < heap.front())) best = &heap;
    }
    return best;
  }

  float Gumbel() { return static_cast<float>(-Log(-Log(std::max(stream_.Uniform(), 1e-300)))); }

  PolicyBundle bundle_;
  std::string name_;
  bool sample_;
  struct Reservation {
    bool held = false;
    Vacancy vacancy{};
  };
  std::unique_ptr<FrozenNetwork> network_;
  bool any_size_ = false;
  Stream stream_{0, Purpose::kScheduler};
  int pending_job_ = -1, pending_type_ = -1;  // semantics commit: blocks until it fits
  CommitBackfill backfill_;
  Plan plan_;
  Releases releases_;
  std::vector<Reservation> reserved_;  // [G]
  ObservationLayout layout_;
  const EncoderInfo encoder_info_;
  std::unique_ptr<Encoder> encoder_;
  Candidates candidates_;
  std::vector<int> visible_, room_;
  std::vector<Heap> ranked_;  // [G + 1] actions of each type, and done
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
