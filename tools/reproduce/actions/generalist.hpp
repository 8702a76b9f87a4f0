// One policy for clusters, loads and features of any combination (combinations.hpp): against each row's own
// policies, and against the best fixed combination of specialists where nothing like it was trained on.
#pragma once

#include "tools/reproduce/actions/action_study.hpp"
#include "tools/reproduce/page.hpp"

namespace berth {

inline constexpr const char* kGeneralist = "generalist";  // of --only

std::vector<ChildStep> GeneralistTrainings(const ActionStudy& study);
// REQUIRES: what was trained is there.
std::vector<ChildStep> GeneralistEvaluations(const ActionStudy& study);
// A section of the page. Throws Error where a result is missing.
void ReportGeneralist(const ActionStudy& study, ReproductionPage& page);

}  // namespace berth
