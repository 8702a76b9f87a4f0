// Workloads by spec string, clusters by text, scenarios from and to files.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "env/base/spec.hpp"
#include "env/gym/scenario_source.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

// "v100=36/4,p100=36,k80=36": count, optionally GPUs per node. Names are looked up in the shipped table of
// GPU types (memory, power, price); the nearest right name is in the error.
ClusterSpec ParseCluster(const std::string& text);

// One job type's row of JobTypeTraits.
struct JobTypeFacts {
  std::string name;
  std::map<std::string, double> traits;  // by the columns' names
  std::string where;                     // it is stated: "cluster.toml:12"
};

// What a scenario is given beside its jobs; unset members keep the source's own values.
struct ScenarioSettings {
  ClusterSpec cluster;  // empty = the source's own (files)
  // What tables of jobs name.
  std::vector<Tenant> tenants;
  std::vector<JobTypeFacts> job_types;
  // When a log's or table's time is 0, as it writes times (s; dates since 1970): the first arrival unless
  // stated. Of sacct and decisions always the first arrival, of adaptive its own 0.
  std::optional<double> origin_s;
  std::uint64_t seed = 0;  // of estimates
  Clock clock;
  Knowledge knowledge = Knowledge::kOracle;
  double estimate_sigma = 0.0;
  Costs costs;
  Features features;  // on top of a file's own
};

// One row of the table of generators (X-macro list in workloads.cpp).
struct WorkloadInfo {
  const char* name;
  const char* summary;
  const char* source;
  std::span<const ParamInfo> params;
  std::shared_ptr<const ScenarioSource> (*make)(Params& params, const ScenarioSettings& settings);
};
std::span<const WorkloadInfo> Workloads();
std::shared_ptr<const ScenarioSource> MakeWorkload(const std::string& spec, const ScenarioSettings& settings);

// One fixed scenario as a source.
std::shared_ptr<const ScenarioSource> FixedSource(Scenario scenario, std::string description);

// One row of the table of trace formats.
struct FormatInfo {
  const char* name;
  const char* summary;
  const char* source;
  Clock default_clock;
  // Throws Error "file:line: expected ..., found ...".
  Scenario (*read)(const std::string& path, const ScenarioSettings& settings);
  // The files in its folder that `read` may read besides, of those that are there; null = it reads none.
  std::vector<std::string> (*beside)(const std::string& path) = nullptr;
};
std::span<const FormatInfo> Formats();
const FormatInfo& FindFormat(const std::string& name);  // Error with the nearest name

// HDF5 scenarios. Writing goes to a temporary name, is flushed and renamed. Reading validates everything.
void WriteScenario(const Scenario& scenario, const std::string& path);
Scenario ReadScenario(const std::string& path);
// Accepts a file that another program edited: all but its content hash is checked, then that is written anew.
// Error for datasets that a scenario does not have; the file is as it was then.
void RehashScenario(const std::string& path);

// HDF5 event log of one run: /events/{time,kind,job,type,device}, attributes signature, scheduler, scenario
// hash, config (INI: how the run was asked for).
void WriteEvents(const RunResult& result, const Scenario& scenario, const std::string& scheduler,
                 const std::string& config, const std::string& path);

// What a verb runs on that is not told otherwise: gangs, so that who gets which GPUs is a puzzle.
inline constexpr const char* kDefaultCluster = "v100=12,p100=12,k80=12";
inline constexpr const char* kDefaultWorkload = "synthetic(rate=0.9,jobs=1000,gangs=multi)";

}  // namespace berth
