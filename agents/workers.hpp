// A fixed group of threads that run one function together: the learners' only parallelism. Each runs its tensor
// operations on its own thread alone (one intra-op thread), so no OpenMP barrier spins while a partner is descheduled
// (pytorch #80777); waiting is std::atomic::wait, which sleeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace berth {

class Workers {
 public:
  explicit Workers(int count);  // count >= 1; the caller is worker 0
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const { return static_cast<int>(errors_.size()); }
  // Runs work(0) .. work(count - 1) at once and waits for all. Rethrows the first worker's exception.
  void Run(const std::function<void(int worker)>& work);

 private:
  void Loop(int worker);

  std::vector<std::thread> threads_;
  std::vector<std::exception_ptr> errors_;
  const std::function<void(int)>* work_ = nullptr;
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<int> left_{0};
  bool stop_ = false;  // published by generation_
};

// [begin, end) of part `part` of `parts` nearly equal parts of `size` things.
struct Slice {
  std::int64_t begin, end;
};
inline Slice PartOf(std::int64_t size, int part, int parts) {
  return {size * part / parts, size * (part + 1) / parts};
}

}  // namespace berth
