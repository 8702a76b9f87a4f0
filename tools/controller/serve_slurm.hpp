// The part of the verb `serve` that is about Slurm (tools/serve_slurm.cpp).
#pragma once

#include "tools/options.hpp"

namespace berth {

void DeclareSlurm(Options& options);
int ServeSlurm(Options& options);  // the exit code

}  // namespace berth
