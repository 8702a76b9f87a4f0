#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "tools/json.hpp"
#include "tools/reproduce/hpc.hpp"

namespace berth {
namespace {

// Key of a rule's figures -> our rule; learned policies have none.
struct GoldenRule {
  const char* key;
  const char* spec;
};
constexpr GoldenRule kCommit[] = {{"fcfs_score", "fcfs"},
                                  {"sjf_score", "sjf"},
                                  {"wfp_score", "wfp3(published_bug=true)"},
                                  {"uni_score", "unicep(published_bug=true)"},
                                  {"f1_score", "f1"},
                                  {"f2_score", "f2"},
                                  {"f3_score", "f3"},
                                  {"f4_score", "f4"},
                                  {"smallest_score", "smallest"},
                                  {"wfp3_fixed", "wfp3"},
                                  {"unicep_fixed", "unicep(floor=false)"},
                                  {"unicep_fixed_log2max1", "unicep"},
                                  {"lxf", "lxf"},
                                  {"saf", "saf"}};

// A figure recorded with every digit: the last ones depend on the order of a sum of 1024 terms. Sums of whole
// numbers are exact.
constexpr double kSumRounding = kHpcJobs * 1.2e-16;

class HpcComparison {
 public:
  HpcComparison(const Json& golden, HpcRuns& runs) : golden_(golden), runs_(runs) {}
  HpcGolden result;

  void Commit(const HpcSetting& setting, bool official) {
    const Json& recorded = golden_.at(official ? "official10" : "disjoint8").at(setting.golden_key);
    for (const auto& [key, values] : recorded.items()) {
      const std::string name = key.substr(0, key.find('|'));
      const std::string what = key.find('|') == std::string::npos ? "bsld" : key.substr(key.find('|') + 1);
      if (name == "start") continue;
      const std::string label = Join(official ? "official10 " : "disjoint8 ", setting.golden_key, " ", key);
      const auto rule = std::find_if(std::begin(kCommit), std::end(kCommit), [&](const GoldenRule& r) {
        return what == "util_mean" ? r.key == name + "_score" : r.key == name;
      });
      if (rule == std::end(kCommit)) {
        result.skipped += values.is_array() ? static_cast<int>(values.size()) : 1;
        continue;
      }
      const ResultRow& row = runs_.Get(setting, Semantics::kCommit, official, rule->spec);
      if (what == "util_mean") {
        Printed(label, row.Combined().hpc_utilization, values.get<double>(), 1e3);
        continue;
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        const Metrics& m = row.runs.at(i).metrics;
        Full(label,
             what == "bsld"   ? m.hpc_bounded_slowdown
             : what == "wait" ? m.hpc_wait_s
                              : m.hpc_turnaround_s,
             values[i].get<double>());
      }
    }
  }

  void Textbook(const HpcSetting& setting, bool official) {
    const std::string key = Join(setting.golden_log, official ? "|official10|" : "|disjoint8|",
                                 setting.backfill ? "easy" : "none");
    for (const auto& [name, recorded] : golden_.at("redecide_semantics").at("results").at(key).items()) {
      const ResultRow& row =
          runs_.Get(setting, Semantics::kRedecide, official, name == "small" ? "smallest" : name);
      const std::string label = Join(key, " ", name);
      const Json& bsld = recorded.at("bsld");
      for (std::size_t i = 0; i < bsld.size(); ++i) {
        Printed(label, row.runs.at(i).metrics.hpc_bounded_slowdown, bsld[i].get<double>(), 1e4);
      }
      const Metrics mean = row.Combined();
      Printed(label + " mean_bsld", mean.hpc_bounded_slowdown, recorded.at("mean_bsld").get<double>(), 1e4);
      Printed(label + " mean_wait_s", mean.hpc_wait_s, recorded.at("mean_wait_s").get<double>(), 1e2);
    }
  }

 private:
  void Note(bool same, const std::string& label, double found, double expected) {
    ++result.values;
    if (!same) result.differ.push_back(Join(label, ": recorded ", expected, ", found ", found));
  }
  void Full(const std::string& label, double found, double expected) {
    const double deviation = std::abs(found - expected) / std::max(std::abs(expected), 1e-300);
    result.worst = std::max(result.worst, found == expected ? 0.0 : deviation);
    Note(found == expected || deviation <= kSumRounding, label, found, expected);
  }
  void Printed(const std::string& label, double found, double expected, double scale) {
    Note(std::round(found * scale) == std::round(expected * scale), label, found, expected);
  }

  const Json& golden_;
  HpcRuns& runs_;
};

}  // namespace

HpcGolden CompareHpcGolden(const std::string& path, HpcRuns& runs) {
  try {
    const Json golden = ReadJson(path);
    HpcComparison comparison(golden, runs);
    const std::vector<int> starts = golden.at("protocol").at("starts");
    if (!std::equal(starts.begin(), starts.end(), HpcOfficialStarts().begin(), HpcOfficialStarts().end())) {
      throw Error(Join(path, ": expected the ten published starts, found others"));
    }
    for (const HpcSetting& setting : HpcSettings()) {
      for (const bool official : {true, false}) {
        comparison.Commit(setting, official);
        comparison.Textbook(setting, official);
      }
    }
    return comparison.result;
  } catch (const Json::exception& error) {
    throw Error(Join(path, ": expected the layout of rlscheduler-lublin/golden.json, found: ", error.what()));
  }
}

}  // namespace berth
