// One objective of the scheduler gavel(...): a source of allocations, the same where jobs may share a GPU,
// and the row that describes it. Adding one is one file that defines `ObjectiveInfo XObjective()` and one
// line in objective_list.hpp.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "baselines/gavel/combos.hpp"
#include "baselines/gavel/least_change.hpp"
#include "baselines/gavel/problem.hpp"
#include "baselines/lp.hpp"
#include "env/base/spec.hpp"

namespace berth::gavel {

// Thread rule: as Scheduler, one instance serves one simulation at a time.
class Objective {
 public:
  virtual ~Objective() = default;
  // Whether Problem::remaining and since are to be filled: the scheduler then needs Knowledge::kEstimate.
  virtual bool reads_future() const { return false; }
  // A new episode: forget everything. `seed` is the scenario's, for objectives that draw.
  virtual void Reset(std::uint64_t seed) { (void)seed; }
  virtual int largest_gang() const { return std::numeric_limits<int>::max(); }  // that it can be asked about
  // False when no solver gives an answer that passes its check: x is then untouched, and the scheduler falls
  // back as the row says. REQUIRES: at least one job; jobs keep their key between calls.
  [[nodiscard]] virtual bool Allocate(const Problem& problem, Allocation& x) = 0;
  // What any allocation must give to be as good as `x`, which the last Allocate gave to `problem`. Only of
  // objectives whose row says `ties`.
  virtual void Promised(const Problem& problem, const Allocation& x, Promise& promise) const {
    (void)problem, (void)x, (void)promise;
  }
  // Why the last Allocate returned false, for the log.
  virtual const char* failure() const { return "no answer"; }
};

// The same over combos, for packed=true.
class PackedObjective {
 public:
  virtual ~PackedObjective() = default;
  virtual bool reads_future() const { return false; }  // fills Problem::remaining and since
  virtual void Reset(std::uint64_t seed) { (void)seed; }
  // False when no solver gives an answer that passes its check; x is then untouched. REQUIRES: at least one
  // job.
  [[nodiscard]] virtual bool Allocate(const PackedProblem& problem, PackedAllocation& x) = 0;
  virtual const char* failure() const { return "no answer"; }
};

// What every objective is told; each may read parameters of its own beside.
struct ObjectiveOptions {
  bool aware = true;
  LpMethod method = LpMethod::kEmbedding;
  bool warm = false;   // generated columns that start from the last answer, where the objective has them
  bool compat = true;  // where the reference stops short of the optimum, so do we
  double lp_time_limit_s = kLpInfinity;
};

// The forms of an objective. The reference shuffles the order of types each round for policies that do not
// see throughputs (_schedule_jobs_on_workers of its scheduler.py).
enum class Awareness {
  kEither,       // aware=true and aware=false are two policies; the latter shuffles
  kAwareOnly,    // aware=false is an error
  kIndifferent,  // does not look at throughputs whatever `aware` says; shuffles
};

// What stands in for an allocation that could not be had.
enum class FallBack {
  kPrevious,  // each job's previous allocation, the isolated share for a job that had none
  kIsolated,  // the isolated split, as the reference does
};

struct ObjectiveInfo {
  const char* summary;        // one line
  const char* source;         // paper, section
  const char* aware_name;     // in the reference's command line; "" = none
  const char* agnostic_name;  // likewise, of aware=false
  Awareness awareness = Awareness::kEither;
  FallBack fall_back = FallBack::kPrevious;
  bool ties = false;                       // Promised says what is as good
  bool warm = false;                       // reads ObjectiveOptions::warm
  bool only_positive = false;              // jobs of allocation 0 stay out even if GPUs are left (FIFO)
  std::span<const ParamInfo> params = {};  // its own
  std::unique_ptr<Objective> (*make)(const ObjectiveOptions& options, Params& params) = nullptr;
  const char* packed_name = "";  // of packed=true
  std::unique_ptr<PackedObjective> (*make_packed)(const ObjectiveOptions& options, Params& params) = nullptr;
};

}  // namespace berth::gavel
