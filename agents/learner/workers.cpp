#include "agents/learner/workers.hpp"

#include <ATen/Parallel.h>

namespace berth {

// per thread with OpenMP
Workers::Workers(int count) : team_(count, [] { at::set_num_threads(1); }) {}

}  // namespace berth
