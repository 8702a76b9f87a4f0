#include "tools/python/vector_environment.hpp"

#include <cstring>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

IllegalAction ParseIllegal(const std::string& text) {
  const std::vector<std::string> names{"next_legal", "error"};
  if (text == names[0]) return IllegalAction::kNextLegal;
  if (text == names[1]) return IllegalAction::kError;
  throw Error(Join("illegal: expected next_legal or error, found '", text, "'", DidYouMean(text, names)));
}

// The first legal action from `from` on, beginning again after the last one. There is one unless somebody
// wrote into the mask, which the caller of Step can get at: so that is an Error and no check of ours.
std::size_t NextLegal(std::span<const std::uint8_t> mask, std::size_t from) {
  const void* found = std::memchr(mask.data() + from, 1, mask.size() - from);
  if (found == nullptr) found = std::memchr(mask.data(), 1, from);
  if (found == nullptr) throw Error("action_mask: expected a legal action, found none: was it written to?");
  return static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - mask.data());
}

}  // namespace

VectorEnvironment::VectorEnvironment(const std::string& name,
                                     const std::map<std::string, std::string>& keywords, int num_envs,
                                     int threads, const std::string& illegal, const EnvironmentExtras& extras)
    : named_(ResolveEnvironment(name, keywords, extras)),
      num_envs_(num_envs),
      threads_(threads),
      illegal_(ParseIllegal(illegal)),
      env_(named_.make(named_.seed, num_envs, threads)),
      storage_(2, StepStorage(num_envs, env_->layout().size(), env_->num_actions())),
      played_(U(num_envs)) {}

void VectorEnvironment::Reset(std::optional<std::uint64_t> seed) {
  begun_ = false;
  if (seed) {
    env_ = named_.make(*seed, num_envs_, threads_);
    drawn_ = false;
  }
  turn_ ^= 1;
  const StepBuffers out = storage(turn_).buffers();
  if (drawn_) {
    env_->NextEpisodes(out);
  } else {
    env_->Reset(out);
  }
  drawn_ = begun_ = true;
}

const Simulator& VectorEnvironment::SimulatorOf(int env) const {
  if (!begun_) throw Error("time, signature: expected a reset before them, found none");
  return env_->simulator(env);
}

bool VectorEnvironment::Step(std::span<const std::int64_t> actions) {
  if (!begun_) throw Error("step: expected a reset before it, found none");
  const auto width = U(num_actions());
  const std::span<const std::uint8_t> masks = storage(turn_).action_mask;
  replaced_ = 0;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const std::int64_t asked = actions[i];  // read once: it is the caller's, who may have other threads
    if (asked < 0 || asked >= num_actions()) {
      throw Error(Join("actions: expected numbers from 0 to ", num_actions() - 1, ", found ", asked,
                       " for environment ", i));
    }
    const std::span<const std::uint8_t> mask = masks.subspan(i * width, width);
    auto action = static_cast<std::size_t>(asked);
    if (mask[action] == 0) {
      if (illegal_ == IllegalAction::kError) {
        throw Error(Join("actions: expected legal ones, found ", action, " for environment ", i,
                         ", which its action mask forbids"));
      }
      action = NextLegal(mask, action);
      ++replaced_;
    }
    played_[i] = static_cast<std::int32_t>(action);
  }
  turn_ ^= 1;
  StepStorage& out = storage(turn_);
  begun_ = false;
  env_->Step(played_, out.buffers());
  begun_ = true;
  return std::memchr(out.terminated.data(), 1, out.terminated.size()) != nullptr ||
         std::memchr(out.truncated.data(), 1, out.truncated.size()) != nullptr;
}

}  // namespace berth
