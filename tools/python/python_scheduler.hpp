// A Python object with a method decide(view, decision) as a Scheduler. What its author sees is declared in
// berth/scheduler.py; the view's arrays are in tools/python/view_columns.hpp.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "env/sim/scheduler.hpp"
#include "policies/bundle.hpp"
#include "tools/evaluation.hpp"
#include "tools/python/python_types.hpp"
#include "tools/python/view_columns.hpp"

namespace berth {

// A Python object that threads without the GIL hand around: it takes the GIL to let go of it.
using SharedObject = std::shared_ptr<nanobind::object>;
SharedObject Share(nanobind::object object);  // REQUIRES: the GIL

// What a berth.View or berth.Decision stands for. Throws nb::type_error where `object` is none, and what
// Python sees as RuntimeError once the call that it was handed to is over. REQUIRES: the GIL.
const ClusterView& ViewOf(nanobind::handle object);
Decision& DecisionOf(nanobind::handle object);

// An exception of Python's within a scheduler. `what`: one line with scheduler, simulated time, exception and
// where it was raised.
class PythonFailure : public Error {
 public:
  PythonFailure(const std::string& message, SharedObject exception)
      : Error(message), exception_(std::move(exception)) {}
  const SharedObject& exception() const { return exception_; }

 private:
  SharedObject exception_;
};

// Of one call from Python: which threads are within Python's code (`decide`, a generator of jobs) now, for
// Ctrl-C. Read and written with the GIL.
struct PythonCalls {
  std::set<unsigned long> inside;    // Python's names of threads
  std::atomic<bool> stopped{false};  // by Ctrl-C
  // A class that could not be made. Options put it into words of their own, which have no cause.
  std::optional<PythonFailure> unmade;
};

// `object` has `decide` and may have `reset` and `knowledge`. Throws Error where it has not. REQUIRES: the
// GIL. The scheduler takes the GIL by itself.
std::unique_ptr<Scheduler> MakePythonScheduler(nanobind::object object, const std::string& name,
                                               std::shared_ptr<PythonCalls> calls = nullptr);

// A new object of the class that `text`, FILE.py:CLASS, names. Throws Error. Takes the GIL.
std::unique_ptr<Scheduler> MakePythonFile(const std::string& text);

// A policy in Python's hands: what a factory may make in place of a Python object.
struct HeldPolicy {
  std::shared_ptr<const PolicyBundle> bundle;
  std::string file;
};

// Of a spec that `factories` names, the object that its factory makes, else the scheduler that the spec is.
MakeSchedulerOf MakerOf(Factories factories, const std::shared_ptr<PythonCalls>& calls);

// Does `work` on a thread of its own, without the GIL, while this one looks after Ctrl-C: then `calls` are
// stopped, and KeyboardInterrupt is thrown once `work` has ended. REQUIRES: the GIL.
void RunInterruptibly(PythonCalls& calls, const std::function<void()>& work);

// Throws what ends work whose calls are stopped.
void CheckNotStopped(const PythonCalls& calls);

// Marks this thread as within Python's code, for RunInterruptibly; `calls` may be null. Throws as
// CheckNotStopped. REQUIRES: the GIL.
class Inside {
 public:
  explicit Inside(PythonCalls* calls) : calls_(calls) {
    if (calls_ == nullptr) return;
    CheckNotStopped(*calls_);
    calls_->inside.insert(PyThread_get_thread_ident());
  }
  ~Inside() {
    if (calls_ != nullptr) calls_->inside.erase(PyThread_get_thread_ident());
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  PythonCalls* calls_;
};

// What Python is handed as a view, which is over when this goes out of scope. `visible`: jobs, by the rows of
// an observation, of views that a block is handed. REQUIRES: the GIL, and what it is made of outlives it.
class HandedView {
 public:
  HandedView(std::shared_ptr<ViewColumns> columns, const ClusterView& view,
             std::optional<std::span<const int>> visible = {});
  ~HandedView();
  HandedView(const HandedView&) = delete;
  HandedView& operator=(const HandedView&) = delete;
  const nanobind::object& object() const { return object_; }

 private:
  nanobind::object object_;
};

// berth.Error, View and Decision.
void AddSchedulerTypes(nanobind::module_& module);

// str(object), with escapes for what UTF-8 does not have (lone surrogates). REQUIRES: the GIL.
std::string TextOf(nanobind::handle object);

// "ValueError: text (mine.py:12, in decide)" of the error at hand.
std::string InWords(const nanobind::python_error& error);

// The text of what is raised, which is no longer raised then. Without nanobind, which begins with its first
// module. REQUIRES: the GIL.
std::string TakeRaised();

}  // namespace berth
