// The shipped throughputs: steps/s of 26 deep-learning job types on K80, P100 and V100 as measured by
// Narayanan et al. (OSDI 2020), alone in gangs of 1, 2, 4 and 8 (consolidated and spread over nodes) and
// co-located in pairs on one GPU.
#pragma once

#include <string>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth {

extern const char kAloneCsv[];  // throughputs/alone.csv
extern const char kPairsCsv[];  // throughputs/pairs.csv

// The columns of the cluster's types, in its order. Error names the types that have measurements where one
// has none.
ThroughputTable PublishedThroughputs(const ClusterSpec& cluster);

// Index of a job type by its published name, e.g. "ResNet-50 (batch size 32)". Error with the nearest name;
// `where` begins the message.
int JobTypeIndex(const ThroughputTable& table, const std::string& name, const std::string& where);

// alone[job type, gang size, GPU type]; 0 where the size was not measured.
double AloneRate(const ThroughputTable& table, int job_type, int gang, int gpu_type, int num_gpu_types);

// alone[job type, gang size, V100] of the shipped table: the published durations and SLOs are run times on
// V100s, whether or not the cluster has any.
double V100Rate(int job_type, int gang);

}  // namespace berth
