#include "baselines/fairness/decayed_usage.hpp"

#include <algorithm>

#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"

namespace berth {
namespace {

constexpr double kLn2 = 0.69314718055994530942;

}  // namespace

double FairShareFactor(double normalised_usage, double normalised_share) {
  return Exp(-kLn2 * normalised_usage / normalised_share);
}

int NumTenants(const ClusterView& view) {
  return std::max(1, static_cast<int>(view.tenants().size()));
}

double TenantWeight(const ClusterView& view, int tenant) {
  return view.tenants().empty() ? 1.0 : view.tenants()[U(tenant)].weight;
}

void DecayedUsage::Reset(const ClusterView& view) {
  seen_ = view.now();
  usage_.assign(U(NumTenants(view)), 0.0);
  attained_.assign(U(view.num_jobs()), 0.0);
  held_.clear();
}

void DecayedUsage::Observe(const ClusterView& view) {
  const double elapsed = view.now() - seen_;
  since_.assign(usage_.size(), 0.0);
  for (int job : held_) {
    const double attained = view.AttainedGpuSeconds(job);
    since_[U(view.TenantOf(job))] += attained - attained_[U(job)];
    attained_[U(job)] = attained;
  }
  held_.assign(view.active().begin(), view.active().end());
  for (int job : held_) attained_[U(job)] = view.AttainedGpuSeconds(job);
  if (elapsed > 0.0) {
    const double kept = Exp(-kLn2 * elapsed / half_life_);
    // The mean of 2^(-s/h) over the time that passed; 1 where nothing decays.
    const double part = kept < 1.0 ? (1.0 - kept) * half_life_ / (kLn2 * elapsed) : 1.0;
    for (std::size_t t = 0; t < usage_.size(); ++t) usage_[t] = usage_[t] * kept + since_[t] * part;
  }
  seen_ = view.now();
}

const std::vector<double>& DecayedUsage::Factors(const ClusterView& view) {
  double used = 0.0, weights = 0.0;
  for (double usage : usage_) used += usage;
  for (std::size_t t = 0; t < usage_.size(); ++t) weights += TenantWeight(view, static_cast<int>(t));
  factor_.assign(usage_.size(), 1.0);
  for (std::size_t t = 0; used > 0.0 && t < usage_.size(); ++t) {
    factor_[t] = FairShareFactor(usage_[t] / used, TenantWeight(view, static_cast<int>(t)) / weights);
  }
  return factor_;
}

}  // namespace berth
