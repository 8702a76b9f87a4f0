// The score rules under both semantics against recorded answers: of RLScheduler's own simulator (`commit`,
// clock hpc; Zhang et al., SC 2020, HPCSimPickJobs.py) and of an independent textbook implementation
// (`redecide`, clock event).
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/schedulers.hpp"
#include "data/sequence.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/skip.hpp"

namespace berth {
namespace {

using nlohmann::json;

const std::string kFolder = BERTH_SOURCE_DIR "/../shared/traces/rlscheduler-lublin/";
const char* const kNeeds = "needs RLScheduler's Lublin logs (not shipped)";

bool Have() {
  return std::filesystem::exists(kFolder + "golden.json");
}

json Golden() {
  std::ifstream file(kFolder + "golden.json");
  return json::parse(file);
}

// Golden key of a rule's figures -> our rule.
const std::vector<std::pair<std::string, std::string>> kCommit = {{"fcfs_score", "fcfs("},
                                                                  {"sjf_score", "sjf("},
                                                                  {"wfp_score", "wfp3(published_bug=true,"},
                                                                  {"uni_score", "unicep(published_bug=true,"},
                                                                  {"f1_score", "f1("},
                                                                  {"f2_score", "f2("},
                                                                  {"f3_score", "f3("},
                                                                  {"f4_score", "f4("},
                                                                  {"smallest_score", "smallest("},
                                                                  {"wfp3_fixed", "wfp3("},
                                                                  {"unicep_fixed", "unicep(floor=false,"},
                                                                  {"unicep_fixed_log2max1", "unicep("},
                                                                  {"lxf", "lxf("},
                                                                  {"saf", "saf("}};

const Scenario& Log(const std::string& key) {
  static std::map<std::string, Scenario> logs;
  const std::string name = key.find("new2") != std::string::npos ? "lublin_256_new2" : "lublin_256";
  if (logs.count(name) == 0) logs[name] = ReadLogged(kFolder + name + ".swf.gz");
  return logs[name];
}

Metrics MeasureOf(const Scenario& scenario, const std::string& spec) {
  return test::RunOf(spec, scenario).metrics;
}

// The file has every digit of the recorded doubles; the last ones depend on the order of a sum of 1024 terms,
// whose rounding is below 1024 x 1.2e-16. Waits and turnarounds are sums of whole numbers, hence exact.
constexpr double kSum = 1024 * 1.2e-16;

}  // namespace

TEST_CASE("hpc goldens: commit semantics, the authors' own simulator, ten published sequences",
          "[hpc][golden]") {
  if (!Have()) return test::Skip(kNeeds);
  const json golden = Golden();
  const std::vector<int> starts = golden["protocol"]["starts"];
  REQUIRE(starts.size() == 10);
  int checked = 0;
  for (const auto& [key, recorded] : golden["official10"].items()) {
    const std::string backfill = key.back() == '1' ? "easy" : "none";
    for (const auto& [name, rule] : kCommit) {
      const std::string spec = rule + "semantics=commit,backfill=" + backfill + ")";
      CAPTURE(key, spec);
      double utilization = 0.0;
      for (std::size_t i = 0; i < starts.size(); ++i) {
        CAPTURE(starts[i]);
        const Metrics found = MeasureOf(Sequence(Log(key), starts[i], 1024, {ClockKind::kHpc}), spec);
        const double bsld = recorded[name + "|bsld"][i];
        CHECK(std::abs(found.hpc_bounded_slowdown - bsld) <= kSum * bsld);
        CHECK(found.hpc_bounded_slowdown ==
              Approx(found.mean_slowdown).epsilon(1e-12));  // one type: the same
        ++checked;
        if (recorded.contains(name + "|wait")) {
          CHECK(found.hpc_wait_s == recorded[name + "|wait"][i].get<double>());
          CHECK(found.hpc_turnaround_s == recorded[name + "|turn"][i].get<double>());
          checked += 2;
        }
        utilization += found.hpc_utilization / 10.0;
      }
      const std::string mean = name.substr(0, name.find('_')) + "|util_mean";
      if (name.find("_score") == std::string::npos || !recorded.contains(mean)) continue;
      CHECK(std::round(utilization * 1000.0) / 1000.0 == Approx(recorded[mean].get<double>()).epsilon(1e-12));
      ++checked;
    }
  }
  CHECK(checked == 4 * (14 * 10 + 9 * 20 + 5));
}

TEST_CASE("hpc goldens: commit semantics, eight disjoint windows", "[hpc][golden]") {
  if (!Have()) return test::Skip(kNeeds);
  const json golden = Golden();
  int checked = 0;
  for (const auto& [key, recorded] : golden["disjoint8"].items()) {
    const std::string backfill = key.back() == '1' ? "easy" : "none";
    for (const auto& [name, rule] : kCommit) {
      if (!recorded.contains(name)) continue;
      const std::string spec = rule + "semantics=commit,backfill=" + backfill + ")";
      for (std::size_t i = 0; i < recorded["start"].size(); ++i) {
        CAPTURE(key, spec, i);
        const Scenario scenario = Sequence(Log(key), recorded["start"][i], 1024, {ClockKind::kHpc});
        const double bsld = recorded[name][i];
        CHECK(std::abs(MeasureOf(scenario, spec).hpc_bounded_slowdown - bsld) <= kSum * bsld);
        ++checked;
      }
    }
  }
  CHECK(checked == 4 * 8 * 8);
}

TEST_CASE("hpc goldens: redecide semantics with textbook EASY, both sets of sequences", "[hpc][golden]") {
  if (!Have()) return test::Skip(kNeeds);
  const json golden = Golden();
  int checked = 0;
  const auto printed = [](double x, double scale) { return std::round(x * scale) / scale; };
  for (const auto& [key, rules] : golden["redecide_semantics"]["results"].items()) {
    const bool official = key.find("official10") != std::string::npos;
    const std::string backfill = key.find("|easy") != std::string::npos ? "easy" : "none";
    std::vector<int> starts = golden["protocol"]["starts"];
    if (!official) starts = {1024, 2048, 3072, 4096, 5120, 6144, 7168, 8192};
    for (const auto& [name, recorded] : rules.items()) {
      const std::string spec = (name == "small" ? "smallest" : name) + "(backfill=" + backfill + ")";
      CAPTURE(key, spec);
      double bsld = 0.0, wait = 0.0;
      for (std::size_t i = 0; i < starts.size(); ++i) {
        CAPTURE(starts[i]);
        const Metrics found = MeasureOf(Sequence(Log(key), starts[i], 1024, {ClockKind::kEvent}), spec);
        CHECK(printed(found.hpc_bounded_slowdown, 1e4) ==
              Approx(recorded["bsld"][i].get<double>()).epsilon(1e-12));
        bsld += found.hpc_bounded_slowdown / static_cast<double>(starts.size());
        wait += found.hpc_wait_s / static_cast<double>(starts.size());
        ++checked;
      }
      CHECK(printed(bsld, 1e4) == Approx(recorded["mean_bsld"].get<double>()).epsilon(1e-12));
      CHECK(printed(wait, 1e2) == Approx(recorded["mean_wait_s"].get<double>()).epsilon(1e-12));
    }
  }
  CHECK(checked == 2 * 2 * 11 * (10 + 8));
}

TEST_CASE("hpc goldens: whoever fits starts, in score order", "[hpc][golden]") {
  // By an independent implementation: fcfs 303 and 291, the other rules 36 to 48 on Lublin-1 and 121 to 191
  // on Lublin-2.
  if (!Have()) return test::Skip(kNeeds);
  const std::vector<int> starts = Golden()["protocol"]["starts"];
  struct Stated {
    const char* log;
    double fcfs, low, high;
  };
  for (const Stated& stated : {Stated{"lublin_256", 303, 36, 48}, Stated{"lublin_256_new2", 291, 121, 191}}) {
    double low = 1e9, high = 0.0;
    for (const char* rule :
         {"fcfs", "sjf", "saf", "smallest", "f1", "f2", "f3", "f4", "wfp3", "unicep", "lxf"}) {
      double mean = 0.0;
      for (int start : starts) {
        const Scenario scenario = Sequence(Log(stated.log), start, 1024, {ClockKind::kEvent});
        mean += MeasureOf(scenario, std::string(rule) + "(overtake=true)").hpc_bounded_slowdown / 10.0;
      }
      CAPTURE(stated.log, rule, mean);
      if (rule == std::string("fcfs")) {
        CHECK(std::round(mean) == stated.fcfs);
      } else {
        low = std::min(low, mean), high = std::max(high, mean);
        UNSCOPED_INFO(rule << " " << mean);
      }
    }
    // The ends are printed without decimals, and not all rounded the same way: f1 has 121.58 on Lublin-2.
    CHECK(std::abs(low - stated.low) < 1.0);
    CHECK(std::abs(high - stated.high) < 1.0);
  }
}

TEST_CASE("hpc goldens: easy and conservative are fcfs with backfilling, by their usual names", "[hpc]") {
  if (!Have()) return test::Skip(kNeeds);
  const Scenario scenario = Sequence(Log("lublin_256"), 1981, 512, {ClockKind::kEvent});
  const auto signature = [&](const std::string& spec) { return test::RunOf(spec, scenario).signature; };
  CHECK(signature("easy") == signature("fcfs(backfill=easy)"));
  CHECK(signature("conservative") == signature("fcfs(backfill=conservative)"));
  CHECK(signature("easy") != signature("fcfs"));
  CHECK(signature("easy") != signature("conservative"));
}

}  // namespace berth
