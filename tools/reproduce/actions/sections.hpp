// What `berth reproduce actions` makes beside its rows, each a name of --only and a section of the page.
#pragma once

#include "tools/reproduce/actions/action_study.hpp"
#include "tools/reproduce/page.hpp"

namespace berth {

struct ActionSection {
  const char* name;
  std::vector<ChildStep> (*trainings)(const ActionStudy& study);
  // REQUIRES: what was trained is there.
  std::vector<ChildStep> (*evaluations)(const ActionStudy& study);
  // Throws Error where a result is missing.
  void (*report)(const ActionStudy& study, ReproductionPage& page);
};

// One policy for clusters, loads and features of any combination (combinations.hpp): against each row's own
// policies, and against the best fixed combination of specialists where nothing like it was trained on.
ActionSection GeneralistSection();
// What a part of the policies gives, where it could matter: the row's own training with and without it.
ActionSection AblationsSection();

}  // namespace berth
