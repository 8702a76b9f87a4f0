#include "tools/reproduce/gavel_golden.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <stdexcept>

#include "env/base/check.hpp"
#include "tools/reproduce/gavel_golden_checks.hpp"
#include "tools/reproduce/page.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

const GoldenPolicy* Find(const std::string& name) {
  for (const std::span<const GoldenPolicy> table : {SingleJobGoldens(), IteratedGoldens(), PackedGoldens()}) {
    for (const GoldenPolicy& policy : table) {
      if (name == policy.name) return &policy;
    }
  }
  return nullptr;
}

}  // namespace

GoldenReport ReadAndCheckGolden(const std::string& path) {
  GoldenReport report;
  const auto take = [&report](const std::string& policy, const std::string& instance,
                              const GoldenMeasure& m) {
    const auto same = [&](const GoldenRow& row) { return row.policy == policy && row.what == m.what; };
    auto row = std::find_if(report.rows.begin(), report.rows.end(), same);
    if (row == report.rows.end()) row = report.rows.insert(row, {policy, m.what, m.tolerance, 0, -1.0, ""});
    ++row->checks;
    const double value = std::isnan(m.value) ? std::numeric_limits<double>::infinity() : m.value;
    if (value > row->largest) row->largest = value, row->instance = instance;
  };
  std::string where = path;
  try {
    const Json content = ReadJson(path);
    const Json& instances = content.at("instances");
    for (const Json& instance : instances) {
      const std::string id = instance.at("id");
      for (const auto& [name, record] : instance.at("policies").items()) {
        where = Join(path, ": instance ", id, ", policy ", name);
        const GoldenPolicy* policy = Find(name);
        const bool failed = record.contains("error") && !record["error"].is_null();
        std::string reason;
        if (policy == nullptr) {
          reason = "no check for it";
        } else if (policy->check == nullptr) {
          reason = policy->reason;
        } else if (failed) {
          reason = "the reference failed";
        }
        if (!reason.empty()) {
          ++report.skipped[name + ": " + reason];
          continue;
        }
        gavel::Problem problem = ReadGoldenProblem(instance);
        const std::vector<std::string>& types = problem.type_names;
        if (policy->by_v100 && std::find(types.begin(), types.end(), "v100") == types.end()) {
          ++report.skipped[name + ": the reference reads the speeds of a v100, and there is none"];
          continue;
        }
        for (const GoldenMeasure& measure : policy->check({instance, record, std::move(problem)})) {
          take(name, id, measure);
        }
      }
    }
    report.instances = static_cast<int>(instances.size());
  } catch (const Json::exception& error) {
    throw Error(Join(where, ": expected the format of golden_public.json, found ", error.what()));
  } catch (const std::logic_error& error) {  // a job or row that is not there
    throw Error(Join(where, ": expected the format of golden_public.json, found ", error.what()));
  }
  if (report.rows.empty()) throw Error(Join(path, ": expected at least one policy to check, found none"));
  return report;
}

int CheckGavelGolden(const std::string& file) {
  const GoldenReport report = ReadAndCheckGolden(file);
  std::cout << file << ": " << report.instances << " instances\n\n";
  Table table({"policy", "measure", "checks", "largest", "at", "tolerance", "held"});
  for (const GoldenRow& row : report.rows) {
    const bool shown = std::isinf(row.tolerance);
    table.AddRow({row.policy, row.what, std::to_string(row.checks), Scientific(row.largest), row.instance,
                  shown ? "-" : Scientific(row.tolerance),
                  shown        ? "shown"
                  : row.held() ? "yes"
                               : "NO"});
  }
  std::cout << table.ToString();
  for (const auto& [name, count] : report.skipped) std::cout << "skipped " << count << " x " << name << "\n";
  const auto broken =
      std::count_if(report.rows.begin(), report.rows.end(), [](const GoldenRow& row) { return !row.held(); });
  std::cout << "\n" << report.rows.size() << " measures, " << broken << " beyond tolerance\n";
  return broken == 0 ? 0 : 1;
}

}  // namespace berth
