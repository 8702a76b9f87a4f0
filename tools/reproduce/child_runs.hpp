// Child processes, several at once, until all have ended or the user interrupts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace berth {

// One on its way to what it makes.
class ChildRun {
 public:
  virtual ~ChildRun() = default;
  enum class State { kRuns, kDone, kInterrupted, kFailed };
  virtual State Look() = 0;  // does not wait; call while it runs
  virtual void Interrupt() const = 0;
  virtual std::string Said() const = 0;  // its last line
};

struct ChildOrder {
  std::string name;
  double seconds;  // about, of one core
  std::function<std::unique_ptr<ChildRun>()> begin;
};

struct ChildrenEnd {
  bool interrupted = false;                   // those that ran were told to end, and have
  std::map<std::string, std::string> failed;  // by name, the last that it said
};

// Begins them in this order, `at_once` beside each other. `label` stands before the progress bar, `what`
// behind its numbers: " trainings".
ChildrenEnd RunAtOnce(const std::string& label, const std::string& what,
                      const std::vector<ChildOrder>& orders, int at_once);

}  // namespace berth
