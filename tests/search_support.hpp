// A whole search of candidates, as `berth tune` puts it together.
#pragma once

#include "agents/search/cma_es.hpp"
#include "agents/search/mirrored_noise.hpp"
#include "tools/tune/trials.hpp"

namespace berth::test {

inline search::Space Times(search::Space space, double step) {
  for (double& scale : space.scales) scale *= step;
  return space;
}

inline search::Found SearchBy(search::Optimiser& optimiser, const Tunable& candidates, const Trials& trials,
                              int generations) {
  search::Settings settings;
  settings.budget = {generations, 0.0, trials.settings().interrupted};
  settings.choose = trials.settings().choices > 0;
  return Run(optimiser, candidates.Space().start, ObjectiveOf(trials, candidates), settings);
}

inline search::Found SearchByCmaEs(const Tunable& candidates, const Trials& trials, int generations,
                                   double step, int population = 0) {
  search::CmaEs optimiser(Times(candidates.Space(), step), trials.settings().seed, population);
  return SearchBy(optimiser, candidates, trials, generations);
}

}  // namespace berth::test
