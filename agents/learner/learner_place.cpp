#include "agents/learner/learner_place.hpp"

#include "env/base/check.hpp"

namespace berth {

LearnerPlace ReadLearnerPlace(Params& params) {
  constexpr LearnerPlace kPlaces[] = {LearnerPlace::kAuto, LearnerPlace::kHost, LearnerPlace::kDevice};
  return kPlaces[params.Choice("learner", {"auto", "host", "device"})];
}

std::optional<OnDevice> PlaceLearner(LearnerPlace place, const AgentSetup& setup, const std::string& agent,
                                     std::string* found, const std::string& obstacle) {
  const bool wanted =
      place == LearnerPlace::kDevice || (place == LearnerPlace::kAuto && setup.device.is_cuda());
  std::string expected = "this build's kernels for the GPU", why = "one on the host";
  std::optional<OnDevice> on;
  if (wanted && !obstacle.empty()) {
    expected = "what every rank has equally many of", why = obstacle;
  } else if (wanted && setup.ranks.many() && !setup.ranks.group().SumsInPlace()) {
    expected = "gradients that stay on the GPUs", why = setup.ranks.group().Gradients();
  } else if (wanted) {
    on = MakeOnDevice(setup.device, &why);
  }
  if (!on && place == LearnerPlace::kDevice)
    throw Error(Join(agent, ": learner=device: expected ", expected, ", found ", why));
  if (found != nullptr) *found = why;
  return on;
}

LearnerPlace PlaceWithMemory(LearnerPlace place, const AgentSetup& setup, const std::string& agent) {
  if (setup.memory == 0) return place;
  if (place == LearnerPlace::kDevice) {
    throw Error(Join(agent, ": learner=device: expected a network without memory, found ", setup.network,
                     "; the learner on the host takes it (learner=host), on any device"));
  }
  return LearnerPlace::kHost;
}

}  // namespace berth
