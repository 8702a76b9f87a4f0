// What a run has used so far: energy and money. Jobs and replicas of services, each GPU once.
#pragma once

namespace berth {

class Simulator;

// J: the integral of power with the feature power; otherwise busy x peak + idle x idle power, where a replica
// is busy for its share of the time (env/features/power/power.hpp).
double UsedEnergyJ(const Simulator& simulator);
// Currency units: device-hours held x price; of electricity where the feature power has its price.
double UsedCost(const Simulator& simulator);
// Device-seconds of a type that jobs or replicas held, the latter times their share.
double HeldSeconds(const Simulator& simulator, int type);

}  // namespace berth
