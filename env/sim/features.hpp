// What a real cluster has beyond types and counts. Each feature is a module in a folder of its own
// (env/features/NAME), off unless named, and then part of the scenario:
//
//   Features features = ParseFeatures("failures(mtbf_h=500,repair_h=2);power(cap_w=9000)", table);
//   if (const auto* power = features.Find<PowerSettings>()) ... power->cap_w ...      // null = off
//
// To add one: a folder with its settings (SettingsOf, env/sim/field.hpp), its state (StateOf,
// env/sim/feature.hpp) and a function that returns its FeatureModule; a line in a table
// (env/features/table.hpp, or one handed in).
//
// Errors: bad texts and settings are berth::Error, one line. Thread rule: settings never change.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "env/sim/timers.hpp"

namespace berth {

struct ActionInfo;
struct BelievedRates;
struct BlockInfo;
struct Clock;
class FeatureState;
struct JobTable;
class RatesByWidth;
class Scenario;
struct ScenarioData;

// A setting, for those who do not know its feature's type (env/sim/field.hpp).
struct FieldInfo {
  const char* name;
  const char* help;
  double lowest, highest;
};
using FieldValue = std::variant<double, int, bool, std::string, std::vector<double>>;

// The settings of a feature that is on, and what follows from them for the scenario: facts of the cluster and
// the jobs, asked once when a Scenario is made or a simulation begins. A feature answers what concerns it;
// whoever asks does not know who answers.
class FeatureSettings {
 public:
  virtual ~FeatureSettings() = default;

  virtual std::vector<FieldInfo> ListFields() const = 0;
  virtual FieldValue Get(std::size_t field) const = 0;
  virtual void Set(std::size_t field, const FieldValue& value) = 0;
  virtual void Load() {}  // files that it names; throws Error
  // Against the scenario that it stands in, beyond the bounds of its fields. Throws Error.
  virtual void Check(const ScenarioData& scenario) const = 0;
  // What it remembers in a simulation. The settings outlive it.
  virtual std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const = 0;

  // GPU types and columns that it asks for and the scenario lacks; before anything else is worked out.
  virtual void AddTypes(ScenarioData& /*scenario*/) const {}
  // AddTypes says how fast jobs of every type are and how much work they have.
  virtual bool KnowsJobs() const { return false; }
  // Jobs that state fewer than 1000 gpu_milli hold that part of one GPU.
  virtual bool DividesGpus() const { return false; }
  virtual bool PartsSuffice() const { return false; }  // they make their full rate on it, and use no more
  // The largest gang of the job that the nodes of a type hold when all are idle; needs no checked settings.
  // `why_too_large` says what a larger one does.
  virtual int LargestGang(const ScenarioData& /*scenario*/, int /*job*/, int /*type*/) const {
    return std::numeric_limits<int>::max();
  }
  virtual const char* WhyTooLarge() const { return ""; }
  virtual int NodesPerRack() const { return 0; }        // 0 = it says nothing of racks
  virtual double NetworkGbPerS() const { return 0.0; }  // between nodes; 0 = it says nothing of it
  virtual bool Interrupts() const { return false; }     // jobs may lose their devices
  virtual double DecisionDelay() const { return 0.0; }  // s from a decision to its effect
  virtual bool LearnsRates() const { return false; }    // what schedulers are told of rates changes
  // When what everybody knows in advance, such as a price, is next another than at `now`, s > now; kNever.
  virtual double NextChange(double /*now*/) const { return std::numeric_limits<double>::infinity(); }
  // Widths that jobs may run on; null = their gangs alone.
  virtual std::shared_ptr<const RatesByWidth> Widths(const ScenarioData& scenario) const;
  // What schedulers are told of throughputs in place of the truth; false = nothing.
  virtual bool Believe(const ScenarioData& /*scenario*/, BelievedRates& /*into*/) const { return false; }
  // The settings for some of the jobs, with a clock that begins `origin_s` later; null = the same.
  virtual std::shared_ptr<const FeatureSettings> OfJobs(const JobTable& jobs, double origin_s) const;
  // s that every start of any job holds its GPUs before the job makes progress.
  virtual double LaunchSeconds() const { return 0.0; }
};

// A number for a name, the same in every library of a program.
using FeatureTag = std::uint64_t;
constexpr FeatureTag TagOf(std::string_view name) {
  FeatureTag hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

// A figure of a run that a feature adds to env/sim/metrics.hpp; 0 where the feature is off.
struct MetricInfo {
  // Where it stands among the others: after what happened to jobs, after the queue's length, or at the end.
  enum class Place : std::uint8_t { kJobs, kQueue, kEnd };
  const char* key;      // of tables, JSON and files; ends in its unit
  const char* meaning;  // with unit
  Place place = Place::kEnd;
  bool maximum = false;  // workloads combine to the largest value instead of the mean
  double most = 0.0;     // above 0: the largest that is told apart, beyond it is infinite
  bool of_jobs = false;  // a mean over jobs: there is none where no measured job finished
};

// A row of a table of features.
struct FeatureModule {
  const char* name;
  const char* help;
  FeatureTag tag;
  std::shared_ptr<FeatureSettings> (*make)();  // with defaults
  std::span<const MetricInfo> metrics = {};
  std::span<const TimerKind> timers = {};         // kinds that are its own
  std::span<BlockInfo (*const)()> blocks = {};    // of observations (env/sim/observation_block.hpp)
  std::span<ActionInfo (*const)()> actions = {};  // kinds of commands for policies (env/sim/action_kind.hpp)
};

// Its order is that of texts, of output and, but where feature.hpp says otherwise, of hooks. REQUIRES: it
// outlives whatever is made with it.
using FeatureTable = std::span<const FeatureModule>;

// What is on, in the order of the table.
class Features {
 public:
  struct On {
    const FeatureModule* module;
    std::shared_ptr<const FeatureSettings> settings;  // shared, since a scenario never changes
  };
  bool any() const { return !on_.empty(); }
  std::span<const On> on() const { return on_; }
  template <class S>
  const S* Find() const {  // null = off
    for (const On& on : on_) {
      if (on.module->tag == TagOf(S::kName)) return static_cast<const S*>(on.settings.get());
    }
    return nullptr;
  }
  void Add(const FeatureModule& module, std::shared_ptr<const FeatureSettings> settings) {
    on_.push_back({&module, std::move(settings)});
  }

  // All together.
  bool DivideGpus() const;
  bool PartsSuffice() const;
  bool Interrupt() const;  // jobs may lose their devices
  double LaunchSeconds() const;
  int LargestGang(const ScenarioData& scenario, int job, int type) const;  // the type's devices at most
  Features OfJobs(const JobTable& jobs, double origin_s) const;

 private:
  std::vector<On> on_;
};

// "failures(mtbf_h=500);..." to settings; what is named is on, what is not named of it has its default.
// Throws Error with the nearest name of a feature or of a setting.
Features ParseFeatures(std::string_view text, FeatureTable table);
// The same text with every setting of the features that are on; "" when none is. Numbers read back exactly.
std::string ToString(const Features& features);

// What is on against its own bounds and the scenario it stands in. Throws Error.
void CheckFeatures(const Features& features, const ScenarioData& scenario);
// For features with timers: clocks event and rounds. Throws Error.
void CheckTimedClock(const char* feature, const Clock& clock);

// For people: what there is.
struct FeatureInfo {
  std::string name, help;
  struct Setting {
    std::string name, default_value, help;
  };
  std::vector<Setting> settings;
};
std::vector<FeatureInfo> ListFeatures(FeatureTable table);

}  // namespace berth
