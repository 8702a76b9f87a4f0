// Which parts of which GPUs a plan (env/sim/plan.hpp) gives to jobs, kept while it grows, so that what was
// chosen is visible to the next choice. The plan itself counts whole GPUs: here is made good what it counts
// too much, and at the end the devices are named.
//
// A GPU that the plan opens is any idle one of its type: which one is settled in Name, when it is known who
// stays where. Until then it goes by the number of one that nothing of the plan is on. Who holds a part and
// runs on stays on its GPU; whom there is no room for beside it goes to another.
//
// Thread rule: one thread at a time. Allocates in Begin, and where a list outgrows all before it.
#pragma once

#include <cstddef>
#include <vector>

#include "env/sim/cluster_view.hpp"
#include "env/sim/decision.hpp"
#include "env/sim/plan.hpp"

namespace berth {

inline constexpr int kWholeMilli = 1000;  // thousandths of a GPU

class SharePlan {
 public:
  void Begin(const ClusterView& view, const Plan& plan);  // a plan begins
  // Takes in who holds a part and was put into the plan otherwise.
  void Follow(const ClusterView& view, const Plan& plan);

  // The GPUs that the plan may still open; after Follow.
  int Room(const Plan& plan, int type) const { return plan.room(type) + spare_[Index(type)]; }
  // Something of the plan, or who runs on, is on the device.
  bool IsOpen(int device) const { return open_[Index(device)] != 0; }
  int FreeMilli(int device) const { return free_[Index(device)]; }  // thousandths; of what is not open 1000
  // The job's part fits beside what is on the open device.
  bool Holds(const ClusterView& view, int job, int device) const;
  // Where it would stay without moving, if it runs on the type and may; -1 = nowhere.
  int Stay(const ClusterView& view, const Plan& plan, int job, int type) const;
  // One to be opened; -1 = none. In service, and idle if there is such.
  int Unopened(const ClusterView& view, const Plan& plan, int type) const;

  // REQUIRES: Holds, or Stay, or Unopened said so, and the plan has no place for the job.
  void Put(const ClusterView& view, Plan& plan, int job, int type, int device);
  // The plan is complete and `decision` is what it emits, maybe with devices named for others.
  void Name(const ClusterView& view, const Plan& plan, Decision& decision);

 private:
  struct Part {
    int job, device;
    bool own, stays;  // put here; runs there now
  };
  static std::size_t Index(int i) { return static_cast<std::size_t>(i); }
  int AnyUnopened(const ClusterView& view, const Plan& plan, int type) const;
  void Take(const ClusterView& view, const Part& part);
  void Settle(const ClusterView& view, const Plan& plan, int job);
  void FindHomes(const ClusterView& view, const Plan& plan, const Decision& decision);

  std::size_t followed_ = 0;    // of Plan::placed
  std::vector<int> spare_;      // [G] GPUs that the plan counts twice
  std::vector<int> free_;       // [D] thousandths
  std::vector<double> memory_;  // [D] GB; kNever = not stated
  std::vector<char> open_;      // [D]
  std::vector<Part> parts_;
  std::vector<int> command_of_, home_;  // [J], [D] scratch
  std::vector<char> taken_;             // [D] scratch
};

}  // namespace berth
