// Which layouts partitioned GPUs should have for an expected mix of jobs, once and for all.
#pragma once

#include <vector>

namespace berth {

// What may be chosen for each of `gpus` GPUs of one product: how many devices of each type a layout has.
struct LayoutChoice {
  int gpus = 0;
  std::vector<std::vector<int>> devices;  // [layouts][types]
};
// A kind of jobs: its part of what arrives, and its speed on each device of its gang.
struct JobMix {
  double share = 0.0;
  std::vector<double> speed;  // [types] of one device, over that of the fastest type; 0 = cannot run
  int gang = 1;
};
struct StaticLayouts {
  bool found = false;
  std::vector<std::vector<int>> count;  // [products][layouts] GPUs
  double rate = 0.0;                    // of arrivals, as below
  double bound = 0.0;                   // no other choice has more
};

// Maximises the rate r of arrivals that all devices together can serve, jobs being fluid and of one second of
// work each on a GPU of the fastest type:
//
//   sum over types k of x[t,k] speed[t,k] >= r share[t] gang[t] for each kind t,
//   sum over kinds t of x[t,k] <= devices of type k, fixed [k] and those that the layouts give,
//
// which is the largest load under which some schedule keeps the queues bounded (Tassiulas & Ephremides, IEEE
// TAC 37, 1992, of allocations in proportion). A type on which a gang of a kind can run has room for it or
// none. A mixed-integer program: whole GPUs get whole layouts.
StaticLayouts ChooseLayouts(const std::vector<LayoutChoice>& products, const std::vector<int>& fixed,
                            const std::vector<JobMix>& mix);

}  // namespace berth
