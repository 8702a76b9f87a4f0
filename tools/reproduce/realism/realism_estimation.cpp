// Estimated throughputs: how wrong they are by how much was measured, and what that does to a scheduler that
// weighs GPU types by them.
#include <algorithm>
#include <cmath>
#include <functional>

#include "data/throughputs.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/predict/estimation/estimator.hpp"
#include "env/predict/estimation/rate_matrix.hpp"
#include "env/sim/metrics.hpp"
#include "tools/reproduce/realism/realism.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr double kFractions[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9};
constexpr int kMasks = 20;  // choices of what is measured

struct Errors {
  double all = 0.0, alone = 0.0;  // median of |estimate / truth - 1|, of all entries and of jobs alone
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return Quantile(values, 0.5);
}

// Over what was not measured (`measured`: over what was), the mean of `kMasks` medians.
Errors ErrorsOf(const std::string& spec, const ThroughputTable& truth, int types, bool measured,
                double& gpu_hours) {
  const PartialMatrix right = RateMatrix(truth, types);
  RateEstimates estimates(spec);
  Errors mean;
  gpu_hours = 0.0;
  for (int mask = 0; mask < kMasks; ++mask) {
    estimates.plan.seed = static_cast<std::uint64_t>(mask);
    const RateEstimates::Table table = estimates.Estimate(truth, types);
    const PartialMatrix believed = RateMatrix(table.believed, types);
    std::vector<double> all, alone;
    for (int i = 0; i < right.rows; ++i) {
      for (int j = 0; j < right.columns; ++j) {
        if (!right.Known(i, j) || table.profile.measured.Known(i, j) != measured) continue;
        const std::size_t at = right.At(i, j);
        all.push_back(std::abs(std::exp(believed.value[at] - right.value[at]) - 1.0));
        if (j < AloneColumns(truth, types)) alone.push_back(all.back());
      }
    }
    mean.all += Median(all) / kMasks;
    mean.alone += Median(alone) / kMasks;
    gpu_hours += table.profile.gpu_seconds / 3600.0 / kMasks;
  }
  return mean;
}

std::string Percent(double share) {
  return Fixed(100.0 * share, 1) + "%";
}

}  // namespace

RealismResult RealismEstimation(const RealismOptions&) {
  RealismResult result;
  result.title = "Estimated throughputs: median error by the share of the table that was measured";
  result.shows = Join(
      "The shipped table, 26 job types alone, spread and in pairs on 3 GPU types; errors are of "
      "entries that were not measured (of profiled: that were), means over ",
      kMasks, " choices of what was.");
  result.columns = {"method", "measured", "median error", "of jobs alone", "GPU hours"};
  result.x_label = "share of the table measured";
  result.y_label = "median error, %";
  const ThroughputTable truth = PublishedThroughputs(ParseCluster("v100=1,p100=1,k80=1"));
  const int types = 3;
  double gpu_hours = 0.0;
  for (const char* method : {"completion", "reference", "completion(rank=0,observed="}) {
    const bool offsets = std::string(method).find('(') != std::string::npos;
    Curve all{offsets ? "offsets alone (rank 0)" : method};
    for (const double fraction : kFractions) {
      const std::string spec =
          offsets ? Join(method, fraction, ")") : Join(method, "(observed=", fraction, ")");
      const Errors errors = ErrorsOf(spec, truth, types, false, gpu_hours);
      all.Add(fraction, 100.0 * errors.all);
      result.rows.push_back(
          {all.name, Fixed(100.0 * fraction, 0) + "%", Percent(errors.all), Percent(errors.alone), "-"});
    }
    result.curves.push_back(std::move(all));
  }
  for (const int seconds : {1, 10, 60, 600}) {
    const Errors errors = ErrorsOf(Join("profiled(seconds=", seconds, ")"), truth, types, true, gpu_hours);
    result.rows.push_back({Join("profiled, ", seconds, " s each"), "100%", Percent(errors.all),
                           Percent(errors.alone), Fixed(gpu_hours, 1)});
  }
  return result;
}

RealismResult RealismEstimatedJct(const RealismOptions& options) {
  RealismResult result;
  const int seeds = std::max(options.seeds, 2);
  result.title = "Max-min fairness on estimated throughputs: mean JCT over that on the truth";
  result.shows =
      "Each workload with another choice of what was measured; `learn` knows a rate once a job type has run "
      "at "
      "it, and a profiling run of 60 s on every GPU type delays each job that long.";
  result.columns = {"gavel(objective=max_min) believes",
                    "jobs/h",
                    "measured",
                    "mean JCT h",
                    "on the truth h",
                    "ratio [95%]"};
  result.x_label = "share of the table measured";
  result.y_label = "mean JCT beyond that on the truth, %";
  const auto mean_jct = [](double rate, const std::string& features, int seed) {
    const Scenario scenario =
        RealismScenario(Join("synthetic(rate=", rate, ",jobs=450)"), "v100=12,p100=12,k80=12", "rounds(360)",
                        features, static_cast<std::uint64_t>(seed));
    return RealismRun(scenario, "gavel(objective=max_min)", {150, 350}).metrics.mean_jct_s / 3600.0;
  };
  const auto mean_jcts = [&](double rate, const std::function<std::string(int seed)>& features) {
    std::vector<double> jct;
    for (int seed = 0; seed < seeds; ++seed) jct.push_back(mean_jct(rate, features(seed), seed));
    return jct;
  };
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0.0;
    for (double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  struct Believed {
    const char *name, *by;
    double rate;  // jobs an hour: the default load, and a high one
    bool learn;
  };
  std::vector<double> truth;  // of the load at hand
  const auto add = [&](const Believed& row, double fraction, const std::vector<double>& jct) {
    const Interval ratio = BootstrapRatio(jct, truth, 1);
    result.rows.push_back(
        {row.name, Fixed(row.rate, 1), Fixed(100.0 * fraction, 0) + "%", Fixed(mean(jct), 2),
         Fixed(mean(truth), 2),
         Join(Fixed(ratio.mean, 3), " [", Fixed(ratio.low, 3), ", ", Fixed(ratio.high, 3), "]")});
    return ratio;
  };
  for (const Believed& row :
       {Believed{"completion", "completion", 1.8, false}, Believed{"completion", "completion", 2.4, false},
        Believed{"completion, learn", "completion", 2.4, true},
        Believed{"reference", "reference", 2.4, false}}) {
    truth = mean_jcts(row.rate, [](int) { return ""; });
    Curve curve{Join(row.name, ", ", Fixed(row.rate, 1), " jobs/h")};
    for (const double fraction : {0.1, 0.3, 0.5, 0.9}) {
      const Interval ratio = add(row, fraction, mean_jcts(row.rate, [&](int seed) {
                                   return Join("estimates(by=", row.by, "(observed=", fraction,
                                               ",seed=", seed, "),learn=", row.learn ? "true)" : "false)");
                                 }));
      curve.Add(fraction,
                Interval{100.0 * (ratio.mean - 1.0), 100.0 * (ratio.low - 1.0), 100.0 * (ratio.high - 1.0)});
    }
    result.curves.push_back(std::move(curve));
  }
  const double seconds = 60.0;
  std::vector<double> profiled = mean_jcts(
      2.4, [&](int seed) { return Join("estimates(by=profiled(seconds=", seconds, ",seed=", seed, "))"); });
  for (double& jct : profiled) jct += seconds / 3600.0;
  add({"profiled, 60 s", "", 2.4, false}, 1.0, profiled);
  return result;
}

}  // namespace berth
