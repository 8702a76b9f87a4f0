// Evaluations and single runs, as Python asks for them: the functions behind berth.evaluate and the like.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace berth {

// For CommonSemantics: `schedulers`, where factories of policies are by the semantics that they were trained
// in and other factories by nothing.
std::vector<std::string> SpecsOfSemantics(const std::vector<std::string>& schedulers,
                                          nanobind::dict factories);

void AddRuns(nanobind::module_& module);

}  // namespace berth
