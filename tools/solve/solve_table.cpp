#include "tools/solve/solve_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr int kMostWorkers = 100'000'000;  // of a type
constexpr const char* kPrefix = "throughput_";

std::string First(const CsvFile& file, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (file.Has(name)) return name;
  }
  return "";
}

void AddType(const std::string& where, const std::string& name, long long workers, gavel::Problem& problem) {
  if (name.empty()) throw Error(Join(where, ": expected the name of a GPU type, found none"));
  if (workers < 1 || workers > kMostWorkers)
    throw Error(Join(where, ": workers of ", name, ": expected 1 to ", kMostWorkers, ", found ", workers));
  if (std::count(problem.type_names.begin(), problem.type_names.end(), name) > 0)
    throw Error(Join(where, ": ", name, " is there twice"));
  problem.type_names.push_back(name);
  problem.workers.push_back(static_cast<int>(workers));
}

void ReadWorkers(const std::string& workers, gavel::Problem& problem) {
  if (workers.find('=') != std::string::npos) {
    for (const std::string& part : SplitOutsideParentheses(workers, ',')) {
      const std::size_t equals = part.find('=');
      const std::string name = part.substr(0, equals);
      if (equals == std::string::npos) throw Error(Join("--workers: expected NAME=GPUS, found '", part, "'"));
      AddType("--workers", name, ParseInteger(part.substr(equals + 1), Join("--workers: ", name)), problem);
    }
    return;
  }
  constexpr const char* kRequired[] = {"workers"};
  CsvFile file(workers, kRequired);
  const std::string name = First(file, {"name", "type"});
  if (name.empty()) throw Error(Join(file.Where(), ": expected a column name, or type, found none"));
  while (file.Next()) {
    AddType(file.Where(), file.Text(name), file.Integer("workers"), problem);
    if (!file.Has("price_per_hour")) continue;
    const double price = file.Number("price_per_hour");
    if (!(price > 0.0 && std::isfinite(price)))
      throw Error(Join(file.Where("price_per_hour"), ": expected a price above 0, found ",
                       file.Text("price_per_hour")));
    problem.price.push_back(price);
  }
  if (problem.workers.empty()) throw Error(Join(workers, ": expected a GPU type, found no row"));
}

class SolveRows {
 public:
  SolveRows(const std::string& path, const gavel::Problem& types, const gavel::CertifiedObjective& objective,
            bool kinds)
      : file_(path),
        gang_(First(file_, {"gang", "gpus", "scale_factor"})),
        kind_(First(file_, {"kind", "job_type"})) {
    std::set<std::string> known = {"job", "kind", "job_type", "weight", "remaining", "since", gang_};
    for (const std::string& type : types.type_names) {
      column_.push_back(First(file_, {type, kPrefix + type}));
      if (column_.back().empty())
        throw Error(Join(file_.Where(), ": expected a column with the speeds on ", type, ", found none",
                         DidYouMean(type, file_.names())));
      known.insert(column_.back());
    }
    for (const std::string& name : file_.names()) {
      if (known.count(name) == 0)
        throw Error(Join(file_.Where(), ": column '", name,
                         "': expected job, kind, gang, weight, remaining, since or a GPU type of --workers",
                         DidYouMean(name, types.type_names)));
    }
    const auto need = [&](bool reads, const char* column) {
      if (reads && !file_.Has(column))
        throw Error(Join(file_.Where(), ": objective ", objective.name, ": expected a column ", column,
                         ", found none"));
    };
    need(objective.remaining, "remaining");
    need(objective.since, "since");
    if (kinds && kind_.empty())
      throw Error(Join(file_.Where(), ": --beside: expected a column kind, found none"));
    if (!kinds) kind_.clear();
  }

  bool Next() { return file_.Next(); }

  void Read(SolveTable& table) {
    gavel::Problem& problem = table.problem.base;
    if (!kind_.empty()) ReadKind(table);
    const int job = problem.jobs();
    table.names.push_back(file_.Has("job") ? file_.Text("job") : std::to_string(job));
    problem.key.push_back(job);
    const int gang = gang_.empty() ? 1 : file_.Integer(gang_);
    if (gang < 1) throw Error(Join(file_.Where(gang_), ": expected 1 GPU or more, found ", gang));
    problem.gang.push_back(gang);
    problem.weight.push_back(Positive("weight").value_or(1.0));
    if (const auto remaining = Positive("remaining")) problem.remaining.push_back(*remaining);
    if (file_.Has("since")) problem.since.push_back(ReadNumber(file_, "since"));
    bool runs = false;
    int most = 0;  // GPUs of the types with a speed
    for (std::size_t type = 0; type < column_.size(); ++type) {
      const double speed = ReadNumber(file_, column_[type]);
      const bool fits = gang <= problem.workers[type];
      if (speed > 0.0) most = std::max(most, problem.workers[type]);
      problem.throughput.push_back(fits ? speed : 0.0);
      runs |= problem.throughput.back() > 0.0;
    }
    if (!runs && most > 0)
      throw Error(Join(file_.Where(gang_.empty() ? "job" : gang_), ": job ", table.names.back(),
                       ": expected at most the ", most, " GPUs of a type that it runs on, found ", gang));
    if (!runs)
      throw Error(Join(file_.Where(), ": job ", table.names.back(),
                       ": expected a speed above 0 on a type, found none"));
  }

 private:
  void ReadKind(SolveTable& table) {
    const std::string& name = file_.Text(kind_);
    if (name.empty()) throw Error(Join(file_.Where(kind_), ": expected the name of a kind, found none"));
    const auto [known, is_new] = kinds_.emplace(name, static_cast<int>(table.kinds.size()));
    if (is_new) table.kinds.push_back(name);
    table.problem.kind.push_back(known->second);
  }
  std::optional<double> Positive(const std::string& column) {
    if (!file_.Has(column)) return std::nullopt;
    const double value = ReadNumber(file_, column);
    if (value == 0.0) throw Error(Join(file_.Where(column), ": expected a number above 0, found 0"));
    return value;
  }

  CsvFile file_;
  std::string gang_, kind_;  // their columns, "" = none
  std::map<std::string, int> kinds_;
  std::vector<std::string> column_;  // [G]
};

}  // namespace

double ReadNumber(const CsvFile& file, const std::string& column) {
  const double value = file.Number(column);
  if (!(value >= 0.0 && std::isfinite(value)))
    throw Error(Join(file.Where(column), ": expected a number of 0 or more, found ", file.Text(column)));
  return value;
}

SolveTable ReadSolveTable(const std::string& jobs, const std::string& workers, const std::string& pairs,
                          const gavel::CertifiedObjective& objective) {
  SolveTable table;
  gavel::Problem& problem = table.problem.base;
  ReadWorkers(workers, problem);
  if (objective.price && problem.price.empty())
    throw Error(Join("--workers: objective ", objective.name,
                     ": expected a CSV with a column price_per_hour, found none"));
  problem.tenants.push_back({});
  SolveRows rows(jobs, problem, objective, !pairs.empty());
  while (rows.Next()) rows.Read(table);
  if (table.names.empty()) throw Error(Join(jobs, ": expected a job, found no row"));
  problem.tenant.assign(table.names.size(), 0);
  problem.left.assign(table.names.size(), INFINITY);
  if (!pairs.empty()) ReadPairs(pairs, table);
  return table;
}

}  // namespace berth
