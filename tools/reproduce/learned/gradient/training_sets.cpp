#include "tools/reproduce/learned/gradient/training_sets.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "tools/validation.hpp"

namespace berth {
namespace {

constexpr int kSeeds = 1000;  // as many as are asked for
constexpr int kAblationSeeds = 8;
constexpr double kPpo = 10.0, kMany = 12.0, kDqn = 40.0;  // us a step

TrainingSet Ablation(const char* name, const char* what, RecipeOptions options, double us_a_step = kPpo) {
  return {name,           "ablations",    what,     MeasuredOn::kGangs, std::move(options),
          {kMillion / 2}, kAblationSeeds, us_a_step};
}

}  // namespace

const std::vector<TrainingSet>& TrainingSets() {
  static const std::vector<TrainingSet> all = {
      {"singles",
       "seeds",
       "single jobs, PPO",
       MeasuredOn::kSingles,
       {{"workload", "synthetic(rate=1.8,jobs=1000)"}},
       {kMillion / 2, kMillion, 10 * kMillion},
       kSeeds,
       kPpo},
      {"gangs",
       "seeds",
       "the default workload, PPO",
       MeasuredOn::kGangs,
       {},
       {kMillion, 2 * kMillion, 5 * kMillion, 10 * kMillion, 20 * kMillion},
       kSeeds,
       kPpo},
      {"oracle",
       "seeds",
       "many clusters, PPO",
       MeasuredOn::kSixLoads,
       {{"recipe", "many_clusters"}},
       {2 * kMillion, 20 * kMillion},
       kSeeds,
       kMany},
      {"blind",
       "seeds",
       "many clusters, blind, PPO",
       MeasuredOn::kSixLoads,
       {{"recipe", "many_clusters"}, {"knowledge", "blind"}},
       {2 * kMillion, 20 * kMillion},
       kSeeds,
       kMany},
      {"singles_dqn",
       "seeds",
       "single jobs, DQN",
       MeasuredOn::kSingles,
       {{"agent", "dqn"}, {"workload", "synthetic(rate=1.8,jobs=1000)"}},
       {kMillion / 2},
       kSeeds,
       kDqn},
      {"gangs_dqn",
       "seeds",
       "the default workload, DQN",
       MeasuredOn::kGangs,
       {{"agent", "dqn"}},
       {kMillion},
       kSeeds,
       kDqn},

      Ablation("ablation_defaults", "the defaults", {}),
      Ablation("ablation_counted", "arrivals counted in the estimate: shaping alone",
               {{"signal", "wspt(arrivals=counted)"}}),
      Ablation("ablation_expected", "what arrivals add on average taken off: unbiased",
               {{"signal", "wspt(arrivals=expected)"}}),
      Ablation("ablation_no_delay", "time left alone, not the work before it", {{"signal", "wspt(delay=0)"}}),
      Ablation("ablation_exponent", "gangs count as their GPUs", {{"signal", "wspt(exponent=1)"}}),
      Ablation("ablation_reward", "the reward itself", {{"signal", "reward"}}),
      Ablation("ablation_entropy", "an entropy bonus that stays", {{"agent", "ppo(ent_schedule=constant)"}}),
      Ablation("ablation_observation", "the plain observation", {{"encoder", "ObservationV1"}}),
      Ablation("ablation_one_member", "one member that has all the steps", {{"members", "1"}}),
      Ablation("ablation_no_skip", "no linear path to the scores", {{"network", "pair_scorer(width=8)"}}),
      Ablation("ablation_16_envs", "half the environments", {{"envs", "16"}}),
  };
  return all;
}

const TrainingSet& SetNamed(const std::string& name) {
  const auto& all = TrainingSets();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const TrainingSet& s) { return name == s.name; });
  BERTH_CHECK(found != all.end(), name);
  return *found;
}

bool TrainingSet::Draws() const {
  const bool by_scores = std::all_of(options.begin(), options.end(), [](const auto& option) {
    return option.first != "agent" || DrawsByScores(option.second);
  });
  return by_scores && std::string(experiment) == "seeds";
}

std::string Training::Name() const {
  return Join(set->name, "_", steps, "_", seed);
}

// Nothing is kept of validations, and they change nothing of the training; a thread each, since trainings run
// beside each other.
std::vector<std::string> Training::Words() const {
  std::vector<std::string> words;
  for (const auto& [name, value] : set->options) words.insert(words.end(), {"--" + name, value});
  words.insert(words.end(), {"--steps", std::to_string(steps), "--seed", std::to_string(seed), "--validate",
                             "0", "--threads", "1"});
  return words;
}

std::string Training::Key() const {
  std::string key = "berth train";
  for (const std::string& word : Words()) key += " " + word;
  return key;
}

double Training::Seconds() const {
  constexpr double kStart = 1.0;  // LibTorch is loaded, the policy exported
  return kStart + 1e-6 * set->us_a_step * static_cast<double>(steps);
}

std::vector<Training> TrainingsOf(const GradientChoice& choice, const TrainingSet& set, std::int64_t steps) {
  std::vector<Training> trainings;
  for (int seed = std::max(1, choice.begin); seed < choice.end && seed <= set.seeds; ++seed)
    trainings.push_back({&set, choice.quick ? steps / kQuickShare : steps, seed});
  return trainings;
}

std::vector<Training> TrainingsOf(const GradientChoice& choice, const std::string& experiment) {
  std::vector<Training> all;
  for (const TrainingSet& set : TrainingSets()) {
    if (experiment != set.experiment) continue;
    for (const std::int64_t steps : set.steps) {
      if (steps > choice.steps_up_to) continue;
      for (const Training& training : TrainingsOf(choice, set, steps)) all.push_back(training);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Training& a, const Training& b) { return a.Seconds() < b.Seconds(); });
  return all;
}

}  // namespace berth
