// berth solve: the allocation of an objective for a table of speeds, and the proof that no other is better.
#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "tools/json.hpp"
#include "tools/output_file.hpp"
#include "tools/solve/solve_table.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

constexpr double kMostGap = 1e-6, kMostViolation = 1e-7;
constexpr std::size_t kMostRows = 40;
constexpr int kMostColumns = 8;  // of what is printed

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

// What is above 0, by the places of jobs and types in the tables; partner -1: alone.
struct Share {
  int job, partner, type;
  double share;
};
std::vector<Share> SharesOf(const gavel::Problem& problem, const gavel::PackedAllocation& x) {
  std::vector<Share> shares;
  const auto add = [&](int job, int partner, int row, const gavel::Allocation& from) {
    for (int type = 0; type < problem.types(); ++type) {
      const double share = from[problem.at(row, type)];
      if (share > 0.0) shares.push_back({job, partner, type, share});
    }
  };
  for (int job = 0; job < problem.jobs(); ++job) add(job, -1, job, x.alone);
  for (std::size_t p = 0; p < x.pairs.size(); ++p)
    add(x.pairs[p][0], x.pairs[p][1], static_cast<int>(p), x.together);
  return shares;
}

std::string AllocationCsv(const std::vector<Share>& shares) {
  std::ostringstream out;
  out << std::setprecision(17) << "job,partner,type,share\n";
  for (const Share& its : shares)
    out << its.job << "," << its.partner << "," << its.type << "," << its.share << "\n";
  return out.str();
}

void PrintShares(const SolveTable& table, const gavel::PackedAllocation& x) {
  const gavel::Problem& problem = table.problem.base;
  if (U(problem.jobs()) + x.pairs.size() > kMostRows || problem.types() > kMostColumns) {
    std::cout << "shares: --out FILE writes them\n";
    return;
  }
  std::vector<std::string> head = {"share of its time"};
  head.insert(head.end(), problem.type_names.begin(), problem.type_names.end());
  Table shares(head);
  const auto add = [&](std::string name, int place, const gavel::Allocation& from) {
    std::vector<std::string> row = {std::move(name)};
    for (int type = 0; type < problem.types(); ++type) row.push_back(Fixed(from[problem.at(place, type)], 4));
    shares.AddRow(row);
  };
  for (int job = 0; job < problem.jobs(); ++job) add(table.names[U(job)], job, x.alone);
  for (std::size_t p = 0; p < x.pairs.size(); ++p) {
    const auto [first, second] = x.pairs[p];
    add(Join(table.names[U(first)], " beside ", table.names[U(second)]), static_cast<int>(p), x.together);
  }
  std::cout << "\n" << shares.ToString();
}

Json ToJson(const Options& options, const SolveTable& table, const gavel::CertifiedPairs& answer,
            double seconds) {
  const gavel::Certificate& certificate = answer.certificate;
  Json json = {{"config", ConfigJson(options)},
               {"value", certificate.value},
               {"bound", certificate.bound},
               {"gap", certificate.gap},
               {"violation", certificate.violation},
               {"solve_s", seconds},
               {"types", table.problem.base.type_names},
               {"jobs", table.names},
               {"type_price", certificate.type_price},
               {"job_price", certificate.job_price}};
  if (options.Text("objective") == "water_filling") json["all_levels"] = certificate.all_levels;
  json["shares"] = Json::array();
  const bool pairs = !table.kinds.empty();
  if (pairs) json["pairs"] = Json::array(), json["time_price"] = certificate.time_price;
  for (const Share& its : SharesOf(table.problem.base, answer.x)) {
    if (its.partner < 0) {
      json["shares"].push_back({its.job, its.type, its.share});
    } else {
      json["pairs"].push_back({its.job, its.partner, its.type, its.share});
    }
  }
  return json;
}

// Where optima are many, solvers leave time at speed 0, which is worth nothing; on a type with fewer GPUs
// than the gang nobody can have it.
void DropIdleTime(const gavel::Problem& problem, gavel::CertifiedAnswer& answer) {
  for (std::size_t k = 0; k < answer.x.size(); ++k) {
    if (problem.throughput[k] == 0.0) answer.x[k] = 0.0;
  }
  answer.certificate.violation = gavel::Violation(problem, answer.x);
}

