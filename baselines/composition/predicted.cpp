// Any rule on predicted remaining time: the whole size of each job is predicted from the jobs that have
// completed, by any row of env/predict/prediction/size_predictor.hpp. Blind: the inner scheduler is told
// these in place of remaining work.
#include <algorithm>

#include "baselines/composition/inner.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/predict/prediction/size_predictor.hpp"

namespace berth {
namespace {

constexpr ParamInfo kPredictedParams[] = {
    {"inner", "srpt", "the scheduler that is told predictions"},
    {"predictor", "residual", "of sizes: residual | recent(statistic,window,least,q) | request(adjust,...)"},
};

std::unique_ptr<SizePredictor> PredictorOf(const std::string& spec) {
  try {
    return MakeSizePredictor(spec);
  } catch (const Error& error) {
    throw Error(Join("predicted: parameter 'predictor': ", error.what()));
  }
}

class Predicted final : public Scheduler {
 public:
  Predicted(Inner inner, std::unique_ptr<SizePredictor> predictor)
      : inner_(std::move(inner)), predictor_(std::move(predictor)) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }
  bool resizes() const override { return inner_.resizes(); }

  void Reset(const ClusterView& view) override {
    predictor_->Forget();
    inner_.predicted().assign(U(std::max(1, view.num_jobs())), 1.0);  // never empty: empty is the truth
    inner_.Reset(view);
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    for (int job : view.completed()) predictor_->Add(KindOf(view, job), view.AttainedSteps(job));
    for (int job : view.active()) inner_.predicted()[U(job)] = Predict(view, job);
    inner_.DecideAll(view, decision);
  }

 private:
  double Predict(const ClusterView& view, int job) const {
    const double size = predictor_->Predict(KindOf(view, job), view.AttainedSteps(job));
    return size > 0.0 ? size : view.BestRate(job);  // new, and nothing is known: a second
  }

  Inner inner_;
  std::unique_ptr<SizePredictor> predictor_;
};

}  // namespace

SchedulerInfo PredictedInfo() {
  return {
      "predicted",
      "any scheduler on remaining time predicted from completed jobs of the same kind; O(n sizes) + inner's",
      "history-based prediction: Gibbons, JSSPP 1997; E[S | S > a]: Harchol-Balter & Downey 1997",
      "",
      Knowledge::kBlind,
      /*preemptive=*/true,
      kPredictedParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        Inner inner("predicted: parameter 'inner'", params.Text("inner"));
        return std::make_unique<Predicted>(std::move(inner), PredictorOf(params.Text("predictor")));
      },
      /*claims=*/{.types = true, .times = false}};
}

}  // namespace berth
