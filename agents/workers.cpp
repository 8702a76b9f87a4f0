#include "agents/workers.hpp"

#include <ATen/Parallel.h>

namespace berth {

Workers::Workers(int count) : team_(count) {
  team_.Run([](int) { at::set_num_threads(1); });  // per thread with OpenMP
}

}  // namespace berth
