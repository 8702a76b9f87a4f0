// The experiments of `berth reproduce learned`: one file and one line each. An experiment plans its runs;
// when all are done it writes its part of the page.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "env/sim/statistics.hpp"
#include "tools/reproduce/learned/gradient/training_sets.hpp"
#include "tools/reproduce/page.hpp"
#include "tools/reproduce/runs.hpp"

namespace berth {

// The shipped policies of `reproduce learned`: ROOM/NAME_1.h5, ROOM/NAME_2.h5, ... one a training seed, in
// the room that is called as the experiment of the recipe NAME (data/policies/README.md).
struct TrainedPolicy {
  int seed;          // of training, as its file is numbered
  std::string file;  // path
  std::string Spec(bool sample = false) const;
};

// Thread rule: any thread at once.
class PolicyShelf {
 public:
  // Training seeds [begin, end).
  PolicyShelf(std::string folder, int begin, int end)
      : folder_(std::move(folder)), begin_(begin), end_(end) {}

  const std::string& folder() const { return folder_; }
  std::string Path(const std::string& name, int seed) const;  // there or not; without a recipe in no room
  // Those that are there, by seed.
  std::vector<TrainedPolicy> Find(const std::string& name) const;
  // Names of the files that are not, "" when all are.
  std::string Missing(const std::string& name) const;
  // Specs of all that are there.
  std::vector<std::string> Specs(const std::string& name, bool sample = false) const;
  std::vector<std::string> SpecsBothWays(const std::string& name) const;  // and of those by gradient

 private:
  std::string folder_;
  int begin_, end_;
};

struct LearnedSettings {
  PolicyShelf policies;
  std::string traces;                    // "" = not there
  std::vector<std::uint64_t> workloads;  // seeds of the evaluation stream, at least 2
  int drawn = 8000;                      // jobs of row 1's workloads; 3000 to 4000 are measured
  bool quick = false;                    // fewer loads, workloads and schedulers
  GradientChoice gradient;               // what is trained for seeds and ablations
  std::string no_learners;               // why this build trains nothing, "" where it does
  std::map<std::string, std::string> failed_trainings;  // name, why
};

// What is asked of the learned policies (our own targets and publications), and whether it was met.
// kCannotBe: a bound says that no scheduler meets it. kWithdrawn: it compares what cannot be compared, or
// less than 1% is left to gain.
enum class Verdict { kMet, kNotMet, kNotMeasured, kCannotBe, kWithdrawn };
const char* ToString(Verdict verdict);  // "met", "**not met**", "not measured", "cannot be", "withdrawn"

struct Target {
  std::string row;       // of the page's table of targets: "1, oracle"
  std::string asked;     // "at least 15% below `srpt`"
  std::string measured;  // "-17.2% [-19.0, -15.4]", or why there is none
  Verdict verdict = Verdict::kNotMeasured;
};

// Ratio learned / other at most `bound`: by the estimate, or with the whole interval (`surely`). NaN: not
// measured.
Target RatioTarget(std::string row, std::string asked, const Interval& ratio, double bound, bool surely);
// A mean below a published figure.
Target ValueTarget(std::string row, std::string asked, double value, double bound, int decimals);
// No scheduler has a ratio below `least` on these workloads, so a target that is not met may be one that
// cannot be, or is not worth asking for.
void Bound(Target& target, double least, double asked);
// The same of a ratio that only its expectation is bounded by: `least` is an estimate, and the lower end of
// its interval decides.
void BoundInExpectation(Target& target, const Interval& least, double asked);
// One that knows all jobs was searched and has the ratio `searched`: what is left to gain, but no bound;
// above what is asked the search says nothing.
void Headroom(Target& target, double searched, double asked);
Target NotMeasured(std::string row, std::string asked, std::string why);

void WriteTargets(const std::vector<Target>& targets, ReproductionPage& page);

// "0.843 [0.821, 0.866]"; "-" where it is NaN.
std::string WithInterval(const Interval& interval, int decimals, double unit = 1.0);

// What stands behind the whole page: what was measured against what is asked for.
struct LearnedPage {
  ReproductionPage page;
  std::vector<Target> targets;
  std::vector<ReproductionPage::Cells> two_ways;  // rows (two_ways.hpp)
};

// X(name, Name, summary): PlanName and ReportName. In the order of the page.
#define BERTH_LEARNED_EXPERIMENTS(X)                                                                 \
  X("seeds", Seeds, "policies by gradient alone, trained here: every seed, against the best rules")  \
  X("cluster", Cluster, "108 GPUs of three types, six loads, against every registered scheduler")    \
  X("bound", Bound, "the least mean JCT that any scheduler can have at row 1's loads")               \
  X("horizon", Horizon, "row 1 by how many jobs go on arriving behind those that are measured")      \
  X("scale", Scale, "the same policies on 108 and 1,080 GPUs")                                       \
  X("learners", Learners, "PPO, DQN and REINFORCE at equal steps")                                   \
  X("lublin", Lublin,                                                                                \
    "Lublin-1 and Lublin-2, each with the policies of the other, published figures beside")          \
  X("headroom", Headroom, "what an order searched knowing the future gains on the Lublin logs")      \
  X("real", Real, "Microsoft ITP clusters and Philly, split by time")                                \
  X("objectives", Objectives, "makespan, finish-time fairness, cost, a weighted sum")                \
  X("ablations", Ablations, "with and without each ingredient")                                      \
  X("behaviour", Behaviour, "curves of searches, what the policy does with the GPUs, a Gantt strip") \
  X("policies", Policies, "what is shipped and how it was trained")

#define BERTH_DECLARE_EXPERIMENT(name, Name, summary)                       \
  void Plan##Name(const LearnedSettings& settings, ReproductionRuns& runs); \
  void Report##Name(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out);
BERTH_LEARNED_EXPERIMENTS(BERTH_DECLARE_EXPERIMENT)
#undef BERTH_DECLARE_EXPERIMENT

}  // namespace berth
