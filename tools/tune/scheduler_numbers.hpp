// Numeric parameters of a scheduler, such as the weights of the rule `tuned`, for `berth tune` to search.
#pragma once

#include <string>
#include <vector>

#include "env/base/spec.hpp"
#include "tools/tune/tunable.hpp"

namespace berth {

class SchedulerNumbers final : public Tunable {
 public:
  // Starts from what the spec says, else from the parameters' defaults; a step of 1 is max(1, |start|). What
  // is written names the reference too. Throws Error for names that are no parameters of it, for those that
  // may not be any number (whole ones, words), and for a start that is not finite.
  SchedulerNumbers(const Spec& scheduler, std::vector<std::string> parameters, std::string reference);

  search::Space Space() const override { return space_; }
  std::unique_ptr<Scheduler> Make(std::span<const double> point) const override;
  std::string SpecOf(std::span<const double> point) const override;  // four digits
  void Save(std::span<const double> point, const Provenance& how, const std::string& path) const override;

 private:
  Spec scheduler_;
  std::vector<std::string> parameters_;  // [n]
  std::string reference_;
  search::Space space_;
};

// The spec with `names[i]` = `values[i]`, four digits, in place where it is given, else at the end.
Spec WithParameters(const Spec& spec, const std::vector<std::string>& names, std::span<const double> values);

}  // namespace berth
