// How fast a job runs where it now stands, when features say more than the throughput table. Every factor is
// here, in the order in which they multiply.
#include "env/features/placement_engine.hpp"
#include "env/features/power.hpp"
#include "env/features/services.hpp"
#include "env/features/sharing.hpp"
#include "env/features/stages.hpp"
#include "env/simulator.hpp"

namespace berth {

double Simulator::EffectiveRate(int job) const {
  const auto j = static_cast<std::size_t>(job);
  const int type = state_.on_type[j];
  const int partner = state_.partner[j];
  double rate =
      partner < 0 ? scenario_.RateAt(job, type, state_.Width(job)) : scenario_.PairRate(job, partner, type);
  if (state_.services) rate *= ServiceEngine::RateFactor(*this, job);
  if (state_.stages) rate *= StageEngine::RateFactor(*this, job);
  if (state_.placement) rate *= PlacementEngine::Factor(*this, job);
  if (state_.power) rate *= PowerEngine::Speed(*this, job);
  if (state_.sharing) rate *= SharingEngine::Factor(*this, job);
  return rate;
}

}  // namespace berth
