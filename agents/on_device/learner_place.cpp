#include "agents/on_device/learner_place.hpp"

#include "env/check.hpp"

namespace berth {

LearnerPlace ReadLearnerPlace(Params& params) {
  constexpr LearnerPlace kPlaces[] = {LearnerPlace::kAuto, LearnerPlace::kHost, LearnerPlace::kDevice};
  return kPlaces[params.Choice("learner", {"auto", "host", "device"})];
}

std::optional<OnDevice> PlaceLearner(LearnerPlace place, const AgentSetup& setup, const std::string& agent,
                                     std::string* found) {
  const bool wanted =
      place == LearnerPlace::kDevice || (place == LearnerPlace::kAuto && setup.device.is_cuda());
  std::string why = "one on the host";
  std::optional<OnDevice> on =
      wanted && !setup.ranks.many() ? MakeOnDevice(setup.device, &why) : std::nullopt;
  if (wanted && setup.ranks.many())
    why = Join(setup.ranks.size(), " processes, which learn on the host together");
  if (!on && place == LearnerPlace::kDevice)
    throw Error(Join(agent, ": learner=device: expected this build's kernels for the GPU, found ", why));
  if (found != nullptr) *found = why;
  return on;
}

}  // namespace berth
