// Evaluations and single runs, as Python asks for them: the functions behind berth.evaluate and the like.
#pragma once

#include <nanobind/nanobind.h>

namespace berth {

void AddRuns(nanobind::module_& module);

}  // namespace berth
