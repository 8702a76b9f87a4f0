// Where the ranks of a training meet, and how they tell who is missing: a key-value store (c10d::TCPStore)
// that rank 0, or torchrun, keeps at the world's address. Every rank writes there about once a second how far
// it is; a rank whose collective call fails reads who stands still and who is behind. A call itself costs no
// message. Internal to process_group.cpp.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "agents/ranks/process_group.hpp"

namespace berth {

class Meeting {
 public:
  // Connects, shows this rank's settings and reads everyone's. Throws as JoinProcessGroup.
  Meeting(const World& world, double timeout_s, const SharedSettings& settings);
  ~Meeting();

  c10::intrusive_ptr<c10d::Store> store() const { return store_; }
  // Of keys in it: the store of torchrun outlives its restarts.
  const std::string& prefix() const { return prefix_; }
  // Before every collective call; any number of them a second.
  void Begin() { watch_->operation.fetch_add(1, std::memory_order_relaxed); }

  // ProcessGroup::AwaitFirst, by a key of rank 0's: a call over the connections ends with the time-out.
  // Throws Error where rank 0 ended, or gives no sign of life.
  void AwaitFirst();

  // After a call has failed with `what`: who is missing, in a line. Takes a few seconds.
  std::string WhoIsMissing(const std::string& what);
  // Whoever keeps the store must not end before the others have read it: it waits a while for those that
  // live to leave likewise. `state`: "done" or "told" (that something is wrong).
  void Leave(const char* state);
  // The others will say that this rank ended because of `why`.
  void Abandon(const std::string& why) noexcept;

 private:
  // Shared with threads that may be stuck in a store that no longer answers: they are left behind.
  struct Watch {
    std::atomic<std::int64_t> operation{0};
    std::mutex mutex;
    std::condition_variable changed;
    bool stop = false;
  };
  struct Pulse {
    std::int64_t beat = -1, operation = -1;
  };
  void Connect();
  void Compare(const SharedSettings& settings);
  void StartPulse();
  std::string Key(const std::string& name) const { return prefix_ + name; }
  std::string Key(const std::string& name, int rank) const {
    return prefix_ + name + "/" + std::to_string(rank);
  }
  // Runs `ask` on a thread of its own; false where it has no answer after `seconds`, or fails.
  template <class F>
  bool InTime(double seconds, F ask) const;
  bool keeps_store() const { return world_.rank == 0 && !world_.agent_store; }

  World world_;
  double timeout_s_, period_s_;
  std::string prefix_, place_;
  c10::intrusive_ptr<c10d::Store> store_;
  std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();
  bool answers_ = true;
  int awaited_ = 0;  // calls of AwaitFirst
};

}  // namespace berth
