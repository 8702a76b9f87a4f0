#include "tools/tune/examples.hpp"

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/gym/sched_env.hpp"
#include "policies/inference.hpp"

namespace berth {

void AddExamples(const Scenario& scenario, PolicyBundle& bundle) {
  constexpr int kExamples = 16, kEvery = 8;
  SchedEnvOptions options;
  options.mdp = bundle.mdp;
  options.warmup_jobs = 0;
  options.episode_jobs = scenario.num_jobs();
  SchedEnv env(FixedSource(scenario, "examples"), options, 0);
  env.Begin(0);
  const auto network = Freeze(bundle);
  std::vector<float> scores(U(env.num_actions()));
  BundleExamples& examples = bundle.examples;
  examples = {};
  for (int step = 0; examples.count < kExamples; ++step) {
    const float value = network->Evaluate(env.observation(), env.layout(), scores);
    const std::span<const std::uint8_t> mask = env.mask();
    if (step % kEvery == 0) {
      ++examples.count;
      examples.observation.insert(examples.observation.end(), env.observation().begin(),
                                  env.observation().end());
      examples.mask.insert(examples.mask.end(), mask.begin(), mask.end());
      examples.scores.insert(examples.scores.end(), scores.begin(), scores.end());
      examples.value.push_back(value);
    }
    std::size_t best = scores.size();
    for (std::size_t a = 0; a < scores.size(); ++a) {
      if (mask[a] != 0 && (best == scores.size() || scores[a] > scores[best])) best = a;
    }
    const SchedEnv::Outcome outcome = env.Step(static_cast<int>(best));
    if (outcome.terminated || outcome.truncated) return;
  }
}

}  // namespace berth
