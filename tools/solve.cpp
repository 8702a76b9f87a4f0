// berth solve: the allocation of an objective for a table of speeds, and the proof that no other is better.
#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "tools/json.hpp"
#include "tools/output_file.hpp"
#include "tools/solve/solve_table.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

constexpr double kMostGap = 1e-6, kMostViolation = 1e-7;
constexpr int kMostRows = 40, kMostColumns = 8;  // of what is printed

const gavel::CertifiedObjective& FindObjective(const Options& options) {
  const std::string& name = options.Text("objective");
  std::vector<std::string> names;
  for (const gavel::CertifiedObjective& objective : gavel::CertifiedObjectives()) {
    if (name == objective.name) return objective;
    names.emplace_back(objective.name);
  }
  std::string all;
  for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
  throw Error(
      Join(options.Where("objective"), ": expected ", all, "; found '", name, "'", DidYouMean(name, names)));
}

std::string Digits(double value) {
  std::ostringstream out;
  out << std::setprecision(12) << value;
  return out.str();
}

// job,partner,type,share of what is above 0, by the places of jobs and types in the tables.
std::string AllocationCsv(const gavel::Problem& problem, const gavel::Allocation& x) {
  std::ostringstream out;
  out << std::setprecision(17) << "job,partner,type,share\n";
  for (int job = 0; job < problem.jobs(); ++job) {
    for (int type = 0; type < problem.types(); ++type) {
      const double share = x[problem.at(job, type)];
      if (share > 0.0) out << job << ",-1," << type << "," << share << "\n";
    }
  }
  return out.str();
}

void PrintShares(const SolveTable& table, const gavel::Allocation& x) {
  const gavel::Problem& problem = table.problem;
  if (problem.jobs() > kMostRows || problem.types() > kMostColumns) {
    std::cout << "shares: --out FILE writes them\n";
    return;
  }
  std::vector<std::string> head = {"share of its time"};
  head.insert(head.end(), problem.type_names.begin(), problem.type_names.end());
  Table shares(head);
  for (int job = 0; job < problem.jobs(); ++job) {
    std::vector<std::string> row = {table.names[static_cast<std::size_t>(job)]};
    for (int type = 0; type < problem.types(); ++type) row.push_back(Fixed(x[problem.at(job, type)], 4));
    shares.AddRow(row);
  }
  std::cout << "\n" << shares.ToString();
}

Json ToJson(const Options& options, const SolveTable& table, const gavel::CertifiedAnswer& answer,
            double seconds) {
  const gavel::Certificate& certificate = answer.certificate;
  Json json = {{"config", ConfigJson(options)},        {"value", certificate.value},
               {"bound", certificate.bound},           {"gap", certificate.gap},
               {"violation", certificate.violation},   {"solve_s", seconds},
               {"types", table.problem.type_names},    {"jobs", table.names},
               {"type_price", certificate.type_price}, {"job_price", certificate.job_price}};
  Json shares = Json::array();
  for (int job = 0; job < table.problem.jobs(); ++job) {
    for (int type = 0; type < table.problem.types(); ++type) {
      const double share = answer.x[table.problem.at(job, type)];
      if (share > 0.0) shares.push_back({job, type, share});
    }
  }
  json["shares"] = std::move(shares);
  return json;
}

}  // namespace

int RunSolve(const std::vector<std::string>& arguments) {
  Options options("solve", "JOBS.csv --workers NAME=GPUS,... [--objective NAME] [--out FILE]",
                  "computes the allocation of a heterogeneity-aware objective and proves it");
  options.Group("Problem");
  options.Positional("jobs",
                     "table of jobs (CSV): a column of speeds, steps/s, for each GPU type; gang, weight, "
                     "remaining (steps), since (s) where they are needed");
  options.Value("workers", "",
                "GPUs of each type, NAME=GPUS,..., or a CSV with name, workers, price_per_hour");
  std::string names = "one of:";
  for (const gavel::CertifiedObjective& objective : gavel::CertifiedObjectives())
    names += Join(" ", objective.name);
  options.Value("objective", "max_min", names);
  options.Value("solver", "reference", "which optimum where there are many: reference | ipm | simplex");
  options.Group("Result");
  options.Output("out", "write the shares (CSV): job, partner (-1), type, share; places from 0");
  options.Note(
      "The certificate is checked by code that knows the numbers of the problem and the prices alone. Exit "
      "code 1: the gap is above 1e-6, or a constraint is violated by more than 1e-7.");
  if (!options.Parse(arguments)) return 0;

  const gavel::CertifiedObjective& objective = FindObjective(options);
  const std::vector<std::string> solvers = {"reference", "ipm", "simplex"};
  const auto solver = std::find(solvers.begin(), solvers.end(), options.Text("solver"));
  if (solver == solvers.end())
    throw Error(Join(options.Where("solver"), ": expected reference, ipm or simplex, found '",
                     options.Text("solver"), "'", DidYouMean(options.Text("solver"), solvers)));
  constexpr LpMethod kMethods[] = {LpMethod::kEmbedding, LpMethod::kInteriorPoint, LpMethod::kSimplex};
  CheckWritable(options.Text("out"), options.Where("out"));
  CheckJsonWritable(options);
  const SolveTable table = ReadSolveTable(options.Required("jobs"), options.Required("workers"), objective);

  const auto begin = std::chrono::steady_clock::now();
  gavel::CertifiedAnswer answer;
  const char* why = "";
  if (!objective.solve(table.problem, kMethods[solver - solvers.begin()], answer, why))
    throw Error(Join(objective.name, ": no answer that passes its check: ", why));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  const gavel::Certificate& certificate = answer.certificate;
  std::int64_t gpus = 0;
  for (const int workers : table.problem.workers) gpus += workers;
  std::cout << objective.name << ": " << objective.summary << "\n"
            << table.problem.jobs() << " jobs, " << table.problem.types() << " types, " << gpus << " GPUs; "
            << Fixed(seconds, 3) << " s\n"
            << "value      " << Digits(certificate.value) << "\n"
            << "bound      " << Digits(certificate.bound)
            << (certificate.all_levels ? ", which no allocation passes: gap "
                                       : " of the lowest level alone: gap ")
            << Digits(certificate.gap) << "\n"
            << "violation  " << Digits(certificate.violation) << "\n";
  PrintShares(table, answer.x);
  if (!options.Text("out").empty())
    WriteTextFile(options.Text("out"), AllocationCsv(table.problem, answer.x));
  WriteJson(options, ToJson(options, table, answer, seconds));
  return certificate.gap <= kMostGap && certificate.violation <= kMostViolation ? 0 : 1;
}

}  // namespace berth
