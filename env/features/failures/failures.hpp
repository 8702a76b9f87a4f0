// Failures and repairs of GPUs, nodes and racks, maintenance, and reclaimed spot nodes: who leaves service
// when, and what notice is given.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/base/rng.hpp"
#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

struct PhysicalGpus;

// Every GPU, node, rack and spot node fails on its own after a time in service drawn from a Weibull
// distribution (shape 1: exponential) and is back after an exponential time; what fails takes its jobs down:
// they wait, from their last checkpoint. What fails is GPUs: where a GPU is in slices all of them go
// with it. Racks are those of the cluster where a feature says some, otherwise groups of nodes of one type,
// in the order of their numbers.
struct FailureSettings final : SettingsOf<FailureSettings> {
  double mtbf_h = 1000.0, repair_h = 1.0;  // of a GPU; 0 = never
  double node_mtbf_h = 0.0, node_repair_h = 4.0;
  double rack_mtbf_h = 0.0, rack_repair_h = 8.0;
  int nodes_per_rack = 0;
  double shape = 1.0;
  std::string spot_types;  // names, a:b
  double spot_mtbf_h = 24.0, spot_away_h = 1.0, spot_notice_s = 120.0;
  std::string log;     // CSV file down_s,up_s,kind,name[,notice_s]; read into `events`
  std::string events;  // its rows as down:up:kind:name:notice, joined by |

  static constexpr const char* kName = "failures";
  static constexpr const char* kHelp =
      "GPUs, nodes and racks fail and are repaired, spot nodes are reclaimed, maintenance drains; a job that "
      "loses a GPU starts again";
  static std::span<const Field<FailureSettings>> Fields();
  void Load() override;  // `log` into `events`; throws Error naming the line
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
  bool Interrupts() const override { return true; }
  // Outages of a log keep their instants: what was over by then is gone, what goes on is there from the
  // start.
  std::shared_ptr<const FeatureSettings> OfJobs(const JobTable& jobs, double origin_s) const override;
};

// GPUs of a whole rack of the type.
int GpusPerRack(const FailureSettings& settings, const ScenarioData& scenario, int type);

// One row of a log: GPUs [first, last) are out of service in [down, up).
struct PlannedOutage {
  double down = 0.0, up = 0.0, notice = 0.0;  // s; up may be infinite; notice before `down`
  int first = 0, last = 0;
};
// The rows of `events` in a scenario. Throws Error naming the row: malformed, or a name that is not there.
std::vector<PlannedOutage> PlannedOutages(const FailureSettings& settings, const ScenarioData& scenario);

inline constexpr Purpose kFailureDraws{11};  // when what fails fails, and for how long
inline constexpr TimerKind kRepair{0};       // index: domain, a GPU or what fails as one
inline constexpr TimerKind kFailure{1};      // index: domain
inline constexpr TimerKind kNotice{3};       // index: domain that will leave service

class FailureState final : public StateOf<FailureState, FailureSettings> {
 public:
  FailureState(const FailureSettings& settings, const Scenario& scenario);
  // When a device that runs on will leave service, as announced; infinite = nothing is announced. Such a
  // device takes no new job.
  double DownAt(int device) const { return down_at_[static_cast<std::size_t>(device)]; }
  bool Announced() const { return announced_ > 0; }  // anything at all?
  // As drawn or planned, how many outages began so far.
  std::int64_t outages() const { return outages_; }

  void Start(SimCore& core) override;
  bool OnTimer(SimCore& core, const Timer& timer) override;
  // Of all the domains that the job stands in; means alone count.
  double FailuresPerSecond(const SimState& state, int job) const override;
  double LeavesAt(int device) const override { return DownAt(device); }
  // Devices are out of service exactly while a domain of theirs is, and nobody runs on one that is down.
  std::string Violation(const InvariantInput& input) const override;

 private:
  // What fails as one: GPUs [first, last), each with all its devices.
  struct Domain {
    int first, last;
    double up_h, repair_h, notice_s;  // means; up_h 0 = planned
    Stream stream;
    double down_at = std::numeric_limits<double>::infinity();  // announced
    double repair_s = 0.0;                                     // of a planned outage
  };
  void Add(const ScenarioData& scenario, int first, int last, double up_h, double repair_h, double notice_s,
           std::uint32_t kind, int number);
  void Fail(SimCore& core, int domain);
  void Announce(SimCore& core, int domain);
  void Repair(SimCore& core, int domain);
  void Await(SimCore& core, int domain);
  void FindDownAt(int domain);

  const FailureSettings* settings_;
  std::shared_ptr<const PhysicalGpus> gpus_;
  std::vector<Domain> domains_;              // single GPUs first
  std::vector<std::uint16_t> down_;          // [D] domains that are down
  std::vector<std::uint16_t> announced_on_;  // [D] that will be, or are after notice
  std::vector<double> down_at_;              // [D]
  int announced_ = 0;                        // domains
  double scale_ = 1.0;                       // of a Weibull time with mean 1
  std::int64_t outages_ = 0;
};

// Mean of a Weibull time of this shape and scale 1: Gamma(1 + 1/shape), by Stirling's series.
double WeibullMean(double shape);

BlockInfo FailuresBlock();  // what observations show of it

}  // namespace berth
