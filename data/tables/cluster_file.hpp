// A cluster of one's own as a TOML file: GPU types with their figures, tenants, and what holds in it.
//
//   clock = "rounds(360)"                 # as --clock; so too knowledge, sigma
//   features = "topology;power(cap_w=9000)"   # as --features
//   checkpoint_cost = 30                  # s, as the options of these names; so too restore_cost,
//   migration_cost
//   [[gpu]]
//   name = "h100"
//   count = 64
//   per_node = 8                          # 1 unless stated
//   memory_gb = 80                        # of a type that Berth knows its own, otherwise 0 = not stated:
//   bandwidth_gb_s = 3350                 # these five; of its memory
//   idle_power_w = 70
//   peak_power_w = 700
//   price_per_hour = 2.5                  # of one GPU
//   [[tenant]]
//   name = "vision"
//   weight = 2
//   inner_policy = "fifo"                 # what shares the tenant's part among its jobs; "fairness" unless
//   stated
//   [[job_type]]
//   name = "bert"
//   checkpoint_gb = 1.3                   # and all that JobTypeTraits lists
// And of tables of jobs: origin, the moment at which its time is 0, a number or a date; seed, of estimates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/workloads.hpp"

namespace berth {

struct ClusterFile {
  ClusterSpec cluster;
  std::vector<Tenant> tenants;
  std::vector<JobTypeFacts> job_types;
  std::optional<double> origin_s;
  std::uint64_t seed = 0;
  // What else holds, as a configuration of options: "clock=rounds(360)", each on the line of the file that
  // says so.
  std::string settings;
};

// Is the text of --cluster such a file's name?
bool NamesClusterFile(const std::string& text);

// Throws Error "path:line: key: expected ..., found ...".
ClusterFile ReadClusterFile(const std::string& path);

}  // namespace berth
