#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/features/services/services.hpp"
#include "env/sim/physical_gpus.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

std::span<const Field<ServiceSettings>> ServiceSettings::Fields() {
  using S = ServiceSettings;
  static const std::array kFields = {
      Field<S>{"rate_per_s", &S::rate_per_s, "mean requests/s, an entry a service", 1e-6, 1e6},
      Field<S>{"pattern", &S::pattern, "poisson | diurnal | bursty"},
      Field<S>{"amplitude", &S::amplitude, "diurnal: rate x (1 + amplitude sin(2 pi t / period_s))", 0.0,
               1.0},
      Field<S>{"period_s", &S::period_s, "diurnal", 1.0},
      Field<S>{"begins_s", &S::begins_s, "diurnal: t at the start, in later jobs of a log"},
      Field<S>{"burst", &S::burst, "bursty: rate within a burst over the mean rate", 1.0},
      Field<S>{"burst_s", &S::burst_s, "bursty: mean seconds of a burst", 1e-3},
      Field<S>{"burst_share", &S::burst_share, "bursty: share of the time in bursts", 1e-6, 0.999},
      Field<S>{"base_s", &S::base_s, "a batch of b takes base_s + b x item_s on the fastest type", 0.0, 1e6},
      Field<S>{"item_s", &S::item_s, "see base_s", 1e-6, 1e6},
      Field<S>{"max_batch", &S::max_batch, "requests answered together at most", 1, 100000},
      Field<S>{"slo_s", &S::slo_s, "latency that a request shall not exceed", 1e-6, 1e9},
      Field<S>{"speed", &S::speed, "of each GPU type over the fastest; empty = all 1; 0 = not there", 0.0,
               1.0},
      Field<S>{"interval_s", &S::interval_s, "decision points come at least this often", 1.0},
      Field<S>{"replicas", &S::replicas, "at the start", 0.0, 1e6},
      Field<S>{"share", &S::share,
               "of a GPU a replica takes; below 1 a training job runs beside it at the rest", 0.05, 1.0},
  };
  return kFields;
}

std::shared_ptr<const FeatureSettings> ServiceSettings::OfJobs(const JobTable&, double origin_s) const {
  if (origin_s == 0.0 || pattern != "diurnal") return nullptr;
  auto kept = std::make_shared<ServiceSettings>(*this);
  kept->begins_s = std::fmod(begins_s + origin_s, period_s);
  return kept;
}

void ServiceSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("services", scenario.clock);
  if (rate_per_s.empty())
    throw Error("feature 'services': rate_per_s: expected a rate a service, found none");
  for (const auto& [name, list] :
       {std::pair{"base_s", &base_s}, {"item_s", &item_s}, {"slo_s", &slo_s}, {"replicas", &replicas}}) {
    if (list->size() != 1 && list->size() != rate_per_s.size()) {
      throw Error(Join("feature 'services': ", name, ": expected 1 entry or one for each of the ",
                       rate_per_s.size(), " services, found ", list->size()));
    }
  }
  for (double count : replicas) {
    if (count != static_cast<double>(static_cast<int>(count)))
      throw Error(Join("feature 'services': replicas: expected whole numbers, found ", count));
  }
  double gpus = 0.0, taken = 0.0;
  for (const GpuType& type : scenario.cluster.types) gpus += type.count;
  for (int service = 0; service < count(); ++service) taken += EntryFor(replicas, service);
  if (share >= 1.0 && taken >= gpus && scenario.jobs.size() > 0) {
    throw Error(Join("feature 'services': replicas: ", taken, " at the start leave none of the ", gpus,
                     " GPUs to the jobs"));
  }
  if (!speed.empty() && speed.size() != NumWholeTypes(scenario)) {
    throw Error(Join("feature 'services': speed: expected ", NumWholeTypes(scenario),
                     " entries, one a GPU type, found ", speed.size()));
  }
  if (!speed.empty() && std::all_of(speed.begin(), speed.end(), [](double x) { return x == 0.0; }))
    throw Error("feature 'services': speed: expected a type on which replicas run, found 0 for all");
  const std::vector<std::string> patterns = {"poisson", "diurnal", "bursty"};
  if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) {
    throw Error(Join("feature 'services': pattern: expected poisson, diurnal or bursty, found '", pattern,
                     "'", DidYouMean(pattern, patterns)));
  }
  if (pattern == "bursty" && burst * burst_share >= 1.0) {
    throw Error(
        Join("feature 'services': expected burst x burst_share below 1, so that requests come between "
             "bursts too, found ",
             burst, " x ", burst_share));
  }
}

}  // namespace berth
