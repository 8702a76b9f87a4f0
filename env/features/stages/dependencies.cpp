#include "env/features/stages/dependencies.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/features/stages/stages.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

// Kahn's algorithm: what is left when no job without open parents remains waits in a circle.
void CheckAcyclic(const std::vector<std::vector<int>>& parents, const JobTable& jobs) {
  std::vector<std::vector<int>> children(parents.size());
  std::vector<int> open, ready;
  for (std::size_t job = 0; job < parents.size(); ++job) {
    open.push_back(static_cast<int>(parents[job].size()));
    if (parents[job].empty()) ready.push_back(static_cast<int>(job));
    for (int parent : parents[job]) children[U(parent)].push_back(static_cast<int>(job));
  }
  std::size_t done = 0;
  for (; !ready.empty(); ++done) {
    const int job = ready.back();
    ready.pop_back();
    for (int child : children[U(job)]) {
      if (--open[U(child)] == 0) ready.push_back(child);
    }
  }
  if (done == parents.size()) return;
  const auto at = std::find_if(open.begin(), open.end(), [](int left) { return left > 0; });
  throw Error(Join("feature 'stages': after and chain: job ",
                   jobs.id[static_cast<std::size_t>(at - open.begin())], " waits in a circle of jobs"));
}

}  // namespace

std::vector<std::vector<int>> Parents(const StageSettings& settings, const ScenarioData& scenario) {
  const JobTable& jobs = scenario.jobs;
  std::vector<std::vector<int>> parents(U(jobs.size()));
  std::map<long long, int> index;
  for (int job = 0; job < jobs.size(); ++job) index[jobs.id[U(job)]] = job;
  const auto find = [&](const std::string& text) {
    const long long id = ParseInteger(text, "feature 'stages': after");
    const auto at = index.find(id);
    if (at == index.end()) throw Error(Join("feature 'stages': after: there is no job ", id));
    return at->second;
  };
  for (const std::string& pair : SplitOutsideParentheses(settings.after, ':')) {
    const std::size_t sign = pair.find('>');
    if (sign == std::string::npos)
      throw Error(Join("feature 'stages': after: expected child>parent, found '", pair, "'"));
    const int child = find(pair.substr(0, sign)), parent = find(pair.substr(sign + 1));
    if (child == parent)
      throw Error(Join("feature 'stages': after: job ", jobs.id[U(child)], " waits for itself"));
    parents[U(child)].push_back(parent);
  }
  for (int job = 1; settings.chain > 1 && job < jobs.size(); ++job) {
    if (job % settings.chain != 0) parents[U(job)].push_back(job - 1);
  }
  // Episodes of one seed have other arrivals.
  const double last = jobs.size() > 0 ? jobs.arrival.back() : 0.0;
  Stream draw(scenario.seed ^ std::bit_cast<std::uint64_t>(last), kDependencyDraws);
  for (int job = 1; settings.depends > 0.0 && job < jobs.size(); ++job) {
    const bool waits = draw.Uniform() < settings.depends;
    const auto back = static_cast<int>(draw.Below(static_cast<std::uint32_t>(std::min(job, 10))));
    if (waits) parents[U(job)].push_back(job - 1 - back);
  }
  for (std::vector<int>& list : parents) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  CheckAcyclic(parents, jobs);
  return parents;
}

// Who waits for a job that is not among them waits for it no more.
std::shared_ptr<const FeatureSettings> StageSettings::OfJobs(const JobTable& jobs, double) const {
  const std::set<long long> ids(jobs.id.begin(), jobs.id.end());
  auto kept = std::make_shared<StageSettings>(*this);
  kept->after.clear();
  for (const std::string& pair : SplitOutsideParentheses(after, ':')) {
    const std::size_t sign = pair.find('>');
    const bool both = ids.count(ParseInteger(pair.substr(0, sign), "after")) > 0 &&
                      ids.count(ParseInteger(pair.substr(sign + 1), "after")) > 0;
    if (both) kept->after += (kept->after.empty() ? "" : ":") + pair;
  }
  return kept;
}

void StageSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("stages", scenario.clock);
  const std::size_t types = scenario.throughputs.job_types.size();
  for (const auto& [name, list] :
       {std::pair{"cpu_core_s", &cpu_core_s}, {"gpu_prep_s", &gpu_prep_s}, {"transfer_s", &transfer_s}}) {
    if (list->size() == 1 || list->size() == types) continue;
    throw Error(Join("feature 'stages': ", name, ": expected 1 entry or one for each of the ", types,
                     " job types, found ", list->size()));
  }
  if (offload < 0.0 && offload != -1.0)
    throw Error(Join("feature 'stages': offload: expected 0 to 1, or -1 for the best, found ", offload));
  Parents(*this, scenario);
}

}  // namespace berth
