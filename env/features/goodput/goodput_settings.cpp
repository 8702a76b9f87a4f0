// The settings of goodput, and what follows from them for a scenario: speeds by width, and the work of jobs.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/features/goodput/goodput.hpp"
#include "env/features/goodput/mean_rates.hpp"
#include "env/sim/rates_by_width.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

std::string Hex(std::uint64_t x) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[x >> shift & 15];
  return text;
}

// What scenario files of version 0.2.0 and before keep: of targets, mean step times and largest batches
// alone.
std::string OldContent(const std::vector<Application>& read) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&hash](double x) { hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001b3ULL; };
  for (const Application& application : read) {
    for (int epoch = 0; epoch <= application.epochs(); ++epoch) add(application.curve.Target(epoch));
    for (const SpeedOnType& speed : application.speeds) add(speed.steps.Fingerprint() + speed.max_local);
  }
  return Hex(hash);
}

constexpr const char* kContent =
    "all-";  // begins a hash of all that was read; the old ones have no such begin

}  // namespace

double GoodputOf(const Application& application, const goodput::StepTime& time,
                 const goodput::BatchSplit& split, int gpus, int epoch) {
  const double total = split.Total(gpus), scale = total / application.initial_batch();
  const double gain = goodput::Gain(application.curve.Gradients(total, epoch), scale);
  return gain / goodput::TotalTime(time, split.accumulation) / application.slowdown;
}

std::vector<TimedBatch> TimedBatches(const Application& application, const SpeedOnType& speed, int gpus,
                                     int gpus_per_node) {
  goodput::BatchLimits limits = application.Limits(speed);
  const std::vector<int> nodes = FullNodes(gpus, gpus_per_node);
  limits.max_atomic = std::min(limits.max_atomic, speed.MaxAtomic(nodes));
  std::vector<TimedBatch> batches;
  if (gpus > goodput::MostReplicas(limits) || limits.max_atomic < limits.min_atomic) return batches;
  for (const goodput::BatchSplit& split : goodput::BatchCandidates(limits, gpus)) {
    const goodput::StepTime time = speed.At(nodes, split.atomic);
    if (time.step > 0.0) batches.push_back({split, time});
  }
  return batches;
}

double MeanGoodput(const Application& application, const SpeedOnType& speed, int gpus, int gpus_per_node) {
  const std::vector<TimedBatch> batches = TimedBatches(application, speed, gpus, gpus_per_node);
  constexpr int kParts = 10;  // of the training, each as its middle epoch
  const int epochs = application.epochs();
  double seconds = 0.0;
  for (int part = 0; part < std::min(kParts, epochs); ++part) {
    const int parts = std::min(kParts, epochs), first = part * epochs / parts,
              last = (part + 1) * epochs / parts;
    double best = 0.0;
    for (const auto& [split, time] : batches) {
      const double total = split.Total(gpus);
      const double gain = goodput::Gain(application.curve.Gradients(total, (first + last) / 2),
                                        total / application.initial_batch());
      best = std::max(best, gain / goodput::TotalTime(time, split.accumulation));
    }
    if (best <= 0.0) return 0.0;
    seconds += (application.curve.Target(last) - application.curve.Target(first)) / best;
  }
  return application.curve.Target(epochs) / seconds / application.slowdown;
}

std::span<const Field<GoodputSettings>> GoodputSettings::Fields() {
  using S = GoodputSettings;
  static const std::array kFields = {
      Field<S>{"profiles", &S::profiles,
               "folder of applications, files as the page of the feature says [published fits]"},
      Field<S>{"curves", &S::curves, "folder of their validation files, if another [profiles]"},
      Field<S>{"known", &S::known, "file of step times that stand in place of interpolated ones"},
      Field<S>{"batch", &S::batch, "who chooses batches: best (the job, for most goodput) or submitted"},
      Field<S>{"model", &S::model, "of a job's own speed: fitted to what it has seen, or known"},
      Field<S>{"rules", &S::rules, "exact, or as the simulator of an artifact: pollux, sia"},
      Field<S>{"restart_s", &S::restart_s, "seconds without progress of a start; -1: the application's",
               -1.0},
      Field<S>{"interference", &S::interference, "slow-down where jobs that span nodes share one", 0.0, 1.0},
      Field<S>{"content", &S::content, "hash of what was read, as scenario files keep it"},
  };
  return kFields;
}

