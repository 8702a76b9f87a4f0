// A fixed team of workers for short parallel sections. Workers sleep on a futex after a brief spin, so a busy
// neighbour costs no more than its share of the cores (learners.md §0b).
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace berth {

class ThreadTeam {
 public:
  // `size` >= 1 workers; the caller of Run is worker 0, so a team of one starts no thread.
  explicit ThreadTeam(int size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }
  // Calls work(worker) on every worker and returns when all are done. Rethrows the exception of the lowest
  // worker that threw.
  void Run(const std::function<void(int worker)>& work);

 private:
  void Loop(int worker);
  void Call(int worker);  // work_, its exception kept
  const std::function<void(int)>* work_ = nullptr;
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<int> pending_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::exception_ptr> errors_;  // [size]
  std::vector<std::thread> threads_;
};

}  // namespace berth
