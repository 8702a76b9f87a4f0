#include "env/sim/effective_rate.hpp"

#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/features/stages/stages.hpp"
#include "env/features/topology/placement_engine.hpp"
#include "env/sim/simulator.hpp"

namespace berth {

namespace {

// A step is work on GPUs and, with feature stages, work on CPU cores and transfers beside it. What is done to
// a GPU slows its work alone: whoever shares it, a replica beside, its clock. A spread gang's longer exchange
// of gradients is time on the network, the same at any clock. Then the stages say what of that is felt.
struct GpuWork {
  double rate;  // steps/s, were there no other stages
  double pace;  // of GPU work that is not the step's own
};

GpuWork OnGpus(const Scenario& scenario, const SimState& s, int job, bool full_clocks) {
  const auto j = static_cast<std::size_t>(job);
  const int type = s.on_type[j], partner = s.partner[j];
  const double alone = scenario.RateAt(job, type, s.Width(job));
  double rate = partner < 0 ? alone : scenario.PairRate(job, partner, type);
  double pace = 1.0;
  const auto slow = [&](double factor) { rate *= factor, pace *= factor; };
  if (s.stages && partner >= 0 && alone > 0.0) pace = rate / alone;
  if (s.services) slow(ServiceEngine::RateFactor(scenario, s, job));
  if (s.power && !full_clocks) slow(PowerEngine::Speed(scenario, s, job));
  if (s.sharing) slow(SharingEngine::Factor(scenario, s, job));
  if (!s.placement) return {rate, pace};
  const double spread = PlacementEngine::Factor(scenario, s, job);
  if (rate == alone) {
    rate *= spread;
  } else if (spread < 1.0) {  // a step alone takes 1 / (alone spread) s, of which this is the longer exchange
    rate = 1.0 / (1.0 / rate + (1.0 / spread - 1.0) / alone);
  }
  return {rate, pace};
}

}  // namespace

double EffectiveRate(const Scenario& scenario, const SimState& s, int job) {
  const auto [rate, pace] = OnGpus(scenario, s, job, /*full_clocks=*/false);
  return s.stages ? rate * StageEngine::RateFactor(scenario, s, job, rate, pace) : rate;
}

double GpuBusyShare(const Scenario& scenario, const SimState& s, int job) {
  if (!s.stages) return 1.0;
  const auto [rate, pace] = OnGpus(scenario, s, job, /*full_clocks=*/true);
  return StageEngine::BusyShare(scenario, s, job, rate, pace);
}

double Simulator::EffectiveRate(int job) const {
  return berth::EffectiveRate(scenario_, state_, job);
}

}  // namespace berth
