// The ablations' part by gradient: the recipe without each part of the signal and of what stands against
// variance and bias, all else its defaults.
#pragma once

#include "tools/reproduce/learned/experiments.hpp"

namespace berth {

void PlanGradientAblations(const LearnedSettings& settings, ReproductionRuns& runs);
void ReportGradientAblations(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out);

}  // namespace berth
