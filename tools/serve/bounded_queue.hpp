// Connections that wait for a thread: so many and no more.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace berth {

class BoundedQueue : public httplib::TaskQueue {
 public:
  // At most `most_waiting` wait beside those that the threads have.
  BoundedQueue(int threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  }

  // Where there is no room, on the thread that accepts, with refusing().
  void enqueue(std::function<void()> connection) override {
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() < most_waiting_) {
        waiting_.push_back(std::move(connection));
        ready_.notify_one();
        return;
      }
    }
    Refusing() = true;
    connection();
    Refusing() = false;
  }
  static bool refusing() { return Refusing(); }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    ready_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  static bool& Refusing() {
    static thread_local bool refusing = false;
    return refusing;
  }
  void Work() {
    for (;;) {
      std::function<void()> connection;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        connection = std::move(waiting_.front());
        waiting_.pop_front();
      }
      connection();
    }
  }

  std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::list<std::function<void()>> waiting_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace berth
