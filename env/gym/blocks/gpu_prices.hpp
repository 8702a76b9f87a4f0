// What a GPU of each type is worth to the jobs that want one now, so that each job can tell by itself where
// it belongs.
//
// Jobs go where the product of their slownesses is least, which is where comparative advantage puts them: the
// assignment of least total weight x ln(fastest rate / rate), a gang's spread over its members, with room for
// as many GPUs as there are. Whose claim is greatest stays out while all do not fit. The dual prices
// of that program (env/base/grouped_assignment.hpp) say what taking a GPU costs the others: proportional
// fairness's prices (Kelly, Maulloo and Tan, J. Oper. Res. Soc. 1998) where nobody shares a GPU. A job
// belongs on the type of least ln slowness + gang x price / weight; what another type costs more is its
// regret there.
//
// Weights are 1 a job, so that gangs give way to single jobs, best while GPUs are plenty, or the gang's size
// (the asymmetric Nash product of Kalai, Int. J. Game Theory 1977), which loses the least GPU time: a gang of
// eight where it is slow keeps eight GPUs for longer.
#pragma once

#include <span>
#include <vector>

#include "env/base/grouped_assignment.hpp"
#include "env/gym/blocks/slowness.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

enum class PriceWeight { kJob, kGpu };

// Thread rule: one thread at a time. Allocates in Begin alone, and where a list outgrows all before it.
class GpuPrices {
 public:
  explicit GpuPrices(PriceWeight weight) : weight_(weight) {}
  void Begin(const ClusterView& view) { known_.Begin(view); }  // another episode: forget every job
  // Of `jobs` among `room` GPUs [G]; where not all fit, claims[i] of jobs[i] weighs against ln slowness in
  // who stays out: ln(the GPU time that it wants) or less of it.
  void Update(const ClusterView& view, std::span<const int> jobs, std::span<const double> claims,
              std::span<const int> room);

  // Of the last Update; i counts its jobs.
  // [G] a GPU; 0 of the cheapest type that somebody could have, and of those that nobody could.
  std::span<const double> prices() const { return prices_; }
  // The least of slowness + gang x price / weight over types with room for it; 0 where there is none.
  double Surplus(int i) const { return surplus_[static_cast<std::size_t>(i)]; }
  // Slowness + gang x price / weight, less Surplus: 0 where it belongs; infinite where it cannot run or has
  // no room.
  double Regret(int i, int type) const { return regret_[At(i, type)]; }
  // The share of the job's GPUs that the assignment takes from the type: prices alone leave it open where a
  // job that is as well off on two types goes.
  double Matched(int i, int type) const { return matched_[At(i, type)]; }

 private:
  std::size_t At(int i, int type) const {
    return static_cast<std::size_t>(i) * types_ + static_cast<std::size_t>(type);
  }
  double WeightOf(int gang) const { return weight_ == PriceWeight::kGpu ? gang : 1.0; }

  PriceWeight weight_;
  std::size_t types_ = 0;
  Slowness known_;
  std::vector<double> regret_;            // [n, G]
  std::vector<double> matched_;           // [n, G]
  std::vector<double> surplus_, prices_;  // [n], [G]
  std::vector<char> sought_;              // [G] somebody could have one
  std::vector<double> cost_;              // [n, G + 1] of a member
  std::vector<int> gangs_, room_;         // [n], [G + 1]
  GroupedAssignment assignment_;
};

}  // namespace berth
