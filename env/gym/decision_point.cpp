#include "env/gym/decision_point.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/sim/simulator.hpp"

namespace berth {

ObservationLayout LayoutOf(const MdpSpec& mdp, const Scenario& scenario) {
  DecisionPoint point(mdp);
  if (point.grid() != nullptr) point.Begin(Simulator(scenario).View(mdp.knowledge));
  return point.Layout(mdp.visible, scenario.num_types());
}

DecisionPoint::DecisionPoint(const MdpSpec& mdp) : mdp_(mdp), encoder_(mdp) {
  if (mdp.actions == kStartAlone) return;
  if (commits()) {
    throw Error(
        Join("actions: expected '", kStartAlone, "' alone with semantics commit, found '", mdp.actions, "'"));
  }
  grid_ = std::make_unique<CommandGrid>(mdp);
}

ObservationLayout DecisionPoint::Layout(int q, int types) const {
  const ObservationLayout layout = encoder_.Layout(q, types);
  return grid_ == nullptr ? layout : grid_->Layout(layout, layout.q + grid_->RowsLaidOut());
}

void DecisionPoint::Begin(const ClusterView& view) {
  chosen_.job = -1;
  backfill_.Forget();
  encoder_.Begin(view);
  if (grid_ != nullptr) grid_->Begin(view);
}

bool DecisionPoint::PassesOver(const ClusterView& view) const {
  if ((mdp_.preemptive ? view.active() : view.waiting()).empty()) return true;
  if (grid_ != nullptr && grid_->Wakes()) return false;
  return mdp_.on_change && !view.capacity_changed() && view.arrived().empty() && view.completed().empty();
}

void DecisionPoint::Start(const ClusterView& view) {
  plan_.Begin(view, mdp_.preemptive);
  if (grid_ != nullptr) grid_->Open(view, plan_);
  if (blocked()) TryChosen(view);
}

bool DecisionPoint::Gather(const ClusterView& view) {
  const std::span<const int> source = mdp_.preemptive ? view.active() : view.waiting();
  if (candidates_.capacity() < source.size()) candidates_.reserve(2 * source.size());
  candidates_.assign(source.begin(), source.end());
  if (commits() && !plan_.placed().empty()) {
    std::erase_if(candidates_, [&](int job) { return plan_.Placed(job); });
  }
  if (mdp_.order == QueueOrder::kShortest) SortShortest(view);
  return !candidates_.empty();
}

void DecisionPoint::SortShortest(const ClusterView& view) {
  const bool sighted = mdp_.knowledge >= Knowledge::kEstimate, attains = mdp_.knowledge >= Knowledge::kBlind;
  keyed_.clear();
  for (int job : candidates_) {
    keyed_.emplace_back(sighted   ? view.RemainingSteps(job) / view.BestRate(job)
                        : attains ? view.AttainedSeconds(job)
                                  : view.Arrival(job),
                        job);
  }
  std::sort(keyed_.begin(), keyed_.end());  // ties by arrival
  for (std::size_t i = 0; i < keyed_.size(); ++i) candidates_[i] = keyed_[i].second;
}

void DecisionPoint::Observe(const ClusterView& view, int q) {
  const bool fixed_rows = q > 0;
  if (q == 0) q = std::max(static_cast<int>(candidates_.size()), 1);
  visible_.reserve(U(q));
  encoder_.Select(view, candidates_, q, visible_);
  if (mdp_.preemptive && visible_.size() < candidates_.size()) {
    auto seen = visible_.begin();  // in the candidates' order
    for (int job : candidates_) {
      if (seen != visible_.end() && *seen == job) {
        ++seen;
      } else if (view.IsRunning(job)) {
        plan_.Keep(view, job);
      }
    }
  }
  const ObservationLayout own = encoder_.Layout(q, view.num_types());
  std::vector<float>& encoded = grid_ != nullptr ? encoded_ : observation_;
  encoded.resize(U(own.size()));
  room_.clear();
  for (int type = 0; commits() && type < view.num_types(); ++type) room_.push_back(plan_.room(type));
  const std::span<const int> room = commits() ? std::span<const int>(room_) : view.free_gpus();
  encoder_.Encode({view, room, candidates_, visible_, commits() ? &plan_ : nullptr}, own, encoded);
  masked_ = false;
  layout_ = own;
  if (grid_ == nullptr) return;
  grid_->Look(view, visible_, own.q, fixed_rows);
  layout_ = grid_->Layout(own, grid_->rows());
  observation_.resize(U(layout_.size()));
  grid_->Write(view, plan_, own, encoded_, layout_, observation_);
}

void DecisionPoint::OpenMask(const ClusterView& view) {
  if (grid_ != nullptr) {
    mask_.Open(view, *grid_, plan_);
  } else {
    mask_.Open(view, visible_, layout_.q, commits() ? nullptr : &plan_);
  }
  masked_ = true;
}

void DecisionPoint::PutCommand(const ClusterView& view, int action) {
  grid_->Put(view, plan_, action / layout_.g, action % layout_.g);
  if (masked_) mask_.Update(view, *grid_, plan_, action / layout_.g, action % layout_.g);
  if (mdp_.reread) grid_->Rewrite(view, plan_, layout_, observation_);
}

void DecisionPoint::Choose(const ClusterView& view, const Placement& placement) {
  chosen_ = placement;
  TryChosen(view);
}

void DecisionPoint::TryChosen(const ClusterView& view) {
  if (!plan_.Fits(view, chosen_.job, chosen_.type)) return;
  plan_.Put(view, chosen_.job, chosen_.type);
  chosen_.job = -1;
  backfill_.Forget();  // the next one has a shadow time of its own
}

void DecisionPoint::Close(const ClusterView& view, Decision& decision) {
  if (blocked() && mdp_.commit_backfill) {
    backfill_.Fill(view, view.waiting(), chosen_.job, chosen_.type, plan_);
  }
  plan_.Emit(view, decision);
  if (grid_ != nullptr) grid_->Close(view, plan_, decision);
}

}  // namespace berth
