#include "tools/bench/runner.hpp"

#include <algorithm>
#include <cmath>

#include "tools/bench/child.hpp"
#include "tools/bench/measure.hpp"
#include "tools/progress.hpp"
#include "tools/table.hpp"

namespace berth::bench {
namespace {

constexpr double kGib = 1024.0 * kMib;

const char* Sign(Bound bound) {
  return bound == Bound::kAtLeast ? ">=" : "<=";
}

// The child's side: everything that the parent is to know, as one line of JSON.
std::string MeasureHere(const BenchRow& row, const BenchSetup& setup) {
  Json json = Json::object();
  try {
    const Measured measured = row.measure(setup);
    BERTH_CHECK(!measured.values.empty(), row.name, " has no values");
    json = {{"values", measured.values}, {"note", measured.note}, {"detail", measured.detail}};
  } catch (const CannotRun& reason) {
    json["not_run"] = reason.what();
  }
  json["peak_bytes"] = PeakMemoryBytes();
  return json.dump();
}

}  // namespace

bool RowReport::Met() const {
  const double value = SpreadOf(measured.values).median;
  const bool enough = row.bound == Bound::kAtLeast ? value >= row.target : value <= row.target;
  return enough && (row.memory_gib == 0.0 || peak_bytes <= row.memory_gib * kGib);
}

RowReport MeasureRow(const BenchRow& row, const BenchSetup& setup, double limit_s) {
  RowReport report;
  report.row = row;
  const ChildResult child = RunInChild([&] { return MeasureHere(row, setup); }, limit_s);
  report.cpu_s = child.cpu_s;
  report.wall_s = child.wall_s;
  report.failure = child.failure;
  if (!report.failure.empty()) return report;
  const Json json = Json::parse(child.text);
  report.peak_bytes = json.at("peak_bytes");
  if (json.contains("not_run")) {
    report.not_run = json.at("not_run");
    return report;
  }
  report.measured.values = json.at("values").get<std::vector<double>>();
  report.measured.note = json.at("note");
  report.measured.detail = json.at("detail");
  return report;
}

std::vector<RowReport> MeasureRows(const std::vector<BenchRow>& rows, const BenchSetup& setup,
                                   double limit_s) {
  Progress progress("bench");
  std::vector<RowReport> reports;
  for (const BenchRow& row : rows) {
    progress.Update(static_cast<double>(reports.size()) / static_cast<double>(rows.size()), row.name);
    reports.push_back(MeasureRow(row, setup, limit_s));
  }
  return reports;
}

std::string Figure(double value) {
  const double size = std::abs(value);
  if (size >= 1000.0) return Thousands(value);
  const int before = size >= 1.0 ? static_cast<int>(std::log10(size)) + 1 : 0;
  return Fixed(value, size == 0.0 || before > 0 ? 3 - std::min(before, 3) + (before == 3 ? 1 : 0) : 4);
}

namespace {

// Where rows say how their time is spent: a column for each stage that one of them has.
std::string StagesOf(const std::vector<RowReport>& reports) {
  std::vector<std::string> stages;
  for (const RowReport& report : reports) {
    if (!report.measured.detail.contains("stages")) continue;
    for (const auto& [stage, share] : report.measured.detail["stages"].items()) {
      if (std::find(stages.begin(), stages.end(), stage) == stages.end()) stages.push_back(stage);
    }
  }
  if (stages.empty()) return "";
  std::vector<std::string> header = {"share of the time, %"};
  header.insert(header.end(), stages.begin(), stages.end());
  Table table(header);
  for (const RowReport& report : reports) {
    if (!report.measured.detail.contains("stages")) continue;
    const Json& shares = report.measured.detail["stages"];
    std::vector<std::string> line = {report.row.name};
    for (const std::string& stage : stages)
      line.push_back(shares.contains(stage) ? Fixed(100.0 * shares[stage].get<double>(), 1) : "-");
    table.AddRow(line);
  }
  return "\n" + table.ToString();
}

}  // namespace

std::string TableOf(const std::vector<RowReport>& reports) {
  Table table({"row", "value", "unit", "target", "met", "spread", "repeats", "CPU s", "wall s", "peak MiB"});
  std::string below;
  for (const RowReport& report : reports) {
    const BenchRow& row = report.row;
    if (report.measured.values.empty()) {
      below += Join(row.name, report.failure.empty() ? ": not measured: " : ": FAILED: ",
                    report.failure.empty() ? report.not_run : report.failure, "\n");
      continue;
    }
    const Spread spread = SpreadOf(report.measured.values);
    std::string target = "-";
    if (report.has_target()) target = Join(Sign(row.bound), " ", Figure(row.target));
    if (row.memory_gib > 0.0) target += Join(", ", row.memory_gib, " GiB");
    table.AddRow({row.name, Figure(spread.median), row.unit, target,
                  report.has_target() ? (report.Met() ? "yes" : "NO") : "-",
                  Join(Fixed(100.0 * spread.relative, 0), "%"), std::to_string(report.measured.values.size()),
                  Fixed(report.cpu_s, 1), Fixed(report.wall_s, 1), Fixed(report.peak_bytes / kMib, 0)});
    if (!report.measured.note.empty()) below += Join(row.name, ": ", report.measured.note, "\n");
  }
  return table.ToString() + (below.empty() ? "" : "\n" + below) + StagesOf(reports);
}

Json JsonOf(const RowReport& report) {
  const BenchRow& row = report.row;
  Json json = {{"name", row.name}, {"what", row.what}, {"unit", row.unit}};
  json["target"] = nullptr;
  if (report.has_target()) {
    json["target"] = {{"bound", Sign(row.bound)}, {"value", row.target}, {"memory_gib", nullptr}};
    if (row.memory_gib > 0.0) json["target"]["memory_gib"] = row.memory_gib;
  }
  const bool measured = !report.measured.values.empty();
  const Spread spread = measured ? SpreadOf(report.measured.values) : Spread{};
  json["value"] = measured ? Json(spread.median) : Json(nullptr);
  json["met"] = measured && report.has_target() ? Json(report.Met()) : Json(nullptr);
  json["repeats"] = report.measured.values.size();
  json["values"] = report.measured.values;
  json["low"] = measured ? Json(spread.low) : Json(nullptr);
  json["high"] = measured ? Json(spread.high) : Json(nullptr);
  json["spread"] = measured ? Json(spread.relative) : Json(nullptr);
  json["cpu_s"] = report.cpu_s;
  json["wall_s"] = report.wall_s;
  json["peak_memory_bytes"] = report.peak_bytes;
  json["not_run"] = report.not_run.empty() ? Json(nullptr) : Json(report.not_run);
  json["failure"] = report.failure.empty() ? Json(nullptr) : Json(report.failure);
  json["note"] = report.measured.note;
  json["detail"] = report.measured.detail;
  return json;
}

}  // namespace berth::bench
