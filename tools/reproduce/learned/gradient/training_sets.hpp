// What `reproduce learned` trains by gradient alone, for the experiments seeds and ablations: `berth train
// OPTIONS --steps N --seed S`, the last policy of every seed, none chosen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/reproduce/learned/recipes.hpp"

namespace berth {

inline constexpr std::int64_t kMillion = 1'000'000;  // steps
inline constexpr std::int64_t kQuickShare = 50;      // --quick trains a fiftieth of the steps

// What the policies of a set are measured on (gradient_task.hpp).
enum class MeasuredOn { kSingles, kGangs, kSixLoads };

struct TrainingSet {
  const char* name;        // policies are NAME_STEPS_SEED.h5
  const char* experiment;  // that needs it: "seeds" or "ablations"
  const char* what;        // as the page says it
  MeasuredOn on;
  RecipeOptions options;            // of berth train, in order, without steps and seed; none: its defaults
  std::vector<std::int64_t> steps;  // trainings of their own, since schedules end with the last step
  int seeds;                        // training seeds 1 .. seeds at most
  double us_a_step;                 // of one core, for estimates
  bool Draws() const;  // its policies are distributions: drawing is measured beside greedy (seeds alone)
};
const std::vector<TrainingSet>& TrainingSets();
const TrainingSet& SetNamed(const std::string& name);

// What the options of a page ask for.
struct GradientChoice {
  std::string out;               // the page's folder; "" = none, nothing is kept
  int begin = 1, end = 17;       // training seeds
  std::int64_t steps_up_to = 0;  // longer trainings are left out; 0: all are
  bool quick = false;
  bool any_source = false;  // kept policies of other builds of Berth count too
};

struct Training {
  const TrainingSet* set;
  std::int64_t steps;  // that are trained
  int seed;
  std::string Name() const;                // "gangs_1000000_3"
  std::vector<std::string> Words() const;  // behind `berth train`, without --out
  std::string Key() const;                 // what decides the policy, its source aside
  double Seconds() const;                  // of one core, about
};
// Of a set at one of its numbers of steps, every seed of the choice, whether --steps-up-to allows it or not.
std::vector<Training> TrainingsOf(const GradientChoice& choice, const TrainingSet& set, std::int64_t steps);
// All that the experiment asks for, the short ones first: what --steps-up-to allows.
std::vector<Training> TrainingsOf(const GradientChoice& choice, const std::string& experiment);

}  // namespace berth