// Throws Error where there is no answer.
gavel::CertifiedPairs Solve(const SolveTable& table, const gavel::CertifiedObjective& objective,
                            LpMethod method) {
  gavel::CertifiedPairs answer;
  const char* why = "";
  bool solved;
  if (!table.kinds.empty()) {
    solved = objective.solve_pairs(table.problem, answer, why);
  } else {
    gavel::CertifiedAnswer alone;
    solved = objective.solve(table.problem.base, method, alone, why);
    if (solved) DropIdleTime(table.problem.base, alone);
    answer = {{std::move(alone.x), {}, {}}, std::move(alone.certificate)};
  }
  if (!solved) throw Error(Join(objective.name, ": no answer that passes its check: ", why));
  return answer;
}

}  // namespace

int RunSolve(const std::vector<std::string>& arguments) {
  Options options("solve", "JOBS.csv --workers NAME=GPUS,... [--objective NAME] [--out FILE]",
                  "computes the allocation of a heterogeneity-aware objective and proves it");
  options.Group("Problem");
  options.Positional("jobs",
                     "table of jobs (CSV): a column of speeds, steps/s, for each GPU type (0 too where it "
                     "has fewer GPUs than the gang); gang, weight, "
                     "remaining (steps), since (s) where they are needed");
  options.Value("workers", "",
                "GPUs of each type, NAME=GPUS,..., or a CSV with name, workers, price_per_hour");
  std::string names = "one of:";
  for (const gavel::CertifiedObjective& objective : gavel::CertifiedObjectives())
    names += Join(" ", objective.name);
  options.Value("objective", "max_min", names);
  options.Value("solver", "reference", "which optimum where there are many: reference | ipm | simplex");
  options.Input("beside",
                "two jobs may share a GPU (max_min): CSV with kind, other, type, speed, other_speed, steps/s "
                "of a job of each kind beside the other; the table of jobs then has a column kind");
  options.Group("Result");
  options.Output("out", "write the shares (CSV): job, partner (-1: alone), type, share; places from 0");
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
  const std::string& pairs = options.Text("beside");
  if (!pairs.empty() && objective.solve_pairs == nullptr)
    throw Error(Join(options.Where("beside"), ": expected --objective max_min, found ", objective.name));
  if (!pairs.empty() && options.Given("solver"))
    throw Error(Join(options.Where("solver"), ": expected none where --beside is given, found '",
                     options.Text("solver"), "'"));
  const std::string& workers = options.Required("workers");
  if (workers.find('=') == std::string::npos) options.AddRead("workers", workers);  // a file
  CheckWritable(options.Text("out"), options.Where("out"));
  CheckJsonWritable(options);
  const SolveTable table = ReadSolveTable(options.Required("jobs"), workers, pairs, objective);
  const gavel::Problem& problem = table.problem.base;

  const auto begin = std::chrono::steady_clock::now();
  const gavel::CertifiedPairs answer = Solve(table, objective, kMethods[solver - solvers.begin()]);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  const gavel::Certificate& certificate = answer.certificate;
  std::int64_t gpus = 0;
  for (const int of_type : problem.workers) gpus += of_type;
  std::cout << objective.name << ": " << objective.summary << "\n"
            << Counted(problem.jobs(), "job")
            << (table.kinds.empty() ? "" : " of " + Counted(table.kinds.size(), "kind")) << ", "
            << Counted(problem.types(), "type") << ", " << Counted(gpus, "GPU") << "; " << Fixed(seconds, 3)
            << " s\n"
            << "value      " << Digits(certificate.value) << "\n"
            << "bound      " << Digits(certificate.bound)
            << (certificate.all_levels ? ", which no allocation passes: gap "
                                       : " of the lowest level alone: gap ")
            << Digits(certificate.gap) << "\n"
            << "violation  " << Digits(certificate.violation) << "\n";
  PrintShares(table, answer.x);
  if (!options.Text("out").empty())
    WriteTextFile(options.Text("out"), AllocationCsv(SharesOf(problem, answer.x)));
  WriteJson(options, ToJson(options, table, answer, seconds));
  return certificate.gap <= kMostGap && certificate.violation <= kMostViolation ? 0 : 1;
}

}  // namespace berth
