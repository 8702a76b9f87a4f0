// What the parts of `berth reproduce actions` share: where things stand, and how policies are trained and
// measured.
#pragma once

#include <string>
#include <vector>

#include "tools/reproduce/actions/action_rows.hpp"
#include "tools/reproduce/actions/child_steps.hpp"

namespace berth {

using Words = std::vector<std::string>;  // of a command line
Words Joined(Words words, const Words& more);

inline constexpr double kEvaluateSeconds = 120.0;  // of one core, about

struct ActionStudy {
  std::string out;
  std::int64_t first_seed, last_seed;  // of training, half open
  std::string seeds;                   // of workloads
  double tune_s;

  std::string PolicyFile(const std::string& name, std::int64_t seed) const;
  // Specs of those of all seeds that are there.
  std::vector<std::string> Policies(const std::string& name) const;
  // `options`: of `berth train`.
  ChildStep Training(const std::string& name, std::int64_t seed, long long steps, const Words& options) const;
  std::string ResultFile(const std::string& name) const;
  // `cluster`: the options that say workload, cluster and features.
  ChildStep Evaluation(const std::string& name, const std::vector<std::string>& schedulers,
                       const std::string& workloads, const std::string& window, const Words& cluster) const;
};

// What the workload and the cluster of a row are, as every verb takes them.
Words ClusterWords(const ActionRow& row);

}  // namespace berth
