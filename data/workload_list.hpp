// The one list of workloads and of trace formats: X(function that gives the row, found by its name).
#pragma once

#include "data/workloads.hpp"

#define BERTH_WORKLOADS(X) \
  X(SyntheticInfo)         \
  X(QueueingInfo)          \
  X(MixInfo)               \
  X(OnInfo)                \
  X(ToyInfo)               \
  X(LikeInfo)              \
  X(AdaptiveWorkloadInfo)

#define BERTH_FORMATS(X) \
  X(TableFormatInfo)     \
  X(GavelFormatInfo)     \
  X(SwfFormatInfo)       \
  X(PhillyFormatInfo)    \
  X(ItpFormatInfo)       \
  X(OpenbFormatInfo)     \
  X(PaiFormatInfo)       \
  X(HeliosFormatInfo)    \
  X(AdaptiveFormatInfo)  \
  X(SacctFormatInfo)     \
  X(DecisionsFormatInfo)

namespace berth {

// A scenario with everything but throughputs and jobs: what all readers and generators begin with.
ScenarioData BaseScenario(const ScenarioSettings& settings, const std::string& name,
                          const std::string& provenance);

// What the scenario's time 0 is in a log's own times: the settings' origin, or its first arrival. Error for
// an origin after that.
double OriginOf(const ScenarioSettings& settings, double first_arrival_s, const std::string& path);

// A log in its own times, which are checked, counted from that origin. Settings of features stay: their
// times are the scenario's.
Scenario FromOrigin(Scenario log, const ScenarioSettings& settings, const std::string& path);

// A resolved spec with one parameter's text replaced: by what a nested spec resolved to.
std::string WithParam(const std::string& resolved, const std::string& param, const std::string& value);

#define BERTH_DECLARE(function) WorkloadInfo function();
BERTH_WORKLOADS(BERTH_DECLARE)
#undef BERTH_DECLARE
#define BERTH_DECLARE(function) FormatInfo function();
BERTH_FORMATS(BERTH_DECLARE)
#undef BERTH_DECLARE

}  // namespace berth
