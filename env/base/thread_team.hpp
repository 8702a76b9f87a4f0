// A fixed team of threads for short parallel sections. A section is a number of parts that whoever is awake
// takes one after the other: a thread that a busy neighbour keeps off its core holds up at most the part it
// is in, never a part it has not begun. Idle threads sleep on a futex after a brief spin.
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
  // `size` >= 1 threads; the caller of Run is one of them, so a team of one starts none. `begin` runs first
  // on every thread, the caller's included; it must not throw.
  // Throws Error when the machine does not give that many threads.
  explicit ThreadTeam(int size, const std::function<void()>& begin = {});
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }
  // Calls work(0) .. work(parts - 1), each once, on any of the threads, and returns when all are done. Which
  // thread takes which part is left to chance: results must not depend on it. Rethrows the exception of the
  // lowest part that threw. One caller at a time.
  void Run(int parts, const std::function<void(int part)>& work);

 private:
  void Loop();
  void Stop();
  void TakeParts(std::uint32_t section);

  // The section's number in the upper half, how many of its parts nobody has taken in the lower: one word, so
  // that a thread that wakes late can take nothing of a section that is over.
  std::atomic<std::uint64_t> untaken_{0};
  std::atomic<std::uint32_t> section_{0};  // as in untaken_; what idle threads sleep on
  std::atomic<int> unfinished_{0};         // parts of the section
  std::atomic<bool> stop_{false};
  // Of the section; written before it is announced, read only by who has taken a part of it.
  const std::function<void(int)>* work_ = nullptr;
  std::vector<std::exception_ptr> errors_;  // [parts]
  std::vector<std::thread> threads_;
};

}  // namespace berth
