#include "tools/reproduce/child_runs.hpp"

#include <chrono>
#include <thread>

#include "env/base/check.hpp"
#include "tools/interrupt.hpp"
#include "tools/progress.hpp"

namespace berth {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{20};

struct Running {
  const ChildOrder* order;
  std::unique_ptr<ChildRun> run;
};

}  // namespace

ChildrenEnd RunAtOnce(const std::string& label, const std::string& what,
                      const std::vector<ChildOrder>& orders, int at_once) {
  ChildrenEnd end;
  const std::atomic<bool>& interrupted = WatchInterrupts();
  std::vector<Running> running;
  std::size_t next = 0, ended = 0;
  bool told = false;
  double total = 0.0, done = 0.0;
  for (const ChildOrder& order : orders) total += order.seconds;
  Progress progress(label);
  while (!running.empty() || (next < orders.size() && !interrupted)) {
    while (!interrupted && next < orders.size() && running.size() < static_cast<std::size_t>(at_once)) {
      running.push_back({&orders[next], orders[next].begin()});
      ++next;
    }
    if (interrupted && !told) {
      for (const Running& it : running) it.run->Interrupt();
      told = true;
    }
    std::this_thread::sleep_for(kBetweenLooks);
    std::erase_if(running, [&](const Running& it) {
      const ChildRun::State state = it.run->Look();
      if (state == ChildRun::State::kRuns) return false;
      if (state == ChildRun::State::kFailed && !interrupted) end.failed[it.order->name] = it.run->Said();
      done += it.order->seconds;
      ++ended;
      return true;
    });
    const std::string now = running.empty() ? "" : ", " + running.front().order->name;
    progress.Update(done / total, Join(ended, " of ", orders.size(), what, now));
  }
  end.interrupted = interrupted;
  return end;
}

}  // namespace berth