void GoodputSettings::Load() {
  static const std::vector<std::string> kRules = {"exact", "pollux", "sia"}, kBatches = {"best", "submitted"},
                                        kModels = {"fitted", "known"};
  const auto choose = [](const char* name, const std::string& value, const std::vector<std::string>& from) {
    if (std::find(from.begin(), from.end(), value) == from.end())
      throw Error(Join("feature 'goodput': ", name, ": expected ", Listed(from), ", found '", value, "'",
                       DidYouMean(value, from)));
  };
  choose("rules", rules, kRules);
  choose("batch", batch, kBatches);
  choose("model", model, kModels);
  for (const auto& [name, value] : {std::pair{"curves", &curves}, {"known", &known}}) {
    if (profiles.empty() && !value->empty())
      throw Error(
          Join("feature 'goodput': ", name, ": expected profiles=DIR with it, found '", *value, "' alone"));
  }
  std::uint64_t hash = 0;
  std::vector<Application> read =
      profiles.empty() ? PublishedApplications() : ReadApplications(profiles, curves, known, &hash);
  for (Application& application : read) {
    ApplyRules(rules, application);
    for (const SpeedOnType& speed : application.speeds) {
      if (speed.min_local > speed.max_local)
        throw Error(Join("feature 'goodput': rules=", rules, ": ", application.name,
                         ": expected placements with a local_bsz of at most ", speed.max_local,
                         ", found at least ", speed.min_local));
    }
  }
  const bool is_old = !content.empty() && !content.starts_with(kContent);
  const std::string found = is_old ? OldContent(read) : Join(kContent, Hex(hash));
  if (!content.empty() && content != found)
    throw Error(Join("feature 'goodput': profiles: '", profiles,
                     "' holds other numbers than when the scenario was "
                     "made (content ",
                     content, ", found ", found, ")"));
  if (!profiles.empty()) content = found;
  applications_ = std::make_shared<const std::vector<Application>>(std::move(read));
  means_ = std::make_shared<MeanRates>();
}

const Application& GoodputSettings::ApplicationNamed(const std::string& name) const {
  std::vector<std::string> names;
  for (const Application& application : applications()) {
    if (application.name == name) return application;
    names.push_back(application.name);
  }
  throw Error(Join("feature 'goodput': job type '", name, "': expected an application of ",
                   profiles.empty() ? std::string("the published ones") : "'" + profiles + "'", ", ",
                   Listed(names), DidYouMean(name, names)));
}

std::shared_ptr<const std::vector<Application>> GoodputSettings::shared_applications() const {
  BERTH_CHECK(applications_ != nullptr, "goodput settings that were not loaded");
  return applications_;
}

void GoodputSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("goodput", scenario.clock);
  if (whole_seconds() && (scenario.clock.kind != ClockKind::kRounds ||
                          scenario.clock.round_s != std::floor(scenario.clock.round_s)))
    throw Error(Join("feature 'goodput': rules=", rules,
                     ": expected a clock of rounds of whole seconds, found ", scenario.clock.ToString()));
}

void GoodputSettings::AddTypes(ScenarioData& d) const {
  ThroughputTable& table = d.throughputs;
  const std::size_t sizes = table.gang_sizes.size(), types = d.cluster.types.size();
  for (std::size_t t = 0; t < table.job_types.size(); ++t) {
    const Application& application = ApplicationNamed(table.job_types[t]);
    for (std::size_t g = 0; g < types; ++g) {
      const SpeedOnType* speed = application.On(d.cluster.types[g].name);
      for (std::size_t s = 0; s < sizes; ++s) {
        const int gpus = table.gang_sizes[s];
        const bool fits = speed != nullptr && gpus <= d.cluster.types[g].count;
        table.alone[(t * sizes + s) * types + g] =
            fits ? means_->Of(application, *speed, gpus, d.cluster.types[g].gpus_per_node) : 0.0;
      }
    }
  }
  for (std::size_t job = 0; job < d.jobs.total_steps.size(); ++job) {
    const auto t = U(d.jobs.job_type[job]);
    if (t < table.job_types.size()) {
      const Application& application = ApplicationNamed(table.job_types[t]);
      d.jobs.total_steps[job] = application.curve.Target(application.epochs());
    }
  }
}

std::shared_ptr<const RatesByWidth> GoodputSettings::Widths(const ScenarioData& d) const {
  auto widths = std::make_shared<RatesByWidth>();
  const std::size_t types = d.cluster.types.size();
  std::map<std::pair<int, std::uint64_t>, std::size_t> classes;
  for (int job = 0; job < d.jobs.size(); ++job) {
    const int job_type = d.jobs.job_type[U(job)];
    const std::uint64_t allowed = d.jobs.allowed.empty() ? ~std::uint64_t{0} : d.jobs.allowed[U(job)];
    const auto [entry, fresh] = classes.try_emplace({job_type, allowed}, widths->classes.size());
    widths->class_of.push_back(entry->second);
    if (!fresh) continue;
    const Application& application = ApplicationNamed(d.throughputs.job_types[U(job_type)]);
    int most = 1;
    std::vector<std::vector<double>> rates(types);
    for (std::size_t g = 0; g < types; ++g) {
      const SpeedOnType* speed = application.On(d.cluster.types[g].name);
      if (speed == nullptr || (allowed >> g & 1) == 0) continue;
      int high = std::min(d.cluster.types[g].count, goodput::MostReplicas(application.Limits(*speed)));
      if (application.most_gpus > 0) high = std::min(high, application.most_gpus);
      for (int gpus = 1; gpus <= high; ++gpus) {
        const double rate = means_->Of(application, *speed, gpus, d.cluster.types[g].gpus_per_node);
        rates[g].push_back(rate);
        if (rate > 0.0) most = std::max(most, gpus);
      }
    }
    widths->classes.push_back({1, most, widths->rates.size()});
    for (std::vector<double>& of_type : rates) {
      of_type.resize(U(most), 0.0);
      widths->rates.insert(widths->rates.end(), of_type.begin(), of_type.end());
    }
  }
  return widths;
}

std::unique_ptr<FeatureState> GoodputSettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<GoodputState>(*this, scenario);
}

}  // namespace berth
