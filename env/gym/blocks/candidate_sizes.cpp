#include "env/gym/blocks/candidate_sizes.hpp"

#include <numeric>

namespace berth {
namespace {

// Who stays out of the assignments is who has most GPU time left, in the scale of slowness: a job twice as
// long has to be twice as fast. What a job has attained says less of what it has left. Measured blind on row
// 1 of tools/reproduce/learned, validation workloads: its README has the figures.
constexpr double kAttained = 0.2;

}  // namespace

CandidateSizes::CandidateSizes(const BlockSetup& setup)
    : sighted_(setup.knowledge >= Knowledge::kEstimate),
      attains_(setup.knowledge >= Knowledge::kBlind),
      preemptive_(setup.preemptive) {}

void CandidateSizes::Update(const ObservationInput& input) {
  const ClusterView& view = input.view;
  const std::size_t n = input.candidates.size();
  room_.assign(input.room.begin(), input.room.end());
  if (preemptive_) {
    for (std::size_t type = 0; type < room_.size(); ++type) room_[type] = view.types()[type].count;
  }
  offered_ = std::max(1, std::accumulate(room_.begin(), room_.end(), 0));
  double asked = 0.0;
  gangs_ = false;
  sizes_.resize(n);
  claims_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const int job = input.candidates[i];
    const double steps = sighted_ ? view.RemainingSteps(job) : attains_ ? view.AttainedSteps(job) : 0.0;
    sizes_[i] = Log(1.0 / 60.0 + std::max(steps, 0.0) / view.BestRate(job) / 3600.0);
    claims_[i] = (sighted_ ? 1.0 : kAttained) * (sizes_[i] + Log(static_cast<double>(view.Gang(job))));
    asked += view.Gang(job);
    gangs_ = gangs_ || view.Gang(job) > 1;
    place_[U(job)] = static_cast<int>(i);
  }
  load_ = std::clamp(Log(std::max(1.0, asked) / offered_), -3.0, 3.0);
}

double CandidateSizes::Shown(int i) const {
  return std::clamp(Size(i), -5.0, 12.0);
}

}  // namespace berth
