// Blocks of an observation that are written in Python (berth.Block), behind those of Berth.
#pragma once

#include <nanobind/nanobind.h>

#include "tools/python/extended_environment.hpp"

namespace berth {

// `blocks` is berth.block.Blocks: lay_out(q, g) gives the bounds of every float, low and high; make() the
// blocks of one environment, each (name, begin, fill, out). What they raise, and what is not finite, ends the
// step as berth.Error that names the block. REQUIRES: the GIL; what is put into `extras` takes it by itself.
void AddPythonBlocks(nanobind::object blocks, EnvironmentExtras& extras);

}  // namespace berth
