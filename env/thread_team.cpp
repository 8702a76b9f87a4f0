#include "env/thread_team.hpp"

#include "env/check.hpp"

namespace berth {

ThreadTeam::ThreadTeam(int size) {
  BERTH_CHECK(size >= 1, "a team of ", size);
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
  work(0);
  for (int left = pending_; left != 0; left = pending_) pending_.wait(left);
}

void ThreadTeam::Loop(int worker) {
  for (std::uint32_t seen = 0;;) {
    epoch_.wait(seen);
    if (stop_) return;
    seen = epoch_;
    (*work_)(worker);
    if (--pending_ == 0) pending_.notify_one();
  }
}

}  // namespace berth
