#include "tools/bench/scaling.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/child.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/runner.hpp"
#include "tools/bench/sweeps.hpp"
#include "tools/progress.hpp"
#include "tools/table.hpp"

namespace berth::bench {

PowerLaw FitPowerLaw(std::span<const double> x, std::span<const double> y) {
  BERTH_CHECK(x.size() == y.size() && x.size() >= 2, x.size(), " and ", y.size(), " values");
  const auto n = static_cast<double>(x.size());
  double mean_x = 0.0, mean_y = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    BERTH_CHECK(x[i] > 0.0 && y[i] > 0.0, "a power law has no point (", x[i], ", ", y[i], ")");
    mean_x += std::log(x[i]) / n;
    mean_y += std::log(y[i]) / n;
  }
  double xx = 0.0, xy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
    xy += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
  }
  BERTH_CHECK(xx > 0.0, "all x are equal");
  PowerLaw law;
  law.exponent = xy / xx;
  const double intercept = mean_y - law.exponent * mean_x;
  law.factor = std::exp(intercept);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = std::log(y[i]) - intercept - law.exponent * std::log(x[i]);
    law.residual = std::max(law.residual, std::abs(off));
  }
  return law;
}

namespace {

constexpr double kShort =
    1.0;  // s of CPU time: a point below it is measured three times, and the median taken

ScalingPoint Once(const Sweep& sweep, int x, double limit_s, ScalingReport& report) {
  const ChildResult child = RunInChild(
      [&] {
        try {
          const Cost cost = sweep.measure(x);
          return Json{{"cpu_s", cost.cpu_s}, {"wall_s", cost.wall_s}, {"peak_bytes", PeakMemoryBytes()}}
              .dump();
        } catch (const CannotRun& reason) {
          return Json{{"not_run", reason.what()}}.dump();
        }
      },
      limit_s);
  report.failure = child.failure;
  if (!report.failure.empty()) return {};
  const Json json = Json::parse(child.text);
  if (json.contains("not_run")) {
    report.not_run = json.at("not_run");
    return {};
  }
  return {static_cast<double>(x), json.at("cpu_s"), json.at("wall_s"), json.at("peak_bytes")};
}

ScalingPoint Point(const Sweep& sweep, int x, double limit_s, ScalingReport& report) {
  std::vector<ScalingPoint> tries = {Once(sweep, x, limit_s, report)};
  while (report.failure.empty() && report.not_run.empty() && tries.size() < 3 && tries[0].cpu_s < kShort)
    tries.push_back(Once(sweep, x, limit_s, report));
  std::vector<double> cpu, wall;
  for (const ScalingPoint& one : tries) cpu.push_back(one.cpu_s), wall.push_back(one.wall_s);
  ScalingPoint point = tries[0];
  point.cpu_s = SpreadOf(cpu).median;
  point.wall_s = SpreadOf(wall).median;
  return point;
}

void Fit(const Sweep& sweep, ScalingReport& report) {
  if (report.points.size() < 2) return;
  std::vector<double> x, time, memory;
  for (const ScalingPoint& point : report.points) {
    x.push_back(point.x);
    time.push_back(sweep.by_wall ? point.wall_s : point.cpu_s);
    memory.push_back(point.peak_bytes);
  }
  report.time = FitPowerLaw(x, time);
  report.memory = FitPowerLaw(x, memory);
  report.fitted = true;
}

}  // namespace

std::vector<ScalingReport> MeasureScaling(const std::string& only, double limit_s) {
  std::vector<ScalingReport> reports;
  Progress progress("scaling");
  const auto sweeps = Sweeps();
  std::vector<std::string> names;
  for (const Sweep& sweep : sweeps) names.emplace_back(sweep.name);
  const auto chosen = Choose(names, only, "--sweeps");
  for (const std::size_t i : chosen) {
    const Sweep& sweep = sweeps[i];
    progress.Update(static_cast<double>(reports.size()) / static_cast<double>(chosen.size()), sweep.name);
    ScalingReport report;
    report.name = sweep.name;
    report.what = sweep.what;
    report.axis = sweep.axis;
    report.expected = sweep.expected;
    for (const int x : sweep.points) {
      const ScalingPoint point = Point(sweep, x, limit_s, report);
      if (!report.failure.empty() || !report.not_run.empty()) break;
      report.points.push_back(point);
    }
    Fit(sweep, report);
    reports.push_back(std::move(report));
  }
  return reports;
}

std::string TableOf(const std::vector<ScalingReport>& reports) {
  Table table({"sweep", "axis", "from", "to", "CPU s", "to CPU s", "peak MiB", "to MiB", "time ~ x^k",
               "expected", "memory ~ x^k"});
  std::string below;
  for (const ScalingReport& report : reports) {
    below += Join(report.name, ": ", report.what,
                  report.failure.empty() ? "" : Join("; GIVEN UP: ", report.failure),
                  report.not_run.empty() ? "" : Join("; not measured: ", report.not_run), "\n");
    if (!report.fitted) continue;
    const ScalingPoint &first = report.points.front(), &last = report.points.back();
    table.AddRow({report.name, report.axis, Thousands(first.x), Thousands(last.x), Figure(first.cpu_s),
                  Figure(last.cpu_s), Fixed(first.peak_bytes / kMib, 0), Fixed(last.peak_bytes / kMib, 0),
                  Fixed(report.time.exponent, 2), report.expected, Fixed(report.memory.exponent, 2)});
  }
  return table.ToString() + "\n" + below;
}

Json JsonOf(const std::vector<ScalingReport>& reports) {
  Json list = Json::array();
  for (const ScalingReport& report : reports) {
    Json json = {{"name", report.name}, {"what", report.what}, {"axis", report.axis}};
    json["points"] = Json::array();
    for (const ScalingPoint& point : report.points) {
      json["points"].push_back({{"x", point.x},
                                {"cpu_s", point.cpu_s},
                                {"wall_s", point.wall_s},
                                {"peak_memory_bytes", point.peak_bytes}});
    }
    json["exponent"] = report.fitted ? Json(report.time.exponent) : Json(nullptr);
    json["residual"] = report.fitted ? Json(report.time.residual) : Json(nullptr);
    json["expected"] = report.expected;
    json["memory_exponent"] = report.fitted ? Json(report.memory.exponent) : Json(nullptr);
    json["not_run"] = report.not_run.empty() ? Json(nullptr) : Json(report.not_run);
    json["failure"] = report.failure.empty() ? Json(nullptr) : Json(report.failure);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace berth::bench
