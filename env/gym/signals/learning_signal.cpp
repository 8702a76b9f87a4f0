#include "env/gym/signals/learning_signal.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace berth {
namespace {

constexpr const char* kReward = "reward";
constexpr const char* kAuto = "auto";

const PotentialInfo& FindPotential(const std::string& wanted, const MdpSpec& mdp) {
  const std::span<const PotentialInfo> known = Potentials();
  const auto it =
      std::find_if(known.begin(), known.end(), [&](const auto& info) { return info.name == wanted; });
  if (it == known.end()) {
    std::vector<std::string> names = {kReward, kAuto};
    for (const PotentialInfo& info : known) names.emplace_back(info.name);
    throw Error(Join("signal: expected auto, reward or a sum of potentials of 'berth list signals', found '",
                     wanted, "'", DidYouMean(wanted, names)));
  }
  if (!it->knows(mdp)) {
    throw Error(Join("signal ", wanted, ": expected a reward with a term of ", it->terms, ", found ",
                     mdp.reward, "; signal=auto takes what knows a term of it, or the reward itself"));
  }
  return *it;
}

// What `text` comes to; none: the reward.
std::vector<Spec> Choose(const std::string& text, const MdpSpec& mdp) {
  std::vector<Spec> specs;
  for (const std::string& part : SplitOutsideParentheses(text, '+')) specs.push_back(ParseSpec(part));
  if (specs.empty()) FindPotential(text, mdp);  // throws
  const std::string alone = specs.size() == 1 ? specs[0].name : "";
  if (alone != kReward && alone != kAuto) return specs;
  Params(specs[0], {}).CheckAllRead();
  specs.clear();
  for (const PotentialInfo& info : Potentials()) {
    if (alone == kAuto && !info.on_request && info.knows(mdp)) specs.push_back({info.name, {}});
  }
  return specs;
}

}  // namespace

std::span<const PotentialInfo> Potentials() {
  static const PotentialInfo kPotentials[] = {WsptInfo(), WorkInfo(), CriticalRatioInfo(), EvenShareInfo()};
  return kPotentials;
}

LearningSignal::LearningSignal(const std::string& text, const MdpSpec& mdp) {
  std::set<std::string> seen;
  for (const Spec& spec : Choose(text, mdp)) {
    if (!seen.insert(spec.name).second) throw Error(Join("signal ", text, ": ", spec.name, " twice"));
    Add(spec, FindPotential(spec.name, mdp), mdp);
  }
  if (terms_.empty()) name_ = kReward;
}

void LearningSignal::Add(const Spec& spec, const PotentialInfo& info, const MdpSpec& mdp) {
  std::vector<ParamInfo> params(info.params.begin(), info.params.end());
  params.push_back(kArrivals);
  Params read(spec, params);
  std::unique_ptr<Potential> potential = info.make(read, mdp);
  terms_.push_back({std::move(potential),
                    static_cast<Arrivals>(read.Choice("arrivals", {"omitted", "expected", "counted"}))});
  read.CheckAllRead();
  if (!name_.empty()) name_ += '+';
  name_ += read.Resolved();
}

void LearningSignal::Begin(const Simulator& simulator) {
  arrived_ = simulator.arrived_jobs();
  for (Term& term : terms_) {
    term.potential->Begin(simulator);
    term.before = term.potential->Of(simulator, arrived_, term.arrivals == Arrivals::kExpected);
  }
}

double LearningSignal::Settle(const Simulator& simulator, double reward, double elapsed) {
  double signal = reward;
  for (Term& term : terms_) {
    const bool expected = term.arrivals == Arrivals::kExpected;
    const Potential::Value now = term.potential->Of(simulator, arrived_, expected);
    signal = signal + term.before.all - (term.arrivals == Arrivals::kCounted ? now.all : now.known);
    if (expected) signal -= elapsed * 0.5 * (term.before.growth + now.known_growth);
    term.before = now;
  }
  arrived_ = simulator.arrived_jobs();
  return signal;
}

}  // namespace berth
