// Several jobs on one GPU by thousandths (JobTable::gpu_milli), each with a class (JobTable::qos). How fast
// they run stands in sharing_rates.cpp, where they go in sharing.cpp, what is legal in sharing_rules.cpp.
//
// A job of fewer than 1000 thousandths holds that part of one GPU. Started without a named device it goes to
// the GPU of the type in partial use with the least sufficient room, the lowest-numbered of equals, else to
// the lowest-numbered idle one; several jobs may name the same device where their parts fit. Jobs that ask
// for whole GPUs need idle ones, as ever, and may be packed in pairs (Decision::Pack); parts may not.
//
// Promises go before replicas of services (feature services) that take a share of a GPU: they come only where
// what is promised leaves their share, and one in the way of a promise goes elsewhere. Whole jobs are
// promised nothing: a partner or a replica beside them takes what it takes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/features/field.hpp"

namespace berth {

struct ApplyResult;
class ClusterView;
struct Command;
class Decision;
class Scenario;
struct ScenarioData;
struct SimState;
class Simulator;

struct SharingSettings {
  double interference = 0.1;  // a: what is not promised runs 1 + a (n - 1) times slower beside n - 1 others
  double quantum_s = 0.0;     // s, time slice; 0 = all run at once
  double switch_s = 0.0;      // s, of each switch between jobs
  bool share_suffices =
      false;  // a job's rate in the table is what its share gives, not what a whole GPU gives

  static constexpr const char* kHelp =
      "jobs hold thousandths of a GPU and share it by time slices and QoS classes";
  static std::span<const Field<SharingSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

struct SharingState {
  std::vector<std::vector<int>>
      jobs;  // [D] who holds a part of it, as they came; empty: nobody, or a whole job
  // What runs on GPUs in partial use, for accounts: [D] jobs and their thousandths.
  std::vector<std::int16_t> running, running_milli;
  // [G] integrals over time up to `since`, and what they grow by: GPU-seconds that jobs beyond a GPU's first
  // hold it, and thousandths x s of GPUs in partial use that nobody holds.
  struct Meter {
    double since = 0.0;
    double extra_s = 0.0, spare_milli_s = 0.0;
    std::int64_t extra = 0, spare_milli = 0;
  };
  std::vector<Meter> meters;
  std::vector<std::int16_t> room;  // [D] scratch of validation
};

// What a scheduler sees: thousandths of the device that are free, 0 where it is out of service.
int FreeMilli(const ClusterView& view, int device);
// Everybody on a device: a whole job and its partner, or those who hold parts of it.
std::vector<int> HoldersOf(const SimState& state, int device);
// Compute that the job is promised where it stands, as a fraction of its rate alone on a whole GPU: its share
// (the whole where share_suffices), in time slices what switches leave of it; 0 for best effort.
double PromisedFraction(const Scenario& scenario, const SimState& state, int job);
double PromisedPart(const Scenario& scenario, int job);  // the same of a GPU's compute, wherever it stands
// What jobs that hold parts of the device are promised of it together, of 1.
double PromisedOn(const Scenario& scenario, const SimState& state, int device);
// GPU-seconds of a type by the thousandths held, where Simulator::BusySeconds counts a GPU in use as a whole.
double ShareSeconds(const Simulator& simulator, int type);

class SharingEngine {
 public:
  static void Start(Simulator& simulator);
  // Does the job hold a part of one GPU (and not whole ones)?
  static bool Parts(const Simulator& simulator, int job);
  // False, and nothing done, where no GPU with room is on a node with the resources (feature topology).
  static bool Place(Simulator& simulator, int job, const Command& command, const Decision& decision);
  static bool Leave(Simulator& simulator, int job);                           // do others stay on its device?
  static void Runs(Simulator& simulator, int job, double time, bool starts);  // for the accounts
  static double ExtraSeconds(const Simulator& simulator, int type);           // [beyond a GPU's first job]
  static double Factor(const Scenario& scenario, const SimState& state,
                       int job);  // of its rate on a whole GPU
  static double Given(const Scenario& scenario, const SimState& state, int job);  // compute, of its device's
  // Who runs on the device, all but one, has another rate or uses another part of it.
  static void Rerate(Simulator& simulator, int device, int but = -1);
  // The room for all that starts and moves, in the order in which Apply places them.
  static ApplyResult ValidateRoom(Simulator& simulator, const Decision& decision);
};

}  // namespace berth
