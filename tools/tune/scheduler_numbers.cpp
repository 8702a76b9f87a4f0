#include "tools/tune/scheduler_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "env/base/check.hpp"
#include "env/base/shortest.hpp"
#include "tools/output_file.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

std::string FourDigits(double value) {
  std::ostringstream text;
  text << std::setprecision(4) << value;
  return text.str();
}

const SchedulerInfo& FindScheduler(const Spec& spec) {
  for (const SchedulerTable& table : AllSchedulers()) {
    for (const SchedulerInfo& info : table) {
      if (spec.name == info.name) return info;
    }
  }
  throw Error(Join("unknown scheduler '", spec.name, "'"));
}

// What the spec says, else the parameter's default.
double Start(const Spec& spec, const std::string& name) {
  const SchedulerInfo& info = FindScheduler(spec);
  std::vector<std::string> names;
  for (const ParamInfo& param : info.params) names.push_back(param.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Error(Join("expected parameters of ", spec.name, ", found '", name, "'", DidYouMean(name, names)));
  }
  std::string text = info.params[static_cast<std::size_t>(found - names.begin())].default_value;
  for (const auto& [key, value] : spec.params) {
    if (key == name) text = value;
  }
  const std::string what = Join(spec.name, "'s '", name, "'");
  const double start = ParseNumber(text, what);
  if (!std::isfinite(start))
    throw Error(
        Join(what, ": expected a finite number to start from, found ", text, "; state one in the spec"));
  return start;
}

void SetParameter(Spec& spec, const std::string& name, const std::string& text) {
  for (auto& [key, value] : spec.params) {
    if (key != name) continue;
    value = text;
    return;
  }
  spec.params.emplace_back(name, text);
}

// Throws Error where the scheduler takes no number near `start`, such as of a parameter of whole numbers: it
// would refuse every candidate.
void CheckTakesNumbers(Spec spec, const std::string& name, double start, double scale) {
  constexpr double kNear = 1.2345678e-3;  // no whole part of a scale
  std::string refused;
  for (const double apart : {kNear, -kNear}) {
    SetParameter(spec, name, Shortest(start + apart * scale));
    try {
      MakeScheduler(spec.ToString(), AllSchedulers());
      return;
    } catch (const Error& error) {
      refused = error.what();
    }
  }
  throw Error(Join("expected parameters that may be any number, found '", name, "': ", refused));
}

}  // namespace

Spec WithParameters(const Spec& spec, const std::vector<std::string>& names, std::span<const double> values) {
  Spec with = spec;
  for (std::size_t i = 0; i < names.size(); ++i) SetParameter(with, names[i], FourDigits(values[i]));
  return with;
}

SchedulerNumbers::SchedulerNumbers(const Spec& scheduler, std::vector<std::string> parameters,
                                   std::string reference)
    : scheduler_(scheduler), parameters_(std::move(parameters)), reference_(std::move(reference)) {
  if (parameters_.empty()) throw Error("expected names, found none");
  for (const std::string& name : parameters_) {
    if (std::count(parameters_.begin(), parameters_.end(), name) > 1)
      throw Error(Join("expected each name once, found '", name, "' again"));
    space_.start.push_back(Start(scheduler_, name));
    space_.scales.push_back(std::max(1.0, std::abs(space_.start.back())));
    CheckTakesNumbers(scheduler_, name, space_.start.back(), space_.scales.back());
  }
}

std::string SchedulerNumbers::SpecOf(std::span<const double> point) const {
  return WithParameters(scheduler_, parameters_, point).ToString();
}

std::unique_ptr<Scheduler> SchedulerNumbers::Make(std::span<const double> point) const {
  return MakeScheduler(SpecOf(point), AllSchedulers());
}

void SchedulerNumbers::Save(std::span<const double> point, const Provenance& how,
                            const std::string& path) const {
  WriteTextFile(path, Join("# found by berth tune: ", how.agent, "\nschedulers=", reference_, ";",
                           SpecOf(point), "\n"));
}

}  // namespace berth
