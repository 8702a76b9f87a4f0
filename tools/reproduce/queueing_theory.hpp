// Closed forms of queueing theory in steady state: Poisson arrivals at `rate` a second, servers of speed 1.
// Waits and delays are in seconds; a delay is time in system less size, which for non-preemptive rules is the
// wait.
#pragma once

#include <span>
#include <vector>

#include "data/arrivals.hpp"
#include "data/sizes.hpp"

namespace berth {

// Share of arrivals lost by M/G/c/c, offered = rate x mean size (Erlang 1917; by the recursion over servers).
double ErlangB(int servers, double offered);
// Chance that an arrival waits in M/M/c, offered < servers (Erlang 1917).
double ErlangC(int servers, double offered);
// Mean wait in M/M/c.
double WaitMMc(int servers, double rate, double mean_size);

// M/M/c/K: at most `capacity` >= servers jobs in system, others are lost (Kleinrock 1975, §3.7-3.8).
struct LossSystem {
  double lost;       // share of arrivals
  double mean_wait;  // of the accepted
};
LossSystem MMcK(int servers, int capacity, double rate, double mean_size);

// Mean wait in M/G/1: Pollaczek 1930, Khinchine 1932. Of any rule that neither preempts nor knows sizes.
double WaitMG1(double rate, const SizeDistribution& sizes);
// Mean wait in M/G/1 under shortest job first (Phipps 1956; Conway, Maxwell & Miller 1967 §8-6): continuous
// sizes.
double WaitSjf(double rate, const SizeDistribution& sizes);
// Mean delay in M/G/1 under shortest remaining processing time (Schrage & Miller 1966): continuous sizes.
double DelaySrpt(double rate, const SizeDistribution& sizes);

// Mean delay in MMPP(2)/M/1, non-anticipating rules (Neuts 1981, ch. 3: the matrix-geometric solution).
double DelayMmppM1(const ArrivalModel& arrivals, double mean_size);

// Priority classes, most urgent first; first come, first served within one.
struct PriorityClass {
  double rate;    // arrivals/s
  double mean;    // s
  double second;  // E[S^2], s^2
};
// Mean wait of each class in M/G/1, non-preemptive (Cobham 1954, eq. 3).
std::vector<double> WaitPriority(std::span<const PriorityClass> classes);
// The same in M/M/c, one mean size for all (Cobham 1954, the multiple-channel case).
std::vector<double> WaitPriorityMMc(int servers, std::span<const double> rates, double mean_size);
// The same where a job's priority is its class's `growth` times its wait, greatest first: Kleinrock's
// delay-dependent priorities (1964; Queueing Systems II, 1976, §3.7). `growth` falls from class to class.
std::vector<double> WaitAgeing(std::span<const PriorityClass> classes, std::span<const double> growth);
// Mean delay of each class in M/G/1, preemptive resume (White & Christie 1958; Kleinrock 1976, §3.4).
std::vector<double> DelayPreemptivePriority(std::span<const PriorityClass> classes);

}  // namespace berth
