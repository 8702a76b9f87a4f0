#include "tools/validation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <sstream>

#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/whole_file.hpp"
#include "policies/bundle.hpp"
#include "tools/learn_library.hpp"
#include "tools/output_file.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr const char* kHeader = "global_step,greedy,sampled,gap,workloads,jobs";

std::vector<double> CostsOf(const Trials& on, const std::vector<Metrics>& runs) {
  std::vector<double> costs;
  for (const Metrics& run : runs) {
    const double cost = on.Cost(run);
    costs.push_back(std::isnan(cost) ? HUGE_VAL : cost);
  }
  return costs;
}

double MeanOf(const std::vector<double>& costs, bool may_be_none) {
  const auto count = static_cast<double>(costs.size());
  if (may_be_none) return std::accumulate(costs.begin(), costs.end(), 0.0) / count;
  double sum = 0.0;
  for (const double cost : costs) sum += std::log(cost);
  return std::exp(sum / count);
}

}  // namespace

double Validation::MeanOf(const std::vector<double>& costs) const {
  return berth::MeanOf(costs, on_.MayBeNone());
}

double Validation::Over(double mean, const std::vector<double>& baseline) const {
  const double its = MeanOf(baseline);
  return its > 0.0 && std::isfinite(its) ? mean / its : std::nan("");
}

PairedDifference DifferenceOf(const std::vector<double>& costs, const std::vector<double>& others,
                              bool may_be_none) {
  const auto n = static_cast<double>(costs.size());
  search::Costs by;
  by.may_be_none = may_be_none;
  double sum = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < costs.size(); ++i) sum += by.More(costs[i], others[i]);
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const double off = by.More(costs[i], others[i]) - sum / n;
    squares += off * off;
  }
  return {sum / n, std::sqrt(squares / (n - 1.0) / n)};
}

// Of the geometric means' ratio it follows from that of its logarithm; of the arithmetic ones', R, from that
// of the costs less R times the baseline's, whose mean is 0 (Cochran 1977, eq. 2.46).
double RatioError(const std::vector<double>& costs, const std::vector<double>& others, bool may_be_none) {
  if (costs.size() < 2) return std::nan("");
  const double mean = MeanOf(others, may_be_none), ratio = MeanOf(costs, may_be_none) / mean;
  if (!may_be_none) return DifferenceOf(costs, others, false).error * ratio;
  std::vector<double> expected;
  for (const double cost : others) expected.push_back(ratio * cost);
  return DifferenceOf(costs, expected, true).error / mean;
}

std::vector<std::string> DefaultBaselines(const MdpSpec& mdp) {
  if (!mdp.preemptive)
    return mdp.knowledge >= Knowledge::kEstimate ? std::vector<std::string>{"sjf", "easy"}
                                                 : std::vector<std::string>{"fcfs", "best_fit"};
  if (mdp.knowledge >= Knowledge::kEstimate) return {"srpt", "nash_welfare"};
  return mdp.knowledge == Knowledge::kBlind ? std::vector<std::string>{"las", "tuned_blind"}
                                            : std::vector<std::string>{"fcfs", "best_fit"};
}

bool DrawsByScores(const std::string& agent) {
  return !agent.starts_with("dqn");
}

Validation::Validation(RewardTrials on, ValidationSettings settings)
    : on_(std::move(on)), settings_(std::move(settings)) {
  for (const std::string& spec : settings_.baselines) MakeScheduler(spec, AllSchedulers());
  if (settings_.resume) ReadRows();
  if (settings_.keep_best) FindBest();
}

// Rows of before there was more than the greedy value have no others; of before workloads were said, 0.
void Validation::ReadRows() {
  const std::string path = settings_.run + "/validation.csv";
  if (!std::filesystem::exists(path)) return;
  std::istringstream file(ReadText(path));
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream row(line);
    std::string steps, greedy, sampled, gap, workloads, jobs;
    if (!std::getline(row, steps, ',') || !std::getline(row, greedy, ',')) continue;
    for (std::string* cell : {&sampled, &gap, &workloads, &jobs}) std::getline(row, *cell, ',');
    const double drawn = sampled.empty() ? std::nan("") : std::strtod(sampled.c_str(), nullptr);
    rows_.push_back(
        {std::strtoll(steps.c_str(), nullptr, 10), std::strtod(greedy.c_str(), nullptr), drawn, {}});
    rows_.back().workloads = std::atoi(workloads.c_str()), rows_.back().jobs = std::atoi(jobs.c_str());
  }
}

// The least of the rows need not be it: those of --validate auto kept no policy.
void Validation::FindBest() {
  if (rows_.empty() || !std::filesystem::exists(policy())) return;
  const std::int64_t steps = LoadBundle(policy()).provenance.steps;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].steps == steps) best_ = i;
  }
}

void Validation::WriteRows() const {
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << kHeader << '\n';
  for (const Row& row : rows_) {
    text << row.steps << ',' << row.greedy << ',';
    if (!std::isnan(row.sampled)) text << row.sampled;
    text << ',';
    if (!std::isnan(row.sampled)) text << row.Gap();
    text << ',' << row.workloads << ',' << row.jobs << '\n';
  }
  WriteTextFile(settings_.run + "/validation.csv", text.str());
}

void Validation::CheckSame(int workloads, const std::string& where) const {
  Row asked;
  asked.workloads = static_cast<int>(on_.Draw(kValidation, workloads).size());
  asked.jobs = on_.settings().jobs;
  if (best() == nullptr || best()->ComparesWith(asked)) return;
  throw Error(Join(where, ": expected ", best()->workloads, " workloads of ", best()->jobs,
                   " jobs, on which ", policy(), " is the best, found ", asked.workloads, " of ", asked.jobs,
                   "; without that file it goes on"));
}

