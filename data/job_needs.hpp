// What generated jobs need beside GPUs for a time: parameters of `synthetic`, each off unless asked for and
// drawn apart, so that none changes the jobs or what another draws.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "env/base/rng.hpp"
#include "env/base/spec.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

inline constexpr const char* kOff = "off";
inline constexpr ParamInfo kJobNeedsParams[] = {
    {"tenants", kOff, "off | how many there are, alike: 3 | NAME:SHARE/...: prod:0.7/research:0.3"},
    {"parts", kOff,
     "off | THOUSANDTHS:SHARE/...: a share of the jobs of one GPU holds that part of one, the others all of "
     "it: "
     "250:0.3/500:0.2"},
    {"qos", kOff,
     "off | CLASS:SHARE/... of all jobs: guaranteed:0.5/burstable:0.3/best_effort:0.2 (feature sharing)"},
    {"elastic", kOff,
     "off | LOW:HIGH: gangs may run on so many times their GPUs: 0.5:2 (feature elasticity); parts may not"},
    {"requests", kOff, "off | LOW:HIGH: users ask for so many times the run time alone, log-uniform: 1:5"},
    {"only", kOff,
     "off | the share of jobs that may run on one GPU type alone, drawn of those that run it: 0.2"},
    {"cores", kOff, "off | LOW:HIGH CPU cores for each GPU, log-uniform: 2:16 (feature topology)"},
    {"memory", kOff,
     "off | LOW:HIGH GB of the node's memory for each GPU, log-uniform: 8:64 (feature topology)"},
    {"gpu_memory", kOff,
     "off | LOW:HIGH GB of GPU memory that a job type holds, log-uniform: 4:30; what no GPU holds in part "
     "has a "
     "whole one"},
    {"bandwidth", kOff,
     "off | LOW:HIGH share of a GPU's memory bandwidth that a job type uses, uniform: 0.1:0.9"},
    {"utilization", kOff,
     "off | LOW:HIGH share of a GPU that a job type can use, uniform: 0.15:1 (features partitions, "
     "sharing)"},
};

// An immutable value.
class JobNeeds {
 public:
  // Throws Error naming the parameter.
  static JobNeeds Parse(Params& params);
  // Of the jobs that `data` holds. Kinds of jobs have theirs whatever the seed.
  void AddTo(ScenarioData& data, std::uint64_t seed, Split split, std::uint32_t env,
             std::uint32_t episode) const;

  using Shares = std::vector<std::pair<std::string, double>>;  // the latter cumulated
  struct Bounds {
    double low = 0.0, high = 0.0;
    bool on() const { return high > 0.0; }
  };

 private:
  void AddParts(ScenarioData& data, Stream stream) const;

  Shares tenants_, parts_, qos_;
  Bounds elastic_, requests_, cores_, memory_, gpu_memory_, bandwidth_, utilization_;
  double only_ = 0.0;
};

// The spec without the parameters that are off: "synthetic(rate=1)" of "synthetic(rate=1,parts=off)".
std::string WithoutOff(const std::string& spec);

}  // namespace berth
