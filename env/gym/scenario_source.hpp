// Where episodes come from: a generator, a trace cut into windows, one fixed file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/base/rng.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

// Thread rule: Make is const and safe to call from any thread at once.
class ScenarioSource {
 public:
  virtual ~ScenarioSource() = default;
  // The workload of (seed, split, env, episode): a pure function of them. `jobs` > 0 asks for that many jobs
  // instead of the source's own number, where the source can choose.
  virtual Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                        int jobs = 0) const = 0;
  // What that workload is paid by in the place of the process's reward (rewards.hpp); "" = by that.
  virtual std::string RewardOf(std::uint64_t /*seed*/, Split /*split*/, std::uint32_t /*env*/,
                               std::uint32_t /*episode*/) const {
    return {};
  }
  // So many environments, or episodes, in a row have one workload of each kind that there is: clusters,
  // features, loads.
  virtual int kinds() const { return 1; }
  virtual bool fixed() const = 0;            // every call gives the same jobs
  virtual std::string Describe() const = 0;  // resolved spec or file
};

}  // namespace berth
