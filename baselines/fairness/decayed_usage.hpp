// What tenants have used, forgotten with a half-life, and Slurm's fair-share factor of it.
#pragma once

#include <vector>

#include "env/sim/cluster_view.hpp"

namespace berth {

// F = 2^(-U/S), Slurm's classic fair-share factor (slurm.schedmd.com/classic_fair_share.html): 1 = nothing
// used, 1/2 = used just the share. U and S are parts of 1: of all usage, and of all shares.
double FairShareFactor(double normalised_usage, double normalised_share);

// GPU-seconds by tenant. Usage that accrues at a steady rate is decayed as it accrues, so that how often one
// looks changes nothing: U(t + d) = U(t) 2^(-d/h) + rate h / ln 2 (1 - 2^(-d/h)). Slurm's own steps of
// PriorityCalcPeriod are this in the limit.
class DecayedUsage {
 public:
  explicit DecayedUsage(double half_life_s) : half_life_(half_life_s) {}  // infinite = never forgotten
  void Reset(const ClusterView& view);
  void Add(int tenant, double gpu_seconds) { usage_[static_cast<std::size_t>(tenant)] += gpu_seconds; }
  void Observe(const ClusterView& view);  // at every decision point; needs kBlind
  // [tenants] 2^(-U/S); all 1 while nobody has used anything.
  const std::vector<double>& Factors(const ClusterView& view);
  double usage(int tenant) const { return usage_[static_cast<std::size_t>(tenant)]; }  // GPU-seconds, decayed

 private:
  double half_life_;
  double seen_ = 0.0;             // s, the last look
  std::vector<double> usage_;     // [tenants]
  std::vector<double> factor_;    // [tenants]
  std::vector<double> attained_;  // [J] GPU-seconds at the last look
  std::vector<double> since_;     // [tenants] GPU-seconds attained since
  std::vector<int> held_;         // jobs in the system at the last look
};

// At least one: a scenario without tenants has one of weight 1.
int NumTenants(const ClusterView& view);
double TenantWeight(const ClusterView& view, int tenant);

}  // namespace berth
