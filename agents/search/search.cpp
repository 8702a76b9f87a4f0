#include "agents/search/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::search {
namespace {

using Wall = std::chrono::steady_clock;
constexpr double kSaveEvery = 1.0;  // s
constexpr int kVersion = 1;

// A column of what was told, by its name in the file.
constexpr struct {
  const char* name;
  double Told::*member;
} kColumns[] = {{"told/wall_s", &Told::wall_s}, {"told/value", &Told::value}, {"told/step", &Told::step}};

// All that a search has found out so far.
struct Record {
  std::string definition;
  std::vector<double> state;  // Optimiser::State after the last generation
  std::int64_t decisions = 0;
  std::vector<int> generations;           // of the points that are kept to choose from: the start's 0 first
  std::vector<std::vector<double>> kept;  // [generations][n]
  std::vector<Told> told;                 // [generations done]
};

void WriteRecord(const Record& record, const std::string& path) {
  h5::Writer out(path, kKind, kVersion);
  out.Text("definition", record.definition);
  out.Integer("decisions", record.decisions);
  out.Integer("generations", static_cast<std::int64_t>(record.told.size()));
  out.Array<double>("state", record.state);
  out.Array<std::int32_t>("kept/generation", record.generations);
  std::vector<double> points;
  for (const std::vector<double>& point : record.kept)
    points.insert(points.end(), point.begin(), point.end());
  out.Array<double>("kept/point", points);
  for (const auto& [name, member] : kColumns) {
    std::vector<double> column;
    for (const Told& told : record.told) column.push_back(told.*member);
    out.Array<double>(name, column);
  }
  out.Commit();
}

// Throws Error for one that did not begin as `begun` does.
Record ReadRecord(const std::string& path, const Record& begun) {
  const h5::Reader in(path, kKind, kVersion);
  Record record;
  record.definition = in.Text("definition");
  record.decisions = in.Integer("decisions");
  const std::size_t numbers = begun.kept.front().size();
  record.state = in.Array<double>("state", static_cast<std::int64_t>(begun.state.size()));
  record.generations = in.Array<std::int32_t>("kept/generation");
  const std::vector<double> points =
      in.Array<double>("kept/point", static_cast<std::int64_t>(record.generations.size() * numbers));
  for (std::size_t i = 0; i < record.generations.size(); ++i) {
    const auto from = points.begin() + static_cast<std::ptrdiff_t>(i * numbers);
    record.kept.emplace_back(from, from + static_cast<std::ptrdiff_t>(numbers));
  }
  if (record.kept.empty() || record.kept.front() != begun.kept.front()) {
    throw Error(Join(path, ": expected a search from the numbers that this one starts from, found another"));
  }
  const std::int64_t generations = in.Integer("generations");
  if (generations < 0) throw Error(Join(path, ": generations: expected 0 or more, found ", generations));
  for (const auto& [name, member] : kColumns) {
    const std::vector<double> column = in.Array<double>(name, generations);
    record.told.resize(column.size());
    for (std::size_t i = 0; i < column.size(); ++i) record.told[i].*member = column[i];
  }
  for (std::size_t i = 0; i < record.told.size(); ++i) record.told[i].generation = static_cast<int>(i) + 1;
  return record;
}

double Since(Wall::time_point begin) {
  return std::chrono::duration<double>(Wall::now() - begin).count();
}

// Which of the points is best on the workloads to choose on; the last one where that cannot be told.
std::size_t Choose(const std::vector<int>& generations, const std::vector<std::vector<double>>& points,
                   const Objective& objective, const Budget& budget, Found& found) {
  const Costs costs = objective(points, kChoice);
  if (budget.Interrupted()) return points.size() - 1;
  found.decisions += costs.decisions;
  std::vector<double> values = Values(costs);
  for (std::size_t i = 0; i < values.size(); ++i) found.choices.emplace_back(generations[i], values[i]);
  for (double& value : values) value = std::isnan(value) ? HUGE_VAL : value;
  return U(static_cast<int>(std::min_element(values.begin(), values.end()) - values.begin()));
}

}  // namespace

Found Run(Optimiser& optimiser, const std::vector<double>& start, const Objective& objective,
          const Settings& settings) {
  const Budget& budget = settings.budget;
  Record record{settings.definition, optimiser.State(), 0, {0}, {start}, {}};
  if (settings.resume) {
    record = ReadRecord(settings.file, record);
    optimiser.Restore(record.state);
  }
  const double before = record.told.empty() ? 0.0 : record.told.back().wall_s;
  const Wall::time_point begin = Wall::now();
  Wall::time_point saved = begin;
  const auto save = [&] {
    if (!settings.file.empty()) WriteRecord(record, settings.file);
    saved = Wall::now();
  };
  const auto done = [&] { return static_cast<int>(record.told.size()); };
  while (budget.generations == 0 || done() < budget.generations) {
    const double elapsed = before + Since(begin);
    if (budget.Interrupted() || (budget.seconds > 0.0 && elapsed >= budget.seconds)) break;
    double spent = budget.generations > 0 ? static_cast<double>(done()) / budget.generations : 0.0;
    if (budget.seconds > 0.0) spent = std::max(spent, elapsed / budget.seconds);
    const Costs costs = objective(optimiser.Ask(), done());
    if (budget.Interrupted()) break;  // runs were cut short: they say nothing
    const double value = optimiser.Tell(costs, spent);
    record.decisions += costs.decisions;
    record.told.push_back({done() + 1, before + Since(begin), value, optimiser.step()});
    record.state = optimiser.State();
    const bool half = budget.generations > 0 ? done() == budget.generations / 2
                                             : record.told.back().wall_s >= budget.seconds / 2.0;
    if (half && record.kept.size() == 1) {
      record.generations.push_back(done());
      record.kept.push_back(optimiser.mean());
    }
    if (Since(saved) >= kSaveEvery) save();
    if (settings.on_generation) settings.on_generation(record.told.back());
  }
  save();

  std::vector<int> generations = record.generations;
  std::vector<std::vector<double>> points = record.kept;
  if (done() > generations.back()) {
    generations.push_back(done());
    points.push_back(optimiser.mean());
  }
  Found found;
  found.generations = done();
  found.decisions = record.decisions;
  const bool chooses = settings.choose && !budget.Interrupted();
  const std::size_t best =
      chooses ? Choose(generations, points, objective, budget, found) : points.size() - 1;
  found.point = std::move(points[best]);
  found.chosen = generations[best];
  found.told = std::move(record.told);
  return found;
}

std::string ReadDefinition(const std::string& file) {
  return h5::Reader(file, kKind, kVersion).Text("definition");
}

}  // namespace berth::search
