// How what Python hands in and gets is typed in the stub, _berth.pyi.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace berth {

using Record = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;  // keys and figures of JSON
using Records = nanobind::typed<nanobind::list, Record>;
// Of names of schedulers what makes the object for a run.
using Factories =
    nanobind::typed<nanobind::dict, nanobind::str, nanobind::typed<nanobind::callable, nanobind::object()>>;
// An array that is one of Python's already.
template <class T, int N = 1>
using ArrayObject =
    nanobind::typed<nanobind::object, nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<N>>>;

}  // namespace berth
