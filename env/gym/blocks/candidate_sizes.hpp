// How much work every candidate is, and how much all of them ask of the GPUs that are offered: what the
// blocks sizes, ranks, prices and assignment share. Logarithms are plain, not a tenth of them, so that a
// network need not grow large weights first.
#pragma once

#include <span>
#include <vector>

#include "env/base/index.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {

class CandidateSizes final : public SharedWork {
 public:
  explicit CandidateSizes(const BlockSetup& setup);
  void Begin(const ClusterView& view) override { place_.assign(U(view.num_jobs()), -1); }
  void Update(const ObservationInput& input) override;

  // Of the last Update; i counts its candidates.
  int Place(int job) const { return place_[U(job)]; }  // i of a candidate
  // ln(1/60 + hours left on its fastest type; when blind: that it has attained)
  double Size(int i) const { return sizes_[U(i)]; }
  double Shown(int i) const;  // the same within [-5, 12]
  // ln of the GPU time that it wants, or less of it: who has the greatest stays out where not all fit.
  std::span<const double> claims() const { return claims_; }
  // [G] GPUs that the candidates may have: those in service where jobs can be stopped, else the idle ones.
  std::span<const int> room() const { return room_; }
  int offered() const { return offered_; }  // their sum, at least 1
  bool gangs() const { return gangs_; }     // somebody needs more than one GPU
  double load() const { return load_; }     // ln(GPUs wanted / offered), within [-3, 3]

 private:
  bool sighted_, attains_, preemptive_, gangs_ = false;
  int offered_ = 1;
  double load_ = 0.0;
  std::vector<int> place_;  // [J]; of those who are no candidates: as it was
  std::vector<int> room_;   // [G]
  std::vector<double> sizes_, claims_;
};

}  // namespace berth
