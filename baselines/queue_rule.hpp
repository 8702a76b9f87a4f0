// What the non-preemptive queue rules share: walk an ordered queue and start what fits. A rule supplies the
// order.
#pragma once

#include <vector>

#include "env/plan.hpp"
#include "env/scheduler.hpp"

namespace berth {

// Where a job goes among the types with room for its gang on which it can run.
enum class TypeChoice { kFastest, kFirst, kRoomiest };
inline constexpr ParamInfo kPlaceParam = {
    "place", "fastest",
    "type a job starts on: fastest | first (in cluster order) | roomiest (most free GPUs)"};
inline constexpr ParamInfo kOvertakeParam = {
    "overtake", "false", "true: a job that does not fit is passed over; false: it blocks those behind it"};
TypeChoice ReadTypeChoice(Params& params);

// The chosen type, or -1 when none has room. Ties go to the first type.
int ChooseType(const ClusterView& view, const Plan& plan, int job, TypeChoice choice);

// Non-preemptive. Allocates only until its arrays have grown to the longest queue.
class QueueRule : public Scheduler {
 public:
  static constexpr int kNoLimit = -1;
  QueueRule(TypeChoice place, bool overtake, int queue_limit = kNoLimit)
      : place_(place), overtake_(overtake), queue_limit_(queue_limit) {}
  void Decide(const ClusterView& view, Decision& decision) final;

 protected:
  // Sorts `queue`, which holds the waiting jobs in arrival order. The order must be total.
  virtual void Order(const ClusterView& view, std::vector<int>& queue) = 0;

 private:
  void TurnAway(const ClusterView& view, Decision& decision) const;

  TypeChoice place_;
  bool overtake_;
  int queue_limit_;  // most jobs that wait, kNoLimit = any number
  Plan plan_;
  std::vector<int> queue_;
};

// Seconds that a job is thought to need on a type from its start: what its user requested, where there is
// such a request (it holds for any type), otherwise the remaining work at the type's rate. kNever where it
// cannot run. Needs kEstimate.
double EstimatedSeconds(const ClusterView& view, int job, int type);

// When a running job is thought to free its GPUs; later than now. Under clock `rounds` GPUs are freed at
// boundaries only, so the time is rounded up to one.
double EstimatedRelease(const ClusterView& view, int job);
// The same for a job that would start on `type` at `start`.
double EstimatedRelease(const ClusterView& view, int job, int type, double start);

}  // namespace berth
