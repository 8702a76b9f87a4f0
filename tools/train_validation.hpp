// When `berth train` validates, and on how many workloads: as --validate says, or by itself as much as a
// tenth of the training's time affords (validation_budget.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agents/train/learn_api.hpp"
#include "tools/environment_options.hpp"
#include "tools/validation.hpp"
#include "tools/validation_budget.hpp"

namespace berth {

class TrainValidation {
 public:
  static void AddOptions(Options& options);  // --validate, --baselines, --validations
  // Null where none is wanted, and where --validate auto cannot: semantics commit, a reward that no schedule
  // is measured by, several processes. Throws Error naming the option. `request` as it will be trained, its
  // env aside.
  static std::unique_ptr<TrainValidation> Make(Options& options, const EnvironmentChoice& choice,
                                               const TrainRequest& request);

  // A line on why Make gave null, though nobody asked for that; "" where --validate did.
  static std::string WhyNone(const Options& options, const TrainRequest& request);

  // Sets the request's validate_every and callbacks; this and the request must outlive the training.
  void Attach(TrainRequest& request);
  const Validation& validation() const { return validation_; }
  bool keeps_best() const { return !budget_; }
  // How it went, a line: what the last one found, or why there is none.
  std::string Summary() const;

 private:
  TrainValidation(Validation validation, int workloads, std::optional<ValidationBudget> budget,
                  std::int64_t every);
  bool Wants(double wall_s, double fraction) const;
  std::vector<std::pair<std::string, double>> Measure(std::int64_t steps, double wall_s, double fraction,
                                                      const std::atomic<bool>* interrupted);

  Validation validation_;
  int workloads_;
  std::optional<ValidationBudget> budget_;  // of --validate auto
  std::int64_t every_;                      // environment steps
};

}  // namespace berth
