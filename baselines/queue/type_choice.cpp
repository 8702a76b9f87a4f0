#include "baselines/queue/type_choice.hpp"

namespace berth {

TypeChoice ReadTypeChoice(Params& params, const char* param) {
  return static_cast<TypeChoice>(params.Choice(param, {"fastest", "first", "roomiest", "best_fit"}));
}

bool BetterType(const ClusterView& view, const Plan& plan, int job, int type, int than, TypeChoice choice) {
  switch (choice) {
    case TypeChoice::kFastest:
      return view.Rate(job, type) > view.Rate(job, than);
    case TypeChoice::kRoomiest:
      return plan.room(type) > plan.room(than);
    case TypeChoice::kBestFit:
      return plan.room(type) < plan.room(than);
    case TypeChoice::kFirst:
      return false;
  }
  return false;
}

int ChooseType(const ClusterView& view, const Plan& plan, int job, TypeChoice choice) {
  int best = -1;
  for (int type = 0; type < view.num_types(); ++type) {
    if (!plan.Fits(view, job, type)) continue;
    if (best < 0 || BetterType(view, plan, job, type, best, choice)) best = type;
  }
  return best;
}

}  // namespace berth
