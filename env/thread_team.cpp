#include "env/thread_team.hpp"

#include <utility>

#include "env/check.hpp"

namespace berth {

ThreadTeam::ThreadTeam(int size) {
  BERTH_CHECK(size >= 1, "a team of ", size);
  errors_.resize(static_cast<std::size_t>(size));
  for (int worker = 1; worker < size; ++worker) threads_.emplace_back([this, worker] { Loop(worker); });
}

ThreadTeam::~ThreadTeam() {
  stop_ = true;
  ++epoch_;
  epoch_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::Run(const std::function<void(int)>& work) {
  work_ = &work;
  pending_ = static_cast<int>(threads_.size());
  ++epoch_;
  epoch_.notify_all();
  Call(0);
  for (int left = pending_; left != 0; left = pending_) pending_.wait(left);
  for (std::exception_ptr& error : errors_) {
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }
}

void ThreadTeam::Call(int worker) {
  auto& error = errors_[static_cast<std::size_t>(worker)];
  error = nullptr;
  try {
    (*work_)(worker);
  } catch (...) {
    error = std::current_exception();
  }
}

void ThreadTeam::Loop(int worker) {
  for (std::uint32_t seen = 0;;) {
    epoch_.wait(seen);
    if (stop_) return;
    seen = epoch_;
    Call(worker);
    if (--pending_ == 0) pending_.notify_one();
  }
}

}  // namespace berth
