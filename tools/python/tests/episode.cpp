// Plays environment 0 of a name and keywords by the actions of a file, without Python, and prints what came
// of it:
//
//   berth_episode NAME ACTIONS [keyword=value ...]
//   -> steps=N crc32=X reward=R signature=S
//
// crc32 is over observation, action mask, reward, discount, terminated and truncated, as bytes, of the reset
// and of every step; an end begins the next episode, and of it the final observation counts too. signature is
// of the event log before the last step.
#include <zlib.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include "env/base/check.hpp"
#include "tools/python/environments.hpp"

namespace berth {
namespace {

template <class T>
void Add(unsigned long& crc, const std::vector<T>& values) {
  crc =
      crc32(crc, reinterpret_cast<const Bytef*>(values.data()), static_cast<uInt>(values.size() * sizeof(T)));
}

int Play(const std::vector<std::string>& words) {
  if (words.size() < 2) throw Error("usage: berth_episode NAME ACTIONS [keyword=value ...]");
  std::map<std::string, std::string> keywords;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    if (equals == std::string::npos) throw Error(Join("expected keyword=value, found '", words[i], "'"));
    keywords[words[i].substr(0, equals)] = words[i].substr(equals + 1);
  }
  std::ifstream file(words[1]);
  const std::vector<std::int32_t> actions(std::istream_iterator<std::int32_t>(file), {});
  const NamedEnvironment named = ResolveEnvironment(words[0], keywords);
  const std::unique_ptr<VecEnv> env = named.make(named.seed, /*num_envs=*/1, /*threads=*/1);
  StepStorage storage(1, env->layout().size(), env->num_actions());
  env->Reset(storage.buffers());
  unsigned long crc = 0;
  Add(crc, storage.observation), Add(crc, storage.action_mask);
  double reward = 0.0;
  std::uint64_t signature = 0;
  for (const std::int32_t action : actions) {
    if (action < 0 || action >= env->num_actions() ||
        storage.action_mask[static_cast<std::size_t>(action)] == 0)
      throw Error(Join("action ", action, " is not legal"));
    signature = env->simulator(0).signature();
    env->Step({&action, 1}, storage.buffers());
    Add(crc, storage.observation), Add(crc, storage.action_mask), Add(crc, storage.reward);
    Add(crc, storage.discount), Add(crc, storage.terminated), Add(crc, storage.truncated);
    if (storage.terminated[0] != 0 || storage.truncated[0] != 0) Add(crc, storage.final_observation);
    reward += static_cast<double>(storage.reward[0]);
  }
  std::printf("steps=%zu crc32=%08lx reward=%.17g signature=%016" PRIx64 "\n", actions.size(), crc, reward,
              signature);
  return 0;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  try {
    return berth::Play({argv + 1, argv + argc});
  } catch (const berth::Error& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
