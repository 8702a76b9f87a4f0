#include "env/sim/scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "env/base/check.hpp"

namespace berth {
namespace {

// The tables of the MakeScheduler under way, since rows are plain functions of their parameters.
thread_local std::span<const SchedulerTable> making;

struct Making {
  explicit Making(std::span<const SchedulerTable> tables) : before(making) { making = tables; }
  ~Making() { making = before; }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;
  std::span<const SchedulerTable> before;
};

}  // namespace

Knowledge UsedKnowledge(const Scheduler& scheduler, const ScenarioData& scenario) {
  const Knowledge declared = scheduler.knowledge();
  if (declared < Knowledge::kEstimate) return declared;
  const std::vector<double>& requested = scenario.jobs.requested_s;
  const bool all = !requested.empty() && std::none_of(requested.begin(), requested.end(),
                                                      [](double seconds) { return std::isnan(seconds); });
  return all && scheduler.goes_by_requests() ? Knowledge::kEstimate : scenario.knowledge;
}

std::unique_ptr<Scheduler> MakeScheduler(std::string_view text, std::span<const SchedulerTable> tables) {
  const Spec spec = ParseSpec(text);
  std::vector<std::string> names;
  for (const SchedulerTable& table : tables) {
    for (const SchedulerInfo& info : table) {
      if (spec.name == info.name) {
        const Making under_way(tables);
        Params params(spec, info.params);
        std::unique_ptr<Scheduler> scheduler = info.make(params);
        params.CheckAllRead();
        return scheduler;
      }
      names.emplace_back(info.name);
    }
  }
  throw Error(Join("unknown scheduler '", spec.name, "'", DidYouMean(spec.name, names),
                   "; 'berth list schedulers' shows them all"));
}

std::vector<SchedulerTable> TablesInUse() {
  BERTH_CHECK(!making.empty(), "no scheduler is being made");
  return {making.begin(), making.end()};
}

}  // namespace berth
