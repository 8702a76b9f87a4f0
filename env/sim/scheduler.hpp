// The seam: a Scheduler sees a ClusterView and fills a Decision. FCFS, an LP, a learned policy and the user's
// own are the same thing to the simulator.
//
//   class Mine : public Scheduler {
//     Knowledge knowledge() const override { return Knowledge::kNone; }
//     void Decide(const ClusterView& view, Decision& decision) override {
//       for (int job : view.waiting()) ... decision.Start(job, type);
//     }
//   };
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/spec.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/decision.hpp"

namespace berth {

// Thread rule: one instance serves one simulation at a time; two instances never share mutable state.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // What the scheduler uses of a job's future. Using more is an error at the view.
  virtual Knowledge knowledge() const = 0;
  // Of one that reads estimates: does it go by the times that users requested, and read the work that is left
  // only of jobs without a request?
  virtual bool goes_by_requests() const { return false; }
  // May it give a job another number of GPUs than its gang? Who has others inside says it of those: a part of
  // a cluster that is too small for a gang is then no reason to hide it (baselines/composition/shares.hpp).
  virtual bool resizes() const { return false; }
  // A new episode begins on this scenario's cluster: forget everything. Called before the first Decide.
  virtual void Reset(const ClusterView& view) { (void)view; }
  // Fills `decision` (cleared by the caller). The view is valid only during the call.
  virtual void Decide(const ClusterView& view, Decision& decision) = 0;
};

// What the scheduler comes to know: an estimate is the truth in an oracle scenario, but to one that goes by
// requests where every job has one. Tables group rows by this.
Knowledge UsedKnowledge(const Scheduler& scheduler, const ScenarioData& scenario);

// Symmetries that a scheduler claims to have, with default parameters and under clock event, where no two
// choices tie by chance; tests/claims_test.cpp checks every one that is claimed.
struct Claims {
  bool types = false;  // the order in which the cluster lists its GPU types changes nothing
  bool jobs = false;   // neither does the order of jobs that arrive at the same instant
  bool times = false;  // with all times k times as long, every job takes k times as long
};

// One row of a scheduler table, defined in the scheduler's own file; facts here are what the conformance
// suite checks and what `berth list schedulers` prints.
struct SchedulerInfo {
  const char* name;            // spec name
  const char* summary;         // one line
  const char* source;          // paper or system, with equation or section
  const char* reference_name;  // name in the reference (Gavel) CLI, or ""
  Knowledge knowledge;         // with default parameters
  bool preemptive;             // may stop or move running jobs
  std::span<const ParamInfo> params;
  std::unique_ptr<Scheduler> (*make)(Params& params);
  Claims claims = {};  // none unless said
};

using SchedulerTable = std::span<const SchedulerInfo>;

// Makes a scheduler from its spec string. Throws Error for unknown names or parameters (with the nearest
// name).
std::unique_ptr<Scheduler> MakeScheduler(std::string_view spec, std::span<const SchedulerTable> tables);
// For a row's `make`: the tables that the scheduler is being made from, which has those inside it made from
// the same. REQUIRES: a MakeScheduler is under way on this thread.
std::vector<SchedulerTable> TablesInUse();

}  // namespace berth
