// Which jobs an episode has: a generator's next ones, or a random piece of a fixed scenario.
#pragma once

#include <cstdint>

#include "env/gym/scenario_source.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

struct EpisodeDraw {
  Scenario scenario;
  bool endless;  // more jobs would come: the episode is cut, it does not drain
};

// `wanted` jobs of a generator. A fixed scenario gives a uniformly drawn piece of as many of its jobs
// `allowed`, where it has more than that; else all of them. A pure function of its arguments.
EpisodeDraw DrawEpisode(const ScenarioSource& source, Window allowed, std::uint64_t seed, Split split,
                        std::uint32_t env, std::uint32_t episode, int wanted);

// Where the piece begins that DrawEpisode gives of a fixed scenario. REQUIRES: `allowed` has an end.
int DrawBegin(Window allowed, std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
              int wanted);

// Throws Error where `allowed` is no range of a fixed source's jobs, or there are none. `probe` is of the
// source.
void CheckJobs(const ScenarioSource& source, Window allowed, const Scenario& probe);

}  // namespace berth
