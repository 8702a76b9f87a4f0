#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/features/batch_schedule/batch_schedule.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

constexpr const char* kWhere = "feature 'batch_schedule': changes: ";
constexpr std::string_view kSize = "(batch size ";

struct Change {
  long long job;
  double steps;
  int batch;
};

Change ParseChange(const std::string& text) {
  const std::size_t first = text.find('>'), second = text.find('>', first + 1);
  if (first == std::string::npos || second == std::string::npos)
    throw Error(Join(kWhere, "expected job>steps>batch, found '", text, "'"));
  const std::string where = Join(kWhere, "'", text, "'");
  const Change change{ParseInteger(text.substr(0, first), where + ": job"),
                      ParseNumber(text.substr(first + 1, second - first - 1), where + ": steps"),
                      static_cast<int>(ParseInteger(text.substr(second + 1), where + ": batch"))};
  if (!(change.steps > 0.0)) throw Error(Join(where, ": steps: expected more than 0, found ", change.steps));
  if (change.batch < 1) throw Error(Join(where, ": batch: expected at least 1, found ", change.batch));
  return change;
}

// 0 = its name says none.
int BatchOf(const std::string& job_type) {
  const std::size_t begin = job_type.find(kSize);
  if (begin == std::string::npos || job_type.back() != ')') return 0;
  const std::string size = job_type.substr(begin + kSize.size(), job_type.size() - begin - kSize.size() - 1);
  return static_cast<int>(ParseInteger(size, Join(kWhere, "job type '", job_type, "'")));
}

}  // namespace

std::span<const Field<BatchScheduleSettings>> BatchScheduleSettings::Fields() {
  using S = BatchScheduleSettings;
  static const std::array kFields = {
      Field<S>{
          "changes", &S::changes,
          "which job has which batch from which of its steps on: job>steps>batch:job>steps>batch, job ids"},
  };
  return kFields;
}

std::vector<std::vector<BatchPhase>> BatchPhases(const BatchScheduleSettings& settings,
                                                 const ScenarioData& scenario) {
  const JobTable& jobs = scenario.jobs;
  const ThroughputTable& table = scenario.throughputs;
  const std::size_t types = scenario.cluster.types.size();
  std::vector<std::vector<BatchPhase>> phases(U(jobs.size()));
  std::map<long long, int> index;
  for (int job = 0; job < jobs.size(); ++job) index[jobs.id[U(job)]] = job;
  std::map<std::string, std::size_t> types_by_name;
  for (std::size_t t = 0; t < table.job_types.size(); ++t) types_by_name[table.job_types[t]] = t;
  for (const std::string& text : SplitOutsideParentheses(settings.changes, ':')) {
    const Change change = ParseChange(text);
    const auto found = index.find(change.job);
    if (found == index.end()) throw Error(Join(kWhere, "'", text, "': there is no job ", change.job));
    const std::size_t job = U(found->second);
    const std::string& first = table.job_types[U(jobs.job_type[job])];
    const int batch = BatchOf(first);
    if (batch < 1)
      throw Error(Join(kWhere, "'", text, "': the job's type is '", first,
                       "': expected a name that ends in (batch size N)"));
    const std::string name = Join(first.substr(0, first.find(kSize)), kSize, change.batch, ")");
    const auto its = types_by_name.find(name);
    if (its == types_by_name.end())
      throw Error(
          Join(kWhere, "'", text, "': there is no job type '", name, "'", DidYouMean(name, table.job_types)));
    std::vector<BatchPhase>& list = phases[job];
    if (list.empty())
      list.push_back({0.0, batch, std::vector<double>(types, 1.0),
                      std::vector<OtherSteps>(types, {jobs.job_type[job], 1.0})});
    if (!(change.steps > list.back().from))
      throw Error(Join(kWhere, "'", text, "': steps: expected more than ", list.back().from,
                       ", where its batch changed before, found ", change.steps));
    const auto size = std::lower_bound(table.gang_sizes.begin(), table.gang_sizes.end(), jobs.gang[job]);
    const auto row = [&](std::size_t t) {
      return table.alone.begin() +
             static_cast<std::ptrdiff_t>((t * table.gang_sizes.size() + U(size - table.gang_sizes.begin())) *
                                         types);
    };
    const auto before = row(U(jobs.job_type[job])), now = row(its->second);
    BatchPhase phase{change.steps, change.batch, list.back().factor, list.back().steps};
    for (std::size_t g = 0; g < types; ++g) {
      const auto column = static_cast<std::ptrdiff_t>(g);
      if (before[column] <= 0.0 || now[column] <= 0.0) continue;
      phase.factor[g] = now[column] * change.batch / (before[column] * batch);
      phase.steps[g] = {static_cast<int>(its->second), static_cast<double>(change.batch) / batch};
    }
    list.push_back(std::move(phase));
  }
  return phases;
}

void BatchScheduleSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock(kName, scenario.clock);
  BatchPhases(*this, scenario);
}

// What is told begins as the truth; another feature may say otherwise.
bool BatchScheduleSettings::Believe(const ScenarioData& scenario, BelievedRates& into) const {
  if (into.alone.empty()) into = {scenario.throughputs.alone, scenario.throughputs.pairs};
  return true;
}

std::unique_ptr<FeatureState> BatchScheduleSettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<BatchScheduleState>(*this, scenario);
}

std::shared_ptr<const FeatureSettings> BatchScheduleSettings::OfJobs(const JobTable& jobs, double) const {
  const std::set<long long> ids(jobs.id.begin(), jobs.id.end());
  auto kept = std::make_shared<BatchScheduleSettings>(*this);
  kept->changes.clear();
  for (const std::string& text : SplitOutsideParentheses(changes, ':')) {
    if (ids.count(ParseChange(text).job) > 0) kept->changes += (kept->changes.empty() ? "" : ":") + text;
  }
  return kept;
}

}  // namespace berth
