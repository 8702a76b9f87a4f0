// Gavel's objectives against the reference's own answers and independent optima.
// What is compared and how closely stands in tools/reproduce/gavel_golden_*.cpp, which `berth reproduce
// gavel` runs too.
#include "tools/reproduce/gavel_golden.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "baselines/gavel/objectives.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"
#include "tools/reproduce/gavel_golden_checks.hpp"

namespace berth {
namespace {

const char* const kGolden = BERTH_SOURCE_DIR "/../shared/gavel/golden/golden_public.json";
const char* const kNeeds = "needs records of Gavel's own code (not shipped)";

Json Load() {
  std::ifstream file(kGolden);
  return Json::parse(file);
}

// The first instance with the policy, that policy alone.
Json One(const Json& all, const std::string& policy) {
  for (const Json& instance : all["instances"]) {
    if (!instance["policies"].contains(policy)) continue;
    Json one = instance;
    one["policies"] = {{policy, instance["policies"][policy]}};
    return {{"instances", Json::array({one})}};
  }
  return nullptr;
}

GoldenReport Check(const Json& content, const test::TemporaryFolder& folder) {
  const std::string path = folder / "golden.json";
  std::ofstream(path) << content;
  return ReadAndCheckGolden(path);
}

bool AllHeld(const GoldenReport& report) {
  return std::all_of(report.rows.begin(), report.rows.end(), [](const GoldenRow& row) { return row.held(); });
}

}  // namespace

TEST_CASE("gavel goldens: every policy of the public file within its tolerance", "[gavel][golden]") {
  if (!std::filesystem::exists(kGolden)) return test::Skip(kNeeds);
  const GoldenReport report = ReadAndCheckGolden(kGolden);
  std::set<std::string> policies;
  for (const GoldenRow& row : report.rows) {
    INFO(row.policy << ", " << row.what << ": " << row.largest << " at " << row.instance);
    CHECK(row.checks > 0);
    CHECK(row.held());
    policies.insert(row.policy);
    // Where the optimum is a face, our interior point ends where the reference's did (1.5e-4 at most).
    if (row.what.find("solver=reference") != std::string::npos) CHECK(row.largest <= 1e-3);
  }
  CHECK(policies.size() >= 20);
  for (const auto& [name, count] : report.skipped) {
    INFO(name);
    CHECK((name.find("fifo_base") == 0 || name.find("packed") != std::string::npos));
  }
}

TEST_CASE("gavel goldens: a record that is off is noticed", "[gavel][golden]") {
  if (!std::filesystem::exists(kGolden)) return test::Skip(kNeeds);
  const Json all = Load();
  const test::TemporaryFolder folder;
  int changed = 0;
  for (const char* policy :
       {"max_min_fairness_perf", "max_min_fairness", "max_min_fairness_water_filling_perf",
        "finish_time_fairness_perf_second_call", "min_total_duration_perf", "max_sum_throughput_perf",
        "max_sum_throughput_normalized_by_cost_perf_SLOs", "allox", "max_min_fairness_strategy_proof_perf"}) {
    INFO(policy);
    Json one = One(all, policy);
    REQUIRE(AllHeld(Check(one, folder)));
    Json& record = one["instances"][0]["policies"][policy];
    const char* key = record.contains("objective_opt") ? "objective_opt" : "objective";
    record[key] = record[key].get<double>() * 1.00001;
    CHECK_FALSE(AllHeld(Check(one, folder)));
    ++changed;
  }
  for (const auto& [policy, key] : {std::pair{"min_total_duration", "T_last_feasible"},
                                    std::pair{"min_total_duration_perf", "T_last_feasible"}}) {
    Json one = One(all, policy);
    Json& value = one["instances"][0]["policies"][policy][key];
    value = value.get<double>() + 1.0;
    CHECK_FALSE(AllHeld(Check(one, folder)));
  }
  for (const char* policy : {"isolated", "proportional", "fifo_perf"}) {
    Json one = One(all, policy);
    Json& value = one["instances"][0]["policies"][policy]["allocation"][0][0];
    value = value.get<double>() + 1e-6;
    CHECK_FALSE(AllHeld(Check(one, folder)));
  }
  Json one = One(all, "hierarchical_water_filling_perf");
  Json& net =
      one["instances"][0]["policies"]["hierarchical_water_filling_perf"]["normalized_effective_throughputs"];
  net[0] = net[0].get<double>() * 1.00001;
  CHECK_FALSE(AllHeld(Check(one, folder)));
}

TEST_CASE("gavel goldens: unknown policies are named, other formats refused", "[gavel][golden]") {
  if (!std::filesystem::exists(kGolden)) return test::Skip(kNeeds);
  const test::TemporaryFolder folder;
  Json one = One(Load(), "isolated");
  one["instances"][0]["policies"]["max_of_everything"] = {{"error", nullptr}};
  const GoldenReport report = Check(one, folder);
  CHECK(report.skipped.count("max_of_everything: no check for it") == 1);
  CHECK(AllHeld(report));
  one["instances"][0]["policies"]["isolated"].erase("allocation");
  CHECK_THROWS_WITH(Check(one, folder), Catch::Contains("instance g00, policy isolated"));
  CHECK_THROWS_AS(Check({{"instances", Json::array()}}, folder), Error);
  CHECK_THROWS_WITH(ReadAndCheckGolden(folder / "none.json"), Catch::Contains("no such file"));
}

TEST_CASE("gavel goldens: types are the instance's own, however many and whatever they are called",
          "[gavel][golden]") {
  const test::TemporaryFolder folder;
  // One job on one GPU of each of 300 types, where it runs at 1 to 300 steps/s: the greatest sum of
  // throughputs is 300.
  Json one{{"id", "wide"}, {"cluster_spec", Json::object()}, {"pair_throughput", Json::object()}};
  Json job{{"job_id", 0},
           {"scale_factor", 1},
           {"priority_weight", 1.0},
           {"num_steps_remaining", 100},
           {"time_since_start", 0.0}};
  for (int i = 1; i <= 300; ++i) {
    const std::string name = "type" + std::to_string(1000 + i);
    one["cluster_spec"][name] = 1;
    job["throughput"][name] = i;
  }
  one["jobs"] = {job};
  one["policies"]["max_sum_throughput_perf"] = {{"objective", 300.0}, {"allocation", Json::array()}};
  CHECK(AllHeld(Check({{"instances", Json::array({one})}}, folder)));
  one["policies"]["max_sum_throughput_perf"]["objective"] = 299.0;
  CHECK_FALSE(AllHeld(Check({{"instances", Json::array({one})}}, folder)));
  one["cluster_spec"] = Json::object();
  CHECK_THROWS_WITH(Check({{"instances", Json::array({one})}}, folder),
                    Catch::Contains("cluster_spec without types"));

  if (!std::filesystem::exists(kGolden)) return test::Skip(kNeeds);
  std::string text = Load().dump();
  const std::pair<std::string, std::string> names[] = {
      {"k80", "a10g"}, {"p100", "h200"}, {"v100", "tpu_v5e"}};
  for (const auto& [name, other] : names) {
    const std::string from = Join('"', name, '"'), to = Join('"', other, '"');
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
  const GoldenReport renamed = Check(Json::parse(text), folder), named = ReadAndCheckGolden(kGolden);
  const auto by_v100 = [](const std::string& policy) {
    return policy == "min_total_duration" || policy == "finish_time_fairness" ||
           policy == "finish_time_fairness_second_call";
  };
  CHECK(renamed.skipped.size() == named.skipped.size() + 3);
  for (const GoldenRow& row : named.rows) {
    INFO(row.policy << ", " << row.what);
    const auto other = std::find_if(
        renamed.rows.begin(), renamed.rows.end(),
        [&](const GoldenRow& r) { return r.policy == row.policy && r.what == row.what; });
    REQUIRE((other == renamed.rows.end()) == by_v100(row.policy));
    if (other != renamed.rows.end()) CHECK((other->checks == row.checks && other->held() == row.held()));
  }
  // Names in the other order turn the columns of an allocation round.
  Json one_policy = One(Load(), "isolated");
  std::string turned = one_policy.dump();
  for (const auto& [name, other] :
       {std::pair{"\"k80\"", "\"z\""}, std::pair{"\"p100\"", "\"y\""}, std::pair{"\"v100\"", "\"x\""}}) {
    for (std::size_t at = turned.find(name); at != std::string::npos; at = turned.find(name, at))
      turned.replace(at, std::string(name).size(), other);
  }
  Json backwards = Json::parse(turned);
  backwards["instances"][0]["cluster_spec"] = {
      {"x", 1}, {"y", 2}, {"z", 3}};  // unlike, so that columns differ
  one_policy["instances"][0]["cluster_spec"] = {{"k80", 3}, {"p100", 2}, {"v100", 1}};
  Json& rows = one_policy["instances"][0]["policies"]["isolated"]["allocation"];
  const gavel::Allocation x = gavel::IsolatedAllocation(ReadGoldenProblem(one_policy["instances"][0]));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
  CHECK(AllHeld(Check(one_policy, folder)));
  backwards["instances"][0]["policies"]["isolated"]["allocation"] = rows;
  CHECK_FALSE(AllHeld(Check(backwards, folder)));
  for (Json& row : backwards["instances"][0]["policies"]["isolated"]["allocation"])
    std::reverse(row.begin(), row.end());
  CHECK(AllHeld(Check(backwards, folder)));
}

}  // namespace berth
