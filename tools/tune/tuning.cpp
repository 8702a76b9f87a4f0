#include "tools/tune/tuning.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "env/base/check.hpp"
#include "env/base/thread_team.hpp"
#include "env/gym/episode_draw.hpp"
#include "tools/results.hpp"
#include "tools/tune/cma_es.hpp"
#include "tools/tune/window_mean.hpp"

namespace berth {
namespace {

constexpr std::uint32_t kValidation = ~std::uint32_t{0};  // no search has as many generations

std::string FourDigits(double value) {
  std::ostringstream text;
  text << std::setprecision(4) << value;
  return text.str();
}

// WindowMean of every scheduler on every workload: [schedulers][workloads]; NaN where jobs of the window did
// not finish or the scheduler refuses its parameters.
class Runs {
 public:
  Runs(const Tuning& tuning, ThreadTeam& team) : tuning_(tuning), team_(team) {}

  std::vector<std::vector<double>> operator()(const std::vector<std::string>& schedulers, std::uint32_t group,
                                              int count) {
    std::vector<std::vector<double>> jct(schedulers.size(),
                                         std::vector<double>(static_cast<std::size_t>(count)));
    std::vector<Scenario> workloads;
    for (int i = 0; i < count; ++i) {
      workloads.push_back(DrawEpisode(*tuning_.source, tuning_.pieces, tuning_.seed, Split::kTrain, group,
                                      static_cast<std::uint32_t>(i), tuning_.jobs)
                              .scenario);
    }
    team_.Run(static_cast<int>(schedulers.size()) * count, [&](int part) {
      const auto k = static_cast<std::size_t>(part / count), i = static_cast<std::size_t>(part % count);
      jct[k][i] = MeanJct(workloads[i], schedulers[k]);
    });
    return jct;
  }

 private:
  double MeanJct(const Scenario& scenario, const std::string& spec) const {
    std::unique_ptr<Scheduler> scheduler;
    try {
      scheduler = MakeScheduler(spec, AllSchedulers());
    } catch (const Error&) {  // a candidate out of its parameters' bounds
      return std::nan("");
    }
    return WindowMean(scenario, *scheduler, spec, tuning_);
  }

  const Tuning& tuning_;
  ThreadTeam& team_;
};

// A reference that does not finish its jobs would leave every candidate without a value.
void CheckFinished(const std::string& reference, const std::vector<double>& jct) {
  const auto without = std::count_if(jct.begin(), jct.end(), [](double s) { return std::isnan(s); });
  if (without == 0) return;
  throw Error(Join("--reference: expected a scheduler that finishes the window's jobs, found ", reference,
                   ", which left jobs of the window unfinished in ", without, " of ", jct.size(),
                   " workloads; another --reference, workload or --window may do"));
}

}  // namespace

Spec WithParameters(const Spec& spec, const std::vector<std::string>& names,
                    const std::vector<double>& values) {
  Spec with = spec;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string text = FourDigits(values[i]);
    bool found = false;
    for (auto& [name, value] : with.params) {
      if (name != names[i]) continue;
      value = text;
      found = true;
    }
    if (!found) with.params.emplace_back(names[i], text);
  }
  return with;
}

Tuned Tune(const Tuning& tuning) {
  using Wall = std::chrono::steady_clock;
  const Wall::time_point begin = Wall::now();
  MakeScheduler(tuning.reference, AllSchedulers());  // a reference out of its parameters' bounds is an error
  ThreadTeam team(tuning.threads);
  Runs run(tuning, team);
  CmaEs search(tuning.start, tuning.scales, tuning.seed, tuning.population);
  Tuned found{tuning.scheduler, tuning.start, 0};
  const auto stopped = [&] { return tuning.interrupted && *tuning.interrupted; };
  while (tuning.generations == 0 || search.generation() < tuning.generations) {
    const double elapsed = std::chrono::duration<double>(Wall::now() - begin).count();
    if (stopped() || (tuning.seconds > 0.0 && elapsed >= tuning.seconds)) break;
    std::vector<std::string> schedulers{tuning.reference};
    for (const std::vector<double>& point : search.Ask()) {
      schedulers.push_back(WithParameters(tuning.scheduler, tuning.parameters, point).ToString());
    }
    const auto jct = run(schedulers, static_cast<std::uint32_t>(search.generation()), tuning.workloads);
    if (stopped()) break;  // the runs were cut short
    CheckFinished(tuning.reference, jct[0]);
    std::vector<double> values;
    double best = HUGE_VAL;
    for (std::size_t k = 1; k < jct.size(); ++k) {
      double sum = 0.0;
      for (std::size_t i = 0; i < jct[k].size(); ++i) sum += std::log(jct[k][i] / jct[0][i]);
      values.push_back(sum / tuning.workloads);
      if (values.back() < best) best = values.back();
    }
    search.Tell(values);
    if (tuning.on_generation) tuning.on_generation(search.generation(), std::exp(best), search.sigma());
  }
  if (search.generation() > 0) found.values = search.mean();
  found.generations = search.generation();
  found.scheduler = WithParameters(tuning.scheduler, tuning.parameters, found.values);
  return found;
}

std::vector<std::vector<double>> Validate(const Tuning& tuning, const std::vector<std::string>& schedulers,
                                          int count) {
  ThreadTeam team(tuning.threads);
  return Runs(tuning, team)(schedulers, kValidation, count);
}

}  // namespace berth
