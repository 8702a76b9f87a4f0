#include "env/sim/scheduler.hpp"

#include <vector>

#include "env/base/check.hpp"

namespace berth {

std::unique_ptr<Scheduler> MakeScheduler(std::string_view text, std::span<const SchedulerTable> tables) {
  const Spec spec = ParseSpec(text);
  std::vector<std::string> names;
  for (const SchedulerTable& table : tables) {
    for (const SchedulerInfo& info : table) {
      if (spec.name == info.name) {
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

}  // namespace berth
