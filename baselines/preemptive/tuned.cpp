// The tuned rule: a linear score of (job, type) features, lowest first, whose weights are for `berth tune` to
// find, by an evolution strategy on training workloads. It is what a learned policy must beat to have learned
// more than ten numbers say. With weights size=1, slow=1 and nothing else it is `srpt`, but that srpt counts
// what a change costs.
#include <algorithm>
#include <cmath>

#include "baselines/preemptive/pair_features.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/sim/plan.hpp"

namespace berth {
namespace {

using tuned::kNumFeatures;
using tuned::PairValues;

// In the order of tuned::Feature.
constexpr const char* kHelp[kNumFeatures] = {
    "weight of ln(hours of work left on the fastest type)",
    "weight of ln(gang size)",
    "weight of ln(fastest rate / rate here)",
    "weight of ln(mean rate over types / rate here): comparative advantage, negated",
    "weight of slow, added for jobs of one GPU",
    "weight of contrast, added for jobs of one GPU",
    "weight of slow x ln(GPUs asked for / GPUs), added",
    "weight of contrast x ln(GPUs asked for / GPUs), added",
    "weight of ln(1 + hours since arrival)",
    "weight of 1 where the job runs already",
};

// Found by `berth tune --generations 60 --seed 1` on row 1's training mix of 24 GPUs (the workload, window
// and jobs of recipes_cluster.cpp in tools/reproduce/learned): 0.936 of srpt's mean JCT [0.902, 0.971] on 30
// workloads that no generation drew.
constexpr ParamInfo kRemaining[] = {
    {"size", "2.288", kHelp[0]},         {"gang", "-0.06456", kHelp[1]},
    {"slow", "1.131", kHelp[2]},         {"contrast", "1.25", kHelp[3]},
    {"slow_single", "-1.572", kHelp[4]}, {"contrast_single", "2.648", kHelp[5]},
    {"slow_load", "-0.2904", kHelp[6]},  {"contrast_load", "0.3738", kHelp[7]},
    {"age", "-1.433", kHelp[8]},         {"stay", "-0.5338", kHelp[9]},
};
// Likewise, knowledge blind, over las: 0.751 of it [0.702, 0.812].
constexpr ParamInfo kAttained[] = {
    {"size", "2.539", "weight of ln(hours attained on the fastest type + 1 min)"},
    {"gang", "0.805", kHelp[1]},
    {"slow", "-1.086", kHelp[2]},
    {"contrast", "3.464", kHelp[3]},
    {"slow_single", "1.141", kHelp[4]},
    {"contrast_single", "0.09783", kHelp[5]},
    {"slow_load", "1.084", kHelp[6]},
    {"contrast_load", "0.2986", kHelp[7]},
    {"age", "-2.815", kHelp[8]},
    {"stay", "-0.2078", kHelp[9]},
    kSliceParam,
};

// Scores count in multiples of this: logarithms of equal products differ by their rounding.
constexpr double kTie = 0x1p-40;

struct Choice {
  double score;  // whole
  bool moves;    // the job does not run on this type already
  int job, type;
};

// Ties: stay where you are, then arrival order, then cluster order; as srpt.
bool Before(const Choice& a, const Choice& b) {
  if (a.score != b.score) return a.score < b.score;
  if (a.moves != b.moves) return b.moves;
  return a.job != b.job ? a.job < b.job : a.type < b.type;
}

class Tuned final : public Scheduler {
 public:
  Tuned(const PairValues& weights, bool blind, double slice)
      : weights_(weights), blind_(blind), slice_(slice), features_(blind) {}
  Knowledge knowledge() const override { return blind_ ? Knowledge::kBlind : Knowledge::kEstimate; }
  void Reset(const ClusterView&) override { features_.Forget(); }

  void Decide(const ClusterView& view, Decision& decision) override {
    features_.Begin(view);
    choices_.clear();
    for (int job : view.active()) {
      features_.BeginJob(view, job);
      for (int type = 0; type < view.num_types(); ++type) {
        if (view.Rate(job, type) <= 0.0) continue;
        choices_.push_back({Score(features_.Pair(view, type)), view.TypeOf(job) != type, job, type});
      }
    }
    std::sort(choices_.begin(), choices_.end(), Before);
    plan_.Begin(view, /*preemptive=*/true);
    KeepOnLeaving(view, plan_);
    for (const Choice& choice : choices_) {
      if (plan_.total_room() == 0) break;
      if (FitsOrStays(view, plan_, choice.job, choice.type)) PutOrStay(view, plan_, choice.job, choice.type);
    }
    plan_.Emit(view, decision);
    LeavingMoves moves(view, plan_, decision);
    for (const Choice& choice : choices_) moves.Offer(choice.job, choice.type);
    const bool all_run = plan_.placed().size() == view.active().size();
    if (slice_ > 0.0 && !all_run) decision.wake_at = std::min(decision.wake_at, view.now() + slice_);
  }

 private:
  double Score(const PairValues& features) const {
    double score = 0.0;
    for (std::size_t i = 0; i < kNumFeatures; ++i) score += weights_[i] * features[i];
    return std::nearbyint(score / kTie);
  }

  PairValues weights_;
  bool blind_;
  double slice_;
  tuned::PairFeatures features_;
  Plan plan_;
  std::vector<Choice> choices_;
};

PairValues Weights(Params& params) {
  PairValues weights;
  for (std::size_t i = 0; i < kNumFeatures; ++i) weights[i] = params.Number(kRemaining[i].name, -1e6, 1e6);
  return weights;
}

}  // namespace

SchedulerInfo TunedInfo() {
  return {"tuned",
          "preemptive, lowest linear score of (job, type) features, weights tuned on mixed GPUs; O(n types "
          "log n)",
          "Berth; searched by CMA-ES, Hansen 2016, arXiv:1604.00772",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          kRemaining,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Tuned>(Weights(params), /*blind=*/false, /*slice=*/0.0);
          },
          /*claims=*/{.types = true, .jobs = true}};
}

SchedulerInfo TunedBlindInfo() {
  return {
      "tuned_blind",
      "the tuned rule over attained service instead of work left, its weights tuned likewise; O(n types log "
      "n)",
      "Berth; searched by CMA-ES, Hansen 2016, arXiv:1604.00772",
      "",
      Knowledge::kBlind,
      /*preemptive=*/true,
      kAttained,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        const PairValues weights = Weights(params);
        return std::make_unique<Tuned>(weights, /*blind=*/true, ReadSlice(params));
      },
      /*claims=*/{.types = true}};
}

}  // namespace berth
