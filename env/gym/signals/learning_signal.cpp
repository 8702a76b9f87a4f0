#include "env/gym/signals/learning_signal.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace berth {
namespace {

constexpr const char* kReward = "reward";
constexpr const char* kAuto = "auto";

// What `wanted` comes to; null: the reward.
const PotentialInfo* Choose(const std::string& wanted, const MdpSpec& mdp) {
  const std::span<const PotentialInfo> known = Potentials();
  if (wanted == kReward) return nullptr;
  if (wanted == kAuto) {
    const auto it =
        std::find_if(known.begin(), known.end(), [&](const auto& info) { return info.knows(mdp); });
    return it == known.end() ? nullptr : &*it;
  }
  const auto it =
      std::find_if(known.begin(), known.end(), [&](const auto& info) { return info.name == wanted; });
  if (it == known.end()) {
    std::vector<std::string> names = {kReward, kAuto};
    for (const PotentialInfo& info : known) names.emplace_back(info.name);
    throw Error(Join("signal: expected auto, reward or a potential of 'berth list signals', found '", wanted,
                     "'", DidYouMean(wanted, names)));
  }
  if (!it->knows(mdp)) {
    throw Error(Join("signal ", wanted, ": expected a reward with jct or slowdown among its terms, found ",
                     mdp.reward, "; signal=reward learns from that itself"));
  }
  return &*it;
}

}  // namespace

std::span<const PotentialInfo> Potentials() {
  static const PotentialInfo kPotentials[] = {WsptInfo()};
  return kPotentials;
}

LearningSignal::LearningSignal(const std::string& text, const MdpSpec& mdp) : name_(kReward) {
  Spec spec = ParseSpec(text);
  const PotentialInfo* info = Choose(spec.name, mdp);
  if (info == nullptr) {
    Params(spec, {}).CheckAllRead();
    return;
  }
  spec.name = info->name;
  std::vector<ParamInfo> params(info->params.begin(), info->params.end());
  params.push_back(kArrivals);
  Params read(spec, params);
  potential_ = info->make(read, mdp);
  arrivals_ = static_cast<Arrivals>(read.Choice("arrivals", {"omitted", "expected", "counted"}));
  read.CheckAllRead();
  name_ = read.Resolved();
}

void LearningSignal::Begin(const Simulator& simulator) {
  if (potential_ == nullptr) return;
  potential_->Begin(simulator);
  arrived_ = simulator.arrived_jobs();
  before_ = potential_->Of(simulator, arrived_);
}

double LearningSignal::Settle(const Simulator& simulator, double reward, double elapsed) {
  if (potential_ == nullptr) return reward;
  const Potential::Value now = potential_->Of(simulator, arrived_);
  double signal = reward + before_.all - (arrivals_ == Arrivals::kCounted ? now.all : now.known);
  if (arrivals_ == Arrivals::kExpected) signal -= elapsed * 0.5 * (before_.growth + now.known_growth);
  before_ = now;
  arrived_ = simulator.arrived_jobs();
  return signal;
}

}  // namespace berth
