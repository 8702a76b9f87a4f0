#include "agents/workers.hpp"

#include <ATen/Parallel.h>

#include "env/check.hpp"

namespace berth {

Workers::Workers(int count) : errors_(static_cast<std::size_t>(count)) {
  BERTH_CHECK(count >= 1, count);
  at::set_num_threads(1);
  for (int w = 1; w < count; ++w) threads_.emplace_back([this, w] { Loop(w); });
}

Workers::~Workers() {
  stop_ = true;
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::Run(const std::function<void(int)>& work) {
  work_ = &work;
  left_.store(count() - 1, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  try {
    work(0);
  } catch (...) {
    errors_[0] = std::current_exception();
  }
  for (int left = left_.load(std::memory_order_acquire); left > 0; left = left_.load(std::memory_order_acquire)) {
    left_.wait(left, std::memory_order_acquire);
  }
  std::exception_ptr first;
  for (std::exception_ptr& error : errors_) {
    if (error && !first) first = error;
    error = nullptr;
  }
  if (first) std::rethrow_exception(first);
}

void Workers::Loop(int worker) {
  at::set_num_threads(1);  // per thread with OpenMP
  for (std::uint32_t seen = 0;;) {
    generation_.wait(seen, std::memory_order_acquire);
    seen = generation_.load(std::memory_order_acquire);
    if (stop_) return;
    try {
      (*work_)(worker);
    } catch (...) {
      errors_[static_cast<std::size_t>(worker)] = std::current_exception();
    }
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_one();
  }
}

}  // namespace berth
