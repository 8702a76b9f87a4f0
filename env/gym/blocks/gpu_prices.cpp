#include "env/gym/blocks/gpu_prices.hpp"

#include <algorithm>
#include <limits>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// What staying out costs, less the claim: more than any slowness, so that whoever fits is in.
constexpr double kOut = 1000.0;

}  // namespace

void GpuPrices::Update(const ClusterView& view, std::span<const int> jobs, std::span<const double> claims,
                       std::span<const int> room) {
  BERTH_CHECK(jobs.size() == claims.size(), jobs.size(), " jobs, ", claims.size(), " claims");
  types_ = room.size();
  known_.Update(view, jobs);
  sought_.assign(types_, 0);
  regret_.resize(jobs.size() * types_);
  surplus_.resize(jobs.size());
  cost_.clear();
  gangs_.clear();
  int members = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const int job = jobs[i], gang = view.Gang(job);
    const std::span<const double> slowness = known_.Of(job);
    for (std::size_t type = 0; type < types_; ++type) {
      if (gang <= room[type] && slowness[type] < kInfinity) sought_[type] = 1;
    }
    const double each = WeightOf(gang) / gang;  // of a member
    const double out = kOut - claims[i];
    for (std::size_t type = 0; type < types_; ++type) {
      cost_.push_back(gang <= room[type] ? slowness[type] * each : kInfinity);
    }
    cost_.push_back(out);
    gangs_.push_back(gang);
    members += gang;
  }
  room_.assign(room.begin(), room.end());
  for (int& gpus : room_) gpus = std::max(0, gpus);
  room_.push_back(members);
  const std::span<const int> in = assignment_.Solve(cost_, gangs_, room_);
  matched_.assign(jobs.size() * types_, 0.0);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (std::size_t type = 0; type < types_; ++type) {
      for (int k = in [i * (types_ + 1) + type]; k > 0; --k) matched_[i * types_ + type] += 1.0 / gangs_[i];
    }
  }
  const std::span<const double> prices = assignment_.Prices(cost_).first(types_);
  prices_.assign(prices.begin(), prices.end());
  // What nobody could have costs nobody anything: it is no measure of the others.
  double least = kInfinity;
  for (std::size_t type = 0; type < types_; ++type) {
    if (sought_[type] != 0) least = std::min(least, prices_[type]);
  }
  for (std::size_t type = 0; type < types_; ++type) {
    prices_[type] = sought_[type] != 0 ? prices_[type] - least : 0.0;
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const int gang = view.Gang(jobs[i]);
    const std::span<const double> slowness = known_.Of(jobs[i]);
    const double taken = gang / WeightOf(gang);
    double surplus = kInfinity;
    for (std::size_t type = 0; type < types_; ++type) {
      double& here = regret_[i * types_ + type];
      here = gang <= room[type] ? slowness[type] + taken * prices_[type] : kInfinity;
      surplus = std::min(surplus, here);
    }
    surplus_[i] = surplus < kInfinity ? surplus : 0.0;
    for (std::size_t type = 0; type < types_; ++type) regret_[i * types_ + type] -= surplus_[i];
  }
}

}  // namespace berth
