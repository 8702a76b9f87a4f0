#include "env/effective_rate.hpp"

#include "env/features/placement_engine.hpp"
#include "env/features/power.hpp"
#include "env/features/services.hpp"
#include "env/features/sharing.hpp"
#include "env/features/stages.hpp"
#include "env/simulator.hpp"

namespace berth {

// A step is work on GPUs and, with feature stages, work on CPU cores and transfers beside it. What is done to
// a GPU slows the first alone: whoever shares it, a replica beside, its clock; so does a spread gang's longer
// exchange of gradients. Then the stages say what of that is felt.
double EffectiveRate(const Scenario& scenario, const SimState& s, int job) {
  const auto j = static_cast<std::size_t>(job);
  const int type = s.on_type[j], partner = s.partner[j];
  const double alone = scenario.RateAt(job, type, s.Width(job));
  double rate = partner < 0 ? alone : scenario.PairRate(job, partner, type);
  double pace = 1.0;  // of GPU work that is not the step's own
  const auto slow = [&](double factor) { rate *= factor, pace *= factor; };
  if (s.stages && partner >= 0 && alone > 0.0) pace = rate / alone;
  if (s.services) slow(ServiceEngine::RateFactor(scenario, s, job));
  if (s.placement) rate *= PlacementEngine::Factor(scenario, s, job);
  if (s.power) slow(PowerEngine::Speed(scenario, s, job));
  if (s.sharing) slow(SharingEngine::Factor(scenario, s, job));
  if (s.stages) rate *= StageEngine::RateFactor(scenario, s, job, rate, pace);
  return rate;
}

double Simulator::EffectiveRate(int job) const {
  return berth::EffectiveRate(scenario_, state_, job);
}

}  // namespace berth
