// The kinds of commands of a cluster as it always is: a line each. Those of features stand in their folders
// (FeatureModule::actions). Their order is that of columns and channels.
#pragma once

#include "env/sim/action_kind.hpp"

// X(function): `ActionInfo function()` stands in env/gym/actions.
#define BERTH_GYM_ACTIONS(X) \
  X(PackAction)              \
  X(RejectAction)            \
  X(WaitAction)

namespace berth {

#define BERTH_DECLARE(function) ActionInfo function();
BERTH_GYM_ACTIONS(BERTH_DECLARE)
#undef BERTH_DECLARE

}  // namespace berth