std::string Validation::Candidate() {
  const std::string candidate = settings_.run + "/candidate.h5";
  OpenLearnLibrary().export_policy({settings_.run, candidate, "", settings_.commit});
  return candidate;
}

double Validation::TimeRun(const std::atomic<bool>* interrupted) {
  const std::string candidate = Candidate();
  const auto begin = std::chrono::steady_clock::now();
  on_.Validate({[&] { return MakeScheduler(Join("policy(file=", candidate, ")"), AllSchedulers()); }}, 1,
               interrupted);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  std::filesystem::remove(candidate);
  return spent.count();
}

std::vector<std::pair<std::string, double>> Validation::Measure(std::int64_t steps, int workloads,
                                                                const std::atomic<bool>* interrupted) {
  const std::string candidate = Candidate();
  std::vector<std::string> specs = {Join("policy(file=", candidate, ")")};
  if (settings_.draws) specs.push_back(Join("policy(file=", candidate, ",sample=true)"));
  const std::size_t baselines = specs.size();
  if (measured_ != workloads)
    specs.insert(specs.end(), settings_.baselines.begin(), settings_.baselines.end());
  std::vector<MakeCandidate> makers;
  for (const std::string& spec : specs)
    makers.emplace_back([&spec] { return MakeScheduler(spec, AllSchedulers()); });
  const std::vector<std::vector<Metrics>> runs = on_.Validate(makers, workloads, interrupted);
  if (runs.empty()) {
    std::filesystem::remove(candidate);
    return {};
  }
  Row row;
  row.steps = steps;
  row.costs = CostsOf(on_, runs[0]), row.may_be_none = on_.MayBeNone();
  row.workloads = static_cast<int>(row.costs.size()), row.jobs = on_.settings().jobs;
  row.greedy = MeanOf(row.costs);
  if (settings_.draws) row.sampled = MeanOf(CostsOf(on_, runs[1]));
  if (measured_ != workloads) {
    baseline_costs_.clear();
    for (std::size_t k = baselines; k < runs.size(); ++k) baseline_costs_.push_back(CostsOf(on_, runs[k]));
    measured_ = workloads;
  }
  for (std::size_t k = 0; k < baseline_costs_.size(); ++k) {
    const double over = Over(row.greedy, baseline_costs_[k]);
    if (std::isnan(over) || over < row.over) continue;  // NaN at first
    row.rule = settings_.baselines[k], row.over = over;
    row.over_error = RatioError(row.costs, baseline_costs_[k], on_.MayBeNone());
  }
  if (settings_.keep_best && (best() == nullptr || row.greedy < best()->greedy)) {
    MoveWhole(candidate, policy());
    best_ = rows_.size();
  } else {
    std::filesystem::remove(candidate);
  }
  rows_.push_back(std::move(row));
  WriteRows();
  return Figures();
}

std::vector<std::string> Validation::FigureNames() const {
  std::vector<std::string> names = {"validation/greedy"};
  if (settings_.draws) names.insert(names.end(), {"validation/sampled", "validation/gap"});
  for (const std::string& name : settings_.baselines) {
    names.push_back("validation/greedy_of_" + name);
    if (settings_.draws) names.push_back("validation/sampled_of_" + name);
  }
  return names;
}

std::vector<std::pair<std::string, double>> Validation::Figures() const {
  const Row& row = rows_.back();
  std::vector<double> values = {row.greedy};
  if (settings_.draws) values.insert(values.end(), {row.sampled, row.Gap()});
  for (const std::vector<double>& of : baseline_costs_) {
    values.push_back(Over(row.greedy, of));
    if (settings_.draws) values.push_back(Over(row.sampled, of));
  }
  const std::vector<std::string> names = FigureNames();
  std::vector<std::pair<std::string, double>> figures;
  for (std::size_t i = 0; i < values.size(); ++i) figures.emplace_back(names[i], values[i]);
  return figures;
}

std::string Validation::On() const {
  const std::size_t count = rows_.back().costs.size();
  if (!on_.settings().source->fixed()) return Counted(count, "workload");
  return Join(Counted(count, "piece"), " of the jobs that it was trained on");
}

std::string Validation::Words() const {
  const Row& row = rows_.back();
  if (std::isinf(row.greedy)) return "greedy leaves jobs undone";
  std::string text = "greedy";
  for (std::size_t k = 0; k < baseline_costs_.size(); ++k) {
    const std::vector<double>& of = baseline_costs_[k];
    const double its = MeanOf(of), over = Over(row.greedy, of);
    text += k == 0 ? " " : ", ";
    if (row.greedy == 0.0 || std::isnan(over)) {  // such as missed deadlines: no ratio
      text += Join(Fixed(row.greedy, 3), " a job where ", settings_.baselines[k], " ",
                   std::isinf(its) ? std::string("leaves jobs undone") : "has " + Fixed(its, 3));
      continue;
    }
    text += Fixed(over, 3);
    if (of.size() > 1) text += Join(" +- ", Fixed(RatioError(row.costs, of, on_.MayBeNone()), 3));
    text += " of " + settings_.baselines[k];
  }
  if (!settings_.draws || row.greedy == 0.0) return text;
  if (std::isinf(row.sampled)) return text + "; sampled leaves jobs undone";
  const double gap = row.Gap();
  return text +
         Join("; sampled ", Fixed(100.0 * std::abs(gap), 1), "%", gap < 0.0 ? " below" : " above", " greedy");
}

}  // namespace berth
