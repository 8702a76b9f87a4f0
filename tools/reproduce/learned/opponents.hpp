// Whom a learned policy is compared with: every registered scheduler that runs on the cluster.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "env/sim/scenario.hpp"
#include "env/sim/scheduler.hpp"

namespace berth {

struct Opponent {
  std::string spec;
  Knowledge knowledge;  // that it uses where all is granted
};
struct Opponents {
  std::vector<Opponent> run;                                 // those that know less first
  std::vector<std::pair<std::string, std::string>> refused;  // name, why it cannot run on the cluster
};
Opponents RegisteredOpponents(const Scenario& sample);

// On how many of `all` workloads a scheduler runs: fewer where a run takes seconds of CPU time.
std::size_t AffordableWorkloads(const std::string& spec, std::size_t all);
// CPU seconds of such a run, for estimates: of 8,000 jobs on 108 GPUs at the highest loads.
double RunSeconds(const std::string& spec);

}  // namespace berth
