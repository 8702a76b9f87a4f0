#include "tools/reproduce/run_cache.hpp"

#include <cmath>
#include <fstream>
#include <limits>

#include "env/base/check.hpp"
#include "tools/json.hpp"
#include "tools/output_file.hpp"
#include "tools/results.hpp"
#include "tools/spec_files.hpp"

namespace berth {
namespace {

constexpr int kVersion = 3;

struct OutcomeField {
  const char* key;
  double PlannedOutcome::*member;
};
constexpr OutcomeField kFields[] = {
    {"mean_jct_s", &PlannedOutcome::mean_jct_s},
    {"makespan_s", &PlannedOutcome::makespan_s},
    {"utilization", &PlannedOutcome::utilization},
    {"cost", &PlannedOutcome::cost},
    {"deadline_miss_rate", &PlannedOutcome::deadline_miss_rate},
    {"mean_jct_low_s", &PlannedOutcome::mean_jct_low_s},
    {"mean_jct_high_s", &PlannedOutcome::mean_jct_high_s},
    {"p99_jct_s", &PlannedOutcome::p99_jct_s},
    {"p99_wait_s", &PlannedOutcome::p99_wait_s},
    {"max_wait_s", &PlannedOutcome::max_wait_s},
    {"mean_ftf", &PlannedOutcome::mean_ftf},
    {"max_ftf", &PlannedOutcome::max_ftf},
    {"hpc_bounded_slowdown", &PlannedOutcome::hpc_bounded_slowdown},
    {"gini_slowdown", &PlannedOutcome::gini_slowdown},
    {"backlog_growth", &PlannedOutcome::backlog_growth},
    {"wall_s", &PlannedOutcome::wall_s},
    {"cpu_s", &PlannedOutcome::cpu_s},
};

double NumberOrNan(const Json& json) {  // JSON has no NaN: null stands for it
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

std::string Path(const std::string& folder, const std::string& key) {
  return folder + "/" + TextHash(key) + ".json";
}

}  // namespace

std::string RunKey(std::uint64_t scenario_hash, const std::string& spec, Window window) {
  std::string scheduler = spec;
  for (const SpecFile& file : SpecFiles(spec)) {  // of policies, inside another scheduler too
    const std::size_t at = scheduler.find("(" + file.said);
    if (file.said.starts_with("file=") && at != std::string::npos)
      scheduler.replace(at + 1, file.said.size(), "file=" + FileHash(file.path));
  }
  return Join("scenario ", HexSignature(scenario_hash), ", scheduler ", scheduler, ", window ", window.begin,
              ":", window.end);
}

std::optional<KeptRun> ReadOutcome(const std::string& folder, const std::string& key, bool any_source) {
  std::ifstream file(Path(folder, key));
  if (!file) return std::nullopt;
  const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  try {
    if (json.is_discarded() || json.at("version") != kVersion || json.at("key") != key) return std::nullopt;
    KeptRun kept;
    kept.source = json.at("source");
    if (!any_source && kept.source != RunSource()) return std::nullopt;
    PlannedOutcome& outcome = kept.outcome;
    outcome.stopped = json.at("stopped");
    outcome.jobs = json.at("jobs");
    outcome.unfinished = json.at("unfinished");
    outcome.arrivals_ran_out = json.at("arrivals_ran_out");
    for (const OutcomeField& field : kFields) outcome.*field.member = NumberOrNan(json.at(field.key));
    for (const Json& value : json.at("jct_s")) outcome.jct_s.push_back(NumberOrNan(value));
    return kept;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void WriteOutcome(const std::string& folder, const std::string& key, const std::string& what,
                  const PlannedOutcome& outcome) {
  Json json;
  json["version"] = kVersion;
  json["key"] = key;
  json["source"] = RunSource();
  json["run"] = what;
  json["stopped"] = outcome.stopped;
  json["jobs"] = outcome.jobs;
  json["unfinished"] = outcome.unfinished;
  json["arrivals_ran_out"] = outcome.arrivals_ran_out;
  for (const OutcomeField& field : kFields) json[field.key] = outcome.*field.member;
  json["jct_s"] = outcome.jct_s;
  WriteTextFile(Path(folder, key), json.dump() + "\n");
}

}  // namespace berth
