// How fast a job runs where it now stands, when features say more than the throughput table. Every factor is
// here, in the order in which they multiply.
#include "env/simulator.hpp"

namespace berth {

double Simulator::EffectiveRate(int job) const {
  const auto j = static_cast<std::size_t>(job);
  const int type = state_.on_type[j];
  const int partner = state_.partner[j];
  return partner < 0 ? scenario_.RateAt(job, type, state_.Width(job))
                     : scenario_.PairRate(job, partner, type);
}

}  // namespace berth
