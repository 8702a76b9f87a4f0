#include "baselines/queue/type_choice.hpp"

namespace berth {

TypeChoice ReadTypeChoice(Params& params) {
  return static_cast<TypeChoice>(params.Choice(kPlaceParam.name, {"fastest", "first", "roomiest"}));
}

int ChooseType(const ClusterView& view, const Plan& plan, int job, TypeChoice choice) {
  if (choice == TypeChoice::kFastest) return FastestFit(view, plan, job);
  int best = -1;
  for (int type = 0; type < view.num_types(); ++type) {
    if (!plan.Fits(view, job, type)) continue;
    if (choice == TypeChoice::kFirst) return type;
    if (best < 0 || plan.room(type) > plan.room(best)) best = type;
  }
  return best;
}

}  // namespace berth
