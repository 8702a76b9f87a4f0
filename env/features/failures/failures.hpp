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
#include "env/features/field.hpp"

namespace berth {

struct PhysicalGpus;
struct ScenarioData;

// Every GPU, node, rack and spot node fails on its own after a time in service drawn from a Weibull
// distribution (shape 1: exponential) and is back after an exponential time; what fails takes its jobs down:
// they wait, from their last checkpoint. What fails is GPUs: where a GPU is in slices (feature partitions)
// all of them go with it. Racks are those of the feature topology where it says some, otherwise groups of
// nodes of one type, in the order of their numbers.
struct FailureSettings {
  double mtbf_h = 1000.0, repair_h = 1.0;  // of a GPU; 0 = never
  double node_mtbf_h = 0.0, node_repair_h = 4.0;
  double rack_mtbf_h = 0.0, rack_repair_h = 8.0;
  int nodes_per_rack = 0;
  double shape = 1.0;
  std::string spot_types;  // names, a:b
  double spot_mtbf_h = 24.0, spot_away_h = 1.0, spot_notice_s = 120.0;
  std::string log;     // CSV file down_s,up_s,kind,name[,notice_s]; read into `events`
  std::string events;  // its rows as down:up:kind:name:notice, joined by |

  static constexpr const char* kHelp =
      "GPUs, nodes and racks fail and are repaired, spot nodes are reclaimed, maintenance drains; a job that "
      "loses a GPU starts again";
  static std::span<const Field<FailureSettings>> Fields();
  void Load();  // `log` into `events`; throws Error naming the line
  void Check(const ScenarioData& scenario) const;
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

class FailureState {
 public:
  // When a device that runs on will leave service, as announced; infinite = nothing is announced. Such a
  // device takes no new job.
  double DownAt(int device) const { return down_at_[static_cast<std::size_t>(device)]; }
  bool Announced() const { return announced_ > 0; }  // anything at all?
  // As drawn or planned, how many outages began so far.
  std::int64_t outages() const { return outages_; }

 private:
  friend class FailureEngine;
  friend struct FailureInvariant;
  // What fails as one: GPUs [first, last), each with all its devices.
  struct Domain {
    int first, last;
    double up_h, repair_h, notice_s;  // means; up_h 0 = planned
    Stream stream;
    double down_at = std::numeric_limits<double>::infinity();  // announced
    double repair_s = 0.0;                                     // of a planned outage
  };
  std::shared_ptr<const PhysicalGpus> gpus_;
  std::vector<Domain> domains_;              // single GPUs first
  std::vector<std::uint16_t> down_;          // [D] domains that are down
  std::vector<std::uint16_t> announced_on_;  // [D] that will be, or are after notice
  std::vector<double> down_at_;              // [D]
  int announced_ = 0;                        // domains
  double scale_ = 1.0;                       // of a Weibull time with mean 1
  std::int64_t outages_ = 0;
};

class Simulator;
struct Timer;
struct InvariantInput;

// Its part of the simulator.
class FailureEngine {
 public:
  static void Start(Simulator& simulator);
  static bool OnFailure(Simulator& simulator, int domain);  // is a decision due?
  static bool OnNotice(Simulator& simulator, int domain);
  static bool OnRepair(Simulator& simulator, int domain);
  // Failures per second of a job where it runs, of all the domains that it stands in; means alone count.
  static double RateOf(const Simulator& simulator, int job);

 private:
  static void Await(Simulator& simulator, int domain);
  static void FindDownAt(Simulator& simulator, int domain);
};

// Devices are out of service exactly while a domain of theirs is, and nobody runs on one that is down.
std::string FailureViolation(const InvariantInput& input);

// Mean of a Weibull time of this shape and scale 1: Gamma(1 + 1/shape), by Stirling's series.
double WeibullMean(double shape);

}  // namespace berth
