#include "data/workloads.hpp"

#include <string>
#include <vector>

#include "data/workload_list.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

class Fixed : public ScenarioSource {
 public:
  Fixed(Scenario scenario, std::string description)
      : scenario_(std::move(scenario)), description_(std::move(description)) {}
  Scenario Make(std::uint64_t, Split, std::uint32_t, std::uint32_t, int) const override { return scenario_; }
  bool fixed() const override { return true; }
  std::string Describe() const override { return description_; }

 private:
  Scenario scenario_;
  std::string description_;
};

}  // namespace

ScenarioData BaseScenario(const ScenarioSettings& settings, const std::string& name,
                          const std::string& provenance) {
  ScenarioData data;
  data.name = name;
  data.provenance = provenance;
  data.cluster = settings.cluster;
  data.clock = settings.clock;
  data.knowledge = settings.knowledge;
  data.estimate_sigma = settings.estimate_sigma;
  data.costs = settings.costs;
  data.features = settings.features;
  data.seed = settings.seed;
  return data;
}

double OriginOf(const ScenarioSettings& settings, double first_arrival_s, const std::string& path) {
  const double origin = settings.origin_s.value_or(first_arrival_s);
  if (origin > first_arrival_s)
    throw Error(Join(path, ": expected no arrival before the origin, found one ", origin - first_arrival_s,
                     " s before"));
  return origin;
}

Scenario FromOrigin(Scenario log, const ScenarioSettings& settings, const std::string& path) {
  BERTH_CHECK(log.num_jobs() > 0, path);
  const double origin = OriginOf(settings, log.data().jobs.arrival.front(), path);
  if (origin == 0.0) return log;
  ScenarioData data = log.data();
  for (double& arrival : data.jobs.arrival) arrival -= origin;
  for (double& deadline : data.jobs.deadline) deadline -= origin;
  return Scenario(std::move(data));
}

std::string WithParam(const std::string& resolved, const std::string& param, const std::string& value) {
  Spec spec = ParseSpec(resolved);
  for (auto& [key, text] : spec.params) {
    if (key == param) text = value;
  }
  return spec.ToString();
}

std::span<const WorkloadInfo> Workloads() {
#define BERTH_ROW(function) function(),
  static const std::vector<WorkloadInfo> kTable = {BERTH_WORKLOADS(BERTH_ROW)};
#undef BERTH_ROW
  return kTable;
}

std::span<const FormatInfo> Formats() {
#define BERTH_ROW(function) function(),
  static const std::vector<FormatInfo> kTable = {BERTH_FORMATS(BERTH_ROW)};
#undef BERTH_ROW
  return kTable;
}

std::shared_ptr<const ScenarioSource> MakeWorkload(const std::string& text,
                                                   const ScenarioSettings& settings) {
  const Spec spec = ParseSpec(text);
  std::vector<std::string> names;
  for (const WorkloadInfo& info : Workloads()) {
    if (spec.name == info.name) {
      Params params(spec, info.params);
      std::shared_ptr<const ScenarioSource> source = info.make(params, settings);
      params.CheckAllRead();
      return source;
    }
    names.emplace_back(info.name);
  }
  throw Error(Join("unknown workload '", spec.name, "'", DidYouMean(spec.name, names),
                   "; 'berth list workloads' shows them all"));
}

const FormatInfo& FindFormat(const std::string& name) {
  std::vector<std::string> names;
  for (const FormatInfo& info : Formats()) {
    if (name == info.name) return info;
    names.emplace_back(info.name);
  }
  throw Error(Join("unknown trace format '", name, "'", DidYouMean(name, names),
                   "; 'berth list formats' shows them all"));
}

std::shared_ptr<const ScenarioSource> FixedSource(Scenario scenario, std::string description) {
  return std::make_shared<Fixed>(std::move(scenario), std::move(description));
}

}  // namespace berth
