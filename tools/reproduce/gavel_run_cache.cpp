#include "tools/reproduce/gavel_run_cache.hpp"

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "env/check.hpp"
#include "tools/json.hpp"
#include "tools/output_file.hpp"
#include "tools/results.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr int kVersion = 1;

std::uint64_t Fnv(std::uint64_t hash, const std::string& text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}
constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325ULL;

// A commit names its source only where the tree had no changes.
const std::string& Source() {
  static const std::string source = [] {
    const std::string commit = SourceCommit();
    if (commit != "unknown" && !commit.ends_with("-dirty")) return commit;
    std::ifstream binary("/proc/self/exe", std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(binary), {});
    return Join(commit, "+", HexSignature(Fnv(kFnvBasis, bytes)));
  }();
  return source;
}

struct Field {
  const char* key;
  double GavelOutcome::*member;
};
constexpr Field kFields[] = {
    {"mean_jct_s", &GavelOutcome::mean_jct_s},
    {"makespan_s", &GavelOutcome::makespan_s},
    {"utilization", &GavelOutcome::utilization},
    {"cost", &GavelOutcome::cost},
    {"deadline_miss_rate", &GavelOutcome::deadline_miss_rate},
    {"mean_jct_low_s", &GavelOutcome::mean_jct_low_s},
    {"mean_jct_high_s", &GavelOutcome::mean_jct_high_s},
    {"wall_s", &GavelOutcome::wall_s},
};

double NumberOrNan(const Json& json) {  // JSON has no NaN: null stands for it
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

std::string Path(const std::string& folder, const std::string& key) {
  const std::uint64_t name = Fnv(kFnvBasis, key);
  return folder + "/" + HexSignature(name) + ".json";
}

}  // namespace

std::string RunKey(std::uint64_t scenario_hash, const std::string& spec, Window window) {
  return Join("scenario ", HexSignature(scenario_hash), ", scheduler ", spec, ", window ", window.begin, ":",
              window.end, ", source ", Source());
}

std::optional<GavelOutcome> ReadOutcome(const std::string& folder, const std::string& key) {
  std::ifstream file(Path(folder, key));
  if (!file) return std::nullopt;
  const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  try {
    if (json.is_discarded() || json.at("version") != kVersion || json.at("key") != key) return std::nullopt;
    GavelOutcome outcome;
    outcome.jobs = json.at("jobs");
    outcome.unfinished = json.at("unfinished");
    outcome.arrivals_ran_out = json.at("arrivals_ran_out");
    for (const Field& field : kFields) outcome.*field.member = NumberOrNan(json.at(field.key));
    for (const Json& value : json.at("jct_s")) outcome.jct_s.push_back(NumberOrNan(value));
    return outcome;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void WriteOutcome(const std::string& folder, const std::string& key, const std::string& what,
                  const GavelOutcome& outcome) {
  Json json;
  json["version"] = kVersion;
  json["key"] = key;
  json["run"] = what;
  json["jobs"] = outcome.jobs;
  json["unfinished"] = outcome.unfinished;
  json["arrivals_ran_out"] = outcome.arrivals_ran_out;
  for (const Field& field : kFields) json[field.key] = outcome.*field.member;
  json["jct_s"] = outcome.jct_s;
  WriteTextFile(Path(folder, key), json.dump() + "\n");
}

}  // namespace berth
