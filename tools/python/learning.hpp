// What Python does with policies: berth._berth.train, Policy and DecisionPoint.
#pragma once

#include <nanobind/nanobind.h>

namespace berth {

void AddLearning(nanobind::module_& module);       // all of them
void AddPolicies(nanobind::module_& module);       // policies.cpp
void AddDecisionPoint(nanobind::module_& module);  // decision_point.cpp

}  // namespace berth
