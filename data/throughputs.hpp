// The shipped tables of throughputs: how fast job types run on GPU types, in gangs of 1, 2, 4 and 8.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth {

// One cell of a table.
struct ThroughputFigure {
  std::string job_type, gpu_type;
  int gang;
  double steps_per_s;  // of the whole gang, on consolidated GPUs; 0 = not measured, cannot run
  std::string source;  // whose measurement, or "model"
};

struct ShippedThroughputs {
  const char* name;
  const char* summary;
  const char* source;
  const char* reference;               // GPU type on which the durations of generated jobs are run times
  std::vector<std::string> gpu_types;  // that it has
  std::vector<ThroughputFigure> figures;
  const GpuType* Lacking(const ClusterSpec& cluster) const;  // a type that it has not; null = it has all
  // The columns of the cluster's types, in its order. Error naming the types that it has where it lacks one.
  ThroughputTable Table(const ClusterSpec& cluster) const;
};

// "gavel": 26 deep-learning job types on K80, P100 and V100 as measured by Narayanan et al. (OSDI 2020),
// spread over nodes and in pairs on one GPU too. "modern": 14 on GPUs from T4 to B200.
std::span<const ShippedThroughputs> ThroughputTables();
const ShippedThroughputs& FindThroughputs(const std::string& name);  // Error with the nearest name

// Of "gavel"'s job types and GPU types as measured for Shockwave (Zheng et al., NSDI 2023), whose traces
// state their steps by it. Not among the tables above: V100s have no speed for some types.
const ShippedThroughputs& ShockwaveThroughputs();

// Of "gavel".
ThroughputTable PublishedThroughputs(const ClusterSpec& cluster);

// Index of a job type by its published name, e.g. "ResNet-50 (batch size 32)". Error with the nearest name;
// `where` begins the message.
int JobTypeIndex(const ThroughputTable& table, const std::string& name, const std::string& where);

// alone[job type, gang size, GPU type]; 0 where the size was not measured.
double AloneRate(const ThroughputTable& table, int job_type, int gang, int gpu_type, int num_gpu_types);

// alone[job type, gang size, V100] of "gavel", and of Shockwave's: the published durations and SLOs are run
// times on V100s, whether or not the cluster has any.
double V100Rate(int job_type, int gang);
double ShockwaveV100Rate(int job_type, int gang);

}  // namespace berth
