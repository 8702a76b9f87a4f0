// Returns of the episodes that a task's environments have ended. Kept by environment, so that several threads
// may step different ones, and summed in their order, so that any number of threads gives the same sum.
#pragma once

#include <cstddef>
#include <vector>

#include "env/gym/batch_env.hpp"

namespace berth {

class EndedEpisodes {
 public:
  explicit EndedEpisodes(int num_envs) : ended_(static_cast<std::size_t>(num_envs)) {}
  void Add(std::size_t env, double episode_return) {
    ++ended_[env].episodes;
    ended_[env].return_sum += episode_return;
  }
  // What BatchEnv::TakeStats says: since the last call; the metric is the return.
  EpisodeStats Take() {
    EpisodeStats stats;
    for (Ended& ended : ended_) {
      stats.episodes += ended.episodes;
      stats.return_sum += ended.return_sum;
      ended = {};
    }
    stats.measured = stats.episodes;
    stats.metric_sum = stats.return_sum;
    return stats;
  }

 private:
  struct Ended {
    std::int64_t episodes = 0;
    double return_sum = 0.0;
  };
  std::vector<Ended> ended_;  // [N]
};

}  // namespace berth
