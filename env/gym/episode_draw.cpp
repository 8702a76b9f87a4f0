#include "env/gym/episode_draw.hpp"

#include "env/base/check.hpp"
#include "env/base/rng.hpp"

namespace berth {
namespace {

// A batch: when it is done nothing more comes.
bool AtOnce(const Scenario& scenario) {
  const std::vector<double>& arrival = scenario.data().jobs.arrival;
  return !arrival.empty() && arrival.front() == arrival.back();
}

}  // namespace

EpisodeDraw DrawEpisode(const ScenarioSource& source, Window allowed, std::uint64_t seed, Split split,
                        std::uint32_t env, std::uint32_t episode, int wanted) {
  EpisodeDraw draw{source.Make(seed, split, env, episode, wanted), false};
  if (!source.fixed()) {
    draw.endless = !AtOnce(draw.scenario);
    return draw;
  }
  if (allowed.end < 0) allowed.end = draw.scenario.num_jobs();
  const int begin = DrawBegin(allowed, seed, split, env, episode, wanted);
  int end = allowed.end;
  if (end - allowed.begin > wanted) {
    end = begin + wanted;
    draw.endless = !AtOnce(draw.scenario);
  }
  if (begin > 0 || end < draw.scenario.num_jobs()) draw.scenario = Slice(draw.scenario, begin, end);
  return draw;
}

int DrawBegin(Window allowed, std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
              int wanted) {
  const int later = allowed.end - allowed.begin - wanted;
  if (later <= 0) return allowed.begin;
  Stream stream(seed, Purpose::kReplay, split, env, episode);
  return allowed.begin + static_cast<int>(stream.Below(static_cast<std::uint32_t>(later) + 1));
}

void CheckJobs(const ScenarioSource& source, Window allowed, const Scenario& probe) {
  const int last = allowed.end < 0 ? probe.num_jobs() : allowed.end;
  if (source.fixed() && (allowed.begin < 0 || allowed.begin >= last || last > probe.num_jobs())) {
    throw Error(Join("jobs to train on: expected a range within the scenario's ", probe.num_jobs(),
                     ", found ", allowed.begin, ":", last));
  }
  if (probe.num_jobs() == 0) throw Error(Join(source.Describe(), ": expected at least one job, found none"));
}

}  // namespace berth
