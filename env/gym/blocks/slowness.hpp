// How much slower each job is on each GPU type than where it is fastest, remembered.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

// Thread rule: one thread at a time. Allocates in Begin alone.
class Slowness {
 public:
  void Begin(const ClusterView& view) {  // another episode: forget every job
    types_ = U(view.num_types());
    met_.assign(U(view.num_jobs()), 0);
    known_.resize(met_.size() * types_);
    rates_version_ = view.rates_version();
  }
  void Update(const ClusterView& view, std::span<const int> jobs) {
    if (rates_version_ != view.rates_version()) {
      rates_version_ = view.rates_version();
      std::fill(met_.begin(), met_.end(), 0);
    }
    for (int job : jobs) {
      if (met_[U(job)] == 0) Meet(view, job);
    }
  }
  // Of a job of the last Update: [G] ln(its fastest rate / its rate on the type); infinite where it cannot
  // run.
  std::span<const double> Of(int job) const { return {known_.data() + U(job) * types_, types_}; }

 private:
  void Meet(const ClusterView& view, int job) {
    const std::span<const double> rates = view.Rates(job);
    const double best = view.BestRate(job);
    for (std::size_t type = 0; type < types_; ++type) {
      known_[U(job) * types_ + type] =
          rates[type] > 0.0 ? Log(best / rates[type]) : std::numeric_limits<double>::infinity();
    }
    met_[U(job)] = 1;
  }

  std::size_t types_ = 0;
  std::uint64_t rates_version_ = 0;  // of what is remembered
  std::vector<char> met_;            // [J]
  std::vector<double> known_;        // [J, G]
};

}  // namespace berth
