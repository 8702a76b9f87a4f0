#include "agents/workers.hpp"

#include <ATen/Parallel.h>

namespace berth {

Workers::Workers(int count) : team_(count), errors_(static_cast<std::size_t>(count)) {
  team_.Run([](int) { at::set_num_threads(1); });  // per thread with OpenMP
}

void Workers::Run(const std::function<void(int)>& work) {
  team_.Run([&](int worker) {
    try {
      work(worker);
    } catch (...) {
      errors_[static_cast<std::size_t>(worker)] = std::current_exception();
    }
  });
  std::exception_ptr first;
  for (std::exception_ptr& error : errors_) {
    if (error && !first) first = error;
    error = nullptr;
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace berth
