#include "tools/reproduce/hpc_runs.hpp"

#include "data/sequence.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"

namespace berth {

std::string WithParams(const std::string& spec, const std::string& params) {
  if (spec.back() != ')') return Join(spec, "(", params, ")");
  return Join(spec.substr(0, spec.size() - 1), ",", params, ")");
}

const Scenario& HpcRuns::Log(const char* file) {
  const auto found = logs_.find(file);
  if (found != logs_.end()) return found->second;
  return logs_.emplace(file, FindFormat("swf").read(Join(folder_, "/", file), {})).first->second;
}

const ResultRow& HpcRuns::Get(const HpcSetting& setting, Semantics semantics, bool official,
                              const std::string& spec) {
  const std::string full = WithParams(
      spec, Join("semantics=", ToString(semantics), ",backfill=", setting.backfill ? "easy" : "none"));
  const std::string key = Join(setting.log, official ? " official " : " disjoint ", full);
  const auto found = rows_.find(key);
  if (found != rows_.end()) return found->second;
  const Clock clock{semantics == Semantics::kCommit ? ClockKind::kHpc : ClockKind::kEvent};
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(full, AllSchedulers());
  ResultRow row{full, scheduler->knowledge(), {}};
  for (int start : official ? HpcOfficialStarts() : HpcDisjointStarts()) {
    row.runs.push_back(Run(Sequence(Log(setting.log), start, kHpcJobs, clock), *scheduler, full, {}));
    seconds_ += row.runs.back().wall_s;
    ++count_;
  }
  return rows_.emplace(key, std::move(row)).first->second;
}

}  // namespace berth
