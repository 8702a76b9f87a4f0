// Scenarios made from others: some of their jobs, another load, another cluster. Everything else stays as it
// is. Each throws Error for what cannot be, such as a gang that no type holds any more.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "env/sim/scenario.hpp"

namespace berth {

// The jobs of `indices`, which ascend; times count from the first one's arrival.
Scenario TakeJobs(const Scenario& scenario, std::span<const int> indices);

// Those that arrive in [begin_s, end_s).
Scenario ArrivingIn(const Scenario& scenario, double begin_s, double end_s);

// Those of which all of `conditions` hold, "gpus<=8,duration>=60": FIELD, one of <= >= != < > =, and a value.
// Fields: gpus, duration (s, alone on the fastest type), arrival (s), weight, type and tenant (by name, = and
// != alone).
Scenario FilterJobs(const Scenario& scenario, const std::string& conditions);

// `factor` times as many arrivals an hour; a job's time until its deadline stays.
Scenario ScaleLoad(const Scenario& scenario, double factor);

// `factor` times the GPUs of each type: whole nodes where all are whole, one at least.
Scenario ScaleCluster(const Scenario& scenario, double factor);

// More GPUs of types that are there, "h100=8,a100=4".
Scenario AddGpus(const Scenario& scenario, const std::string& text);

// Which job arrives when drawn anew; the times of arrivals stay.
Scenario ShuffleArrivals(const Scenario& scenario, std::uint64_t seed);

}  // namespace berth
