// What a real cluster has beyond types and counts. Each feature is off unless named and then part of the
// scenario: `failures(mtbf_h=500,repair_h=2);power(cap_w=9000)`.
//
// To add one: a line in BERTH_FEATURES, a header with its settings (all_settings.hpp includes it), its
// mechanics in a file of this folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

// X(name on the command line, type of the settings)
#define BERTH_FEATURES(X)            \
  X(topology, TopologySettings)      \
  X(partitions, PartitionSettings)   \
  X(sharing, SharingSettings)        \
  X(elasticity, ElasticitySettings)  \
  X(checkpoints, CheckpointSettings) \
  X(failures, FailureSettings)       \
  X(latency, LatencySettings)        \
  X(power, PowerSettings)            \
  X(services, ServiceSettings)       \
  X(stages, StageSettings)           \
  X(estimates, EstimateSettings)     \
  X(monitoring, MonitoringSettings)  \
  X(forecast, ForecastSettings)

namespace berth {

struct Clock;
struct ScenarioData;
#define BERTH_FEATURE(name, Settings) struct Settings;
BERTH_FEATURES(BERTH_FEATURE)
#undef BERTH_FEATURE

// Every settings type S has:
//   static constexpr const char* kHelp;                 // one line
//   static std::span<const Field<S>> Fields();
//   void Check(const ScenarioData& scenario) const;     // throws Error
struct Features {
  // Null = off. Shared, since a scenario never changes.
#define BERTH_FEATURE(name, Settings) std::shared_ptr<const Settings> name;
  BERTH_FEATURES(BERTH_FEATURE)
#undef BERTH_FEATURE

  bool any() const;
};

// "failures(mtbf_h=500);..." to settings; what is named is on, what is not named of it has its default.
// Throws Error with the nearest name of a feature or of a setting.
Features ParseFeatures(std::string_view text);
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
std::vector<FeatureInfo> ListFeatures();

}  // namespace berth
