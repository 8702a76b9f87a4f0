// Encoders written without memory or shortcuts, as oracles of those in env/.
#pragma once

#include <vector>

#include "env/gym/encoder.hpp"
#include "env/gym/mdp.hpp"

namespace berth::test {

// ObservationV1, every number worked out afresh.
std::vector<float> PlainObservationV1(const ObservationInput& input, const MdpSpec& mdp,
                                      const ObservationLayout& layout);

// RLScheduler's observation as its paper's code describes it: sorts the whole queue, asks who is already
// visible by looking. `longest` s; on one type.
std::vector<float> PlainRlScheduler(const ObservationInput& input, double longest, int queue);
// Whom it shows.
std::vector<int> PlainRlSchedulerVisible(const ClusterView& view, std::vector<int> waiting, int queue);

}  // namespace berth::test
