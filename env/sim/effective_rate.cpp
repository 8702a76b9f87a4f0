#include "env/sim/effective_rate.hpp"

#include "env/sim/core.hpp"

namespace berth {

namespace {

// A step is work on GPUs and, where a feature says so, other stages beside it. What is done to a GPU slows
// its work alone: whoever shares it, its clock. A spread gang's longer exchange of gradients is time on the
// network, the same at any clock. Then the stages say what of that is felt.
struct GpuWork {
  double rate;  // steps/s, were there no other stages
  double pace;  // of GPU work that is not the step's own
};

GpuWork OnGpus(const Scenario& scenario, const SimState& s, int job, bool full_clocks) {
  const auto j = static_cast<std::size_t>(job);
  const int type = s.on_type[j], partner = s.partner[j];
  const double alone = scenario.RateAt(job, type, s.Width(job));
  double rate = partner < 0 ? alone : scenario.PairRate(job, partner, type);
  double pace = partner >= 0 && alone > 0.0 ? rate / alone : 1.0;
  double own = alone;  // together and undisturbed
  // From the last of the table: the order in which factors of more than one feature are rounded is kept.
  const std::vector<FeatureStates::Entry>& features = s.features.entries();
  for (auto feature = features.rbegin(); feature != features.rend(); ++feature) {
    if ((feature->listens & BitOf(Hook::kOwnFactor)) != 0) {
      const double factor = feature->state->OwnFactor(scenario, s, job);
      rate *= factor, own *= factor;
    }
    if ((feature->listens & BitOf(Hook::kGpuFactor)) != 0) {
      const double factor = feature->state->GpuFactor(scenario, s, job, full_clocks);
      rate *= factor, pace *= factor;
    }
  }
  double spread = 1.0;
  for (const FeatureState& feature : s.features.Of(Hook::kSpreadFactor))
    spread *= feature.SpreadFactor(scenario, s, job, own);
  if (rate == own) {
    rate *= spread;
  } else if (spread < 1.0) {  // a step alone takes 1 / (own spread) s, of which this is the longer exchange
    rate = 1.0 / (1.0 / rate + (1.0 / spread - 1.0) / own);
  }
  return {rate, pace};
}

}  // namespace

double EffectiveRate(const Scenario& scenario, const SimState& s, int job) {
  auto [rate, pace] = OnGpus(scenario, s, job, /*full_clocks=*/false);
  for (const FeatureState& feature : s.features.Of(Hook::kStepFactor))
    rate *= feature.StepFactor(scenario, s, job, rate, pace);
  return rate;
}

double GpuBusyShare(const Scenario& scenario, const SimState& s, int job) {
  for (const FeatureState& feature : s.features.Of(Hook::kBusyShare)) {
    const auto [rate, pace] = OnGpus(scenario, s, job, /*full_clocks=*/true);
    return feature.BusyShare(scenario, s, job, rate, pace);
  }
  return 1.0;
}

double SimCore::FeaturedRate(int job) const {
  return EffectiveRate(scenario_, state_, job);
}

}  // namespace berth
