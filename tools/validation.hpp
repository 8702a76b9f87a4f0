// What `berth train --validate` does: the policy of now, frozen, on workloads that no episode of the training
// draws (of a log on pieces of the jobs trained on: later ones are to test), beside named schedulers: as it
// would run (greedy, its best action), and as it was trained (sampled, drawn from its distribution). A gap
// between the two is a policy that has not made up its mind.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/gym/mdp.hpp"
#include "tools/tune/trials.hpp"

namespace berth {

// Those that a policy of this process is measured beside unless --baselines says otherwise: of what it may
// know, a rule of thumb and the strongest that needs no tuning. Specs.
std::vector<std::string> DefaultBaselines(const MdpSpec& mdp);

// How much more costs[i] are than others[i] (search::Costs::More: by logarithms, by differences where they
// may be none): the mean, and its standard error; of two pairs or more.
struct PairedDifference {
  double mean, error;
};
PairedDifference DifferenceOf(const std::vector<double>& costs, const std::vector<double>& others,
                              bool may_be_none);
// The standard error of the ratio of their means, geometric ones or, where costs may be none, arithmetic
// ones; NaN of one pair.
double RatioError(const std::vector<double>& costs, const std::vector<double>& others, bool may_be_none);

// Are an agent's scores the logarithms of what it draws by? Of dqn they are values, and drawing by them is no
// policy that it ever played.
bool DrawsByScores(const std::string& agent);

struct ValidationSettings {
  std::vector<std::string> baselines;  // scheduler specs
  std::string run;                     // the training's folder
  bool keep_best = false;              // the best greedy policy so far is RUN/best.h5
  bool resume = false;                 // RUN/validation.csv says what there was
  bool draws = true;                   // DrawsByScores: else there is nothing sampled
  std::string commit = "unknown";      // of the source, for the policies' files
};

class Validation {
 public:
  struct Row {
    std::int64_t steps = 0;
    // Geometric means (arithmetic where Trials::MayBeNone) over the workloads of what the reward adds up to a
    // job (of jct: the mean JCT, s), less being better; infinite where jobs of a window were not done, NaN
    // where nothing is sampled.
    double greedy = 0.0, sampled = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> costs;  // [workloads] the greedy ones; of this process's rows alone
    bool may_be_none = false;   // Trials::MayBeNone
    // Greedy over the least of the baselines: which, the ratio, its standard error (NaN of one workload).
    std::string rule = "";
    double over = std::numeric_limits<double>::quiet_NaN(), over_error = over;
    int workloads = 0, jobs = 0;  // how many, of how many jobs each; 0: the file is of before it was said
    double Gap() const { return sampled / greedy - 1.0; }
    // Are the costs of the same workloads? The others' are no measure of these.
    bool ComparesWith(const Row& other) const {
      return workloads == 0 || other.workloads == 0 || (workloads == other.workloads && jobs == other.jobs);
    }
  };

  // Throws Error naming the baseline: one that there is none of.
  Validation(RewardTrials on, ValidationSettings settings);

  // Throws Error where RUN/best.h5 is the best on other workloads than `workloads` would be.
  void CheckSame(int workloads, const std::string& where) const;

  // Measures RUN/checkpoint.h5, which is of `steps` environment steps, on `workloads` of those that no search
  // of `on` draws: a line of RUN/validation.csv, and the figures under TensorBoard's names. Baselines are
  // measured the first time. Where `interrupted` becomes true meanwhile there is no line, and no figures.
  // Errors of export, and of files.
  std::vector<std::pair<std::string, double>> Measure(std::int64_t steps, int workloads,
                                                      const std::atomic<bool>* interrupted = nullptr);
  // Wall seconds of one greedy run, or until it is interrupted.
  double TimeRun(const std::atomic<bool>* interrupted = nullptr);

  const std::vector<Row>& rows() const { return rows_; }
  bool any() const { return !rows_.empty(); }
  bool measured() const {
    return measured_ > 0;
  }  // by this process; the others are of the run that it continues
  // Of the greedy policies that which RUN/best.h5 keeps; null before there is one. Rows of --validate auto
  // keep none.
  const Row* best() const { return best_ ? &rows_[*best_] : nullptr; }
  std::string policy() const { return settings_.run + "/best.h5"; }
  // What the last row is of: "8 workloads", "1 piece of the jobs that it was trained on". REQUIRES:
  // measured().
  std::string On() const;
  // Of the last row: "greedy 0.85 +- 0.03 of srpt, 0.98 +- 0.02 of nash_welfare; sampled 5.2% above greedy".
  // Behind
  // +- the standard error over the workloads, each a pair. REQUIRES: measured().
  std::string Words() const;
  // The same as figures: "validation/greedy", "validation/greedy_of_srpt", ...; costs, ratios and the gap.
  std::vector<std::pair<std::string, double>> Figures() const;
  std::vector<std::string> FigureNames() const;  // before there are any

 private:
  double MeanOf(const std::vector<double>& costs) const;
  // A mean cost over that of a baseline; NaN where this one has none, or is infinite: it leaves jobs undone.
  double Over(double mean, const std::vector<double>& baseline) const;
  std::string Candidate();  // the checkpoint's policy as a file, which is to be removed
  void ReadRows();
  void FindBest();
  void WriteRows() const;

  RewardTrials on_;
  ValidationSettings settings_;
  std::vector<std::vector<double>> baseline_costs_;  // [baselines, workloads] of `measured_`
  int measured_ = 0;
  std::vector<Row> rows_;
  std::optional<std::size_t> best_;  // of rows_
};

}  // namespace berth
