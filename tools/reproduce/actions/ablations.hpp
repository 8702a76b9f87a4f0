// What a part of the policies gives, where it could matter: the row's own training with and without it.
#pragma once

#include "tools/reproduce/actions/action_study.hpp"
#include "tools/reproduce/page.hpp"

namespace berth {

inline constexpr const char* kAblations = "ablations";  // of --only

std::vector<ChildStep> AblationTrainings(const ActionStudy& study);
// REQUIRES: what was trained is there.
std::vector<ChildStep> AblationEvaluations(const ActionStudy& study);
// A section of the page. Throws Error where a result is missing.
void ReportAblations(const ActionStudy& study, ReproductionPage& page);

}  // namespace berth
