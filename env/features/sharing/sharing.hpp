// Several jobs on one GPU by thousandths (JobTable::gpu_milli), each with a class (JobTable::qos). How fast
// they run stands in sharing_rates.cpp, where they go in sharing.cpp, what is legal in sharing_rules.cpp.
//
// A job of fewer than 1000 thousandths holds that part of one GPU. Started without a named device it goes to
// the GPU of the type in partial use with the least sufficient room, the lowest-numbered of equals, else to
// the lowest-numbered idle one; several jobs may name the same device where their parts fit. Jobs that ask
// for whole GPUs need idle ones, as ever, and may be packed in pairs (Decision::Pack); parts may not.
//
// GPUs hold what their jobs hold in memory (JobTypeTraits::memory_gb, GpuType::memory_gb; no limit where one
// of the two is not stated): a part goes where thousandths and memory suffice.
//
// Promises go before what is not a job and takes a share of a GPU: that comes only where what is promised
// leaves its share, and goes elsewhere where it is in the way of a promise. Whole jobs are promised nothing:
// a partner or what else works beside them takes what it takes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

class ClusterView;

struct SharingSettings final : SettingsOf<SharingSettings> {
  double interference = 0.1;  // a: what is not promised runs 1 + a (n - 1) times slower beside n - 1 others
  double quantum_s = 0.0;     // s, time slice; 0 = all run at once
  double switch_s = 0.0;      // s, of each switch between jobs
  bool share_suffices =
      false;  // a job's rate in the table is what its share gives, not what a whole GPU gives

  static constexpr const char* kName = "sharing";
  static constexpr const char* kHelp =
      "jobs hold thousandths of a GPU and share it by time slices and QoS classes";
  static std::span<const Field<SharingSettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
  bool DividesGpus() const override { return true; }
  bool PartsSuffice() const override { return share_suffices; }
  int LargestGang(const ScenarioData& scenario, int job, int type) const override;
  const char* WhyTooLarge() const override {
    return "holds a part of a GPU (feature sharing) and more memory than the GPUs of every type that runs it";
  }
};

class SharingState final : public StateOf<SharingState, SharingSettings> {
 public:
  SharingState(const SharingSettings& settings, const Scenario& scenario);

  // [G] integrals over time up to `since`, and what they grow by: GPU-seconds that jobs beyond a GPU's first
  // hold it, and thousandths x s of GPUs in partial use that nobody holds.
  struct Meter {
    double since = 0.0;
    double extra_s = 0.0, spare_milli_s = 0.0;
    std::int64_t extra = 0, spare_milli = 0;
  };
  std::vector<Meter> meters;

  // GPUs that the jobs in the system ask for, and that those who run do, in thousandths, and their integrals
  // up to `since`. A job is served while it runs, on however many GPUs.
  struct Demand {
    double since = 0.0;
    double asked_milli_s = 0.0, served_milli_s = 0.0;
    std::int64_t asked_milli = 0, served_milli = 0;
    void Advance(double time) {
      asked_milli_s += static_cast<double>(asked_milli) * (time - since);
      served_milli_s += static_cast<double>(served_milli) * (time - since);
      since = time;
    }
  };
  Demand demand;

  ApplyResult ValidateRoom(SimCore& core, const Decision& decision) override;  // sharing_rules.cpp
  Placing Place(SimCore& core, int job, const Command& command, const Decision& decision) override;
  bool Vacate(SimCore& core, int job) override;
  void OnReady(SimCore& core, int job, double time) override;
  void OnLeave(SimCore& core, int job, double time) override;
  void OnRun(SimCore& core, int job, double time, double held_s, bool starts) override;
  double SharedSeconds(double now, int type) const override;
  double GpuSeconds(const Scenario& scenario, int job, double seconds) const override;
  // sharing_rates.cpp
  double GpuFactor(const Scenario& scenario, const SimState& state, int job, bool full_clocks) const override;
  double GpuShare(const Scenario& scenario, const SimState& state, int job) const override;
  double Promised(const Scenario& scenario, const SimState& state, int device) const override;
  // Nobody who holds a part of a GPU is given less of it than he is promised, whatever else slows him; and
  // what is promised, with what is not a job there, is not more than the GPU.
  std::string Violation(const InvariantInput& input) const override;
  void Measure(const SimCore& core, std::span<double> figures) const override;

 private:
  struct Compute;
  Compute Divide(const Scenario& scenario, const SimState& state, int job) const;
  // Of a GPU's compute, that the job is promised: its share (the whole where share_suffices), 0 for best
  // effort.
  double PromisedTo(const Scenario& scenario, int job) const;
  double Usable(const Scenario& scenario, int job) const;
  double Fill(const Scenario& scenario, const std::vector<int>& jobs, Qos qos, int job, double& left) const;
  double Efficiency(std::size_t jobs) const;  // what switches between time slices leave
  // What contention for memory bandwidth leaves of the job's rate.
  double BandwidthFactor(const Scenario& scenario, const SimState& state, int job) const;
  // Of its rate alone, were memory no bottleneck.
  double ComputeFactor(const Scenario& scenario, const SimState& state, int job) const;

  const SharingSettings* settings_;
  // What runs on GPUs in partial use, for accounts: [D] jobs and their thousandths.
  std::vector<std::int16_t> running_, running_milli_;
  std::vector<std::int16_t> room_;   // [D] scratch of validation
  std::vector<double> memory_room_;  // [D] of it, GB; none where no job states its memory
  std::vector<char> asks_;           // [J] it is counted in Demand::asked_milli
  static bool HoldsBeside(const Scenario& scenario, const SimState& state, int device, int job);
};

// GB that jobs on one GPU of the type may hold; kNever where that is not stated.
double MemoryOf(const Scenario& scenario, int type);
double MemoryOf(const ClusterView& view, int type);

// What a scheduler sees: thousandths of the device that are free, 0 where it is out of service.
int FreeMilli(const ClusterView& view, int device);
// And GB of its memory beside those that hold parts of it; kNever where that is not stated.
double FreeMemoryGb(const ClusterView& view, int device);
// GPU-seconds of a type by the thousandths held, where Simulator::BusySeconds counts a GPU in use as a whole.
double ShareSeconds(const SimCore& core, int type);

struct ActionInfo;
BlockInfo SharingBlock();  // what observations show of it
ActionInfo ShareAction();  // on which GPU a part is taken

}  // namespace berth
