// Sweeps and sizes for Python, by the functions of the verbs.
#pragma once

#include <nanobind/nanobind.h>

namespace berth {

void AddStudies(nanobind::module_& module);

}  // namespace berth
