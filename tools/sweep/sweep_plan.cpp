#include "tools/sweep/sweep_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "tools/file_hash.hpp"
#include "tools/policy_semantics.hpp"
#include "tools/spec_files.hpp"

namespace berth {
namespace {

// Those of AddEvaluationPlan: all may differ from cell to cell.
const std::vector<std::string>& SweptOptions() {
  static const std::vector<std::string> kNames = {
      "schedulers",   "scenario",       "format", "workload", "cluster",
      "clock",        "knowledge",      "sigma",  "features", "checkpoint-cost",
      "restore-cost", "migration-cost", "seeds",  "window",   "max-time"};
  return kNames;
}

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

SweepPlan::SweepPlan(std::vector<Axis> axes, const Options& settings, const std::vector<std::string>& taken,
                     MakeSchedulerOf make)
    : grid_(std::move(axes), taken), settings_(settings), make_(std::move(make)) {
  const std::vector<std::string> names = grid_.names();
  const auto set_by_axis = [&](const char* option) { return Has(names, option); };
  const bool clusters = set_by_axis("cluster") || !Placeholders(settings_.Text("cluster")).empty();
  const bool jobs = set_by_axis("workload") || set_by_axis("scenario") || set_by_axis("window");
  if (clusters && !jobs) FixDefaultJobs(settings_);
  std::set<std::string> used;
  for (const std::string& option : SweptOptions()) {
    for (const std::string& name : Placeholders(settings_.Text(option))) {
      if (!Has(names, name)) {
        throw Error(Join(settings_.Where(option), ": expected axes of the grid in braces (", Listed(names),
                         "), found {", name, "}", DidYouMean(name, names)));
      }
      used.insert(name);
    }
  }
  for (const std::string& name : names) {
    if (Has(SweptOptions(), name)) {
      if (settings_.Given(name))
        throw Error(Join(settings_.Where(name),
                         ": expected nothing, since an axis of this name sets it, found '",
                         settings_.Text(name), "'"));
    } else if (used.count(name) == 0) {
      throw Error(Join("axis '", name, "': expected {", name,
                       "} in another option, or the name of one that it sets, found neither",
                       DidYouMean(name, SweptOptions())));
    }
  }
}

Options SweepPlan::CellSettings(std::int64_t cell) const {
  Options own = settings_;
  for (const std::string& option : SweptOptions()) {
    if (own.Given(option)) own.Assign(option, grid_.Fill(own.Text(option), cell));
  }
  const std::vector<std::string> names = grid_.names(), values = grid_.Values(cell);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (Has(SweptOptions(), names[i])) own.Give(own.Where(names[i]), values[i]);
  }
  return own;
}

std::string SweepPlan::Called(std::int64_t cell) const {
  return Join("cell ", cell, " (", grid_.Label(cell), ")");
}

EvaluationPlan SweepPlan::MakeCell(std::int64_t cell, int threads, bool one_workload) const {
  try {
    Options own = CellSettings(cell);
    own.Assign("threads", std::to_string(threads));
    const WorkloadChoice workload = ResolveWorkload(own);
    if (one_workload && !workload.source->fixed()) {
      const std::int64_t first = own.Range("seeds").first;
      own.Assign("seeds", Join(first, ":", first + 1));
    }
    EvaluationPlan plan = MakeEvaluationPlan(own, workload, make_);
    plan.part_of = Called(cell);
    return plan;
  } catch (const Error& error) {
    throw Error(Join(Called(cell), ": ", error.what()));
  }
}

EvaluationPlan SweepPlan::Cell(std::int64_t cell, int threads) const {
  return MakeCell(cell, threads, /*one_workload=*/false);
}

void SweepPlan::Check(std::int64_t cell) const {
  const EvaluationPlan plan = MakeCell(cell, /*threads=*/1, /*one_workload=*/true);
  try {
    EmptyRows(plan);
    CommonSemantics(plan.schedulers);
  } catch (const Error& error) {
    throw Error(Join(Called(cell), ": ", error.what()));
  }
}

SweepRecord SweepPlan::Record(const std::string& source) const {
  SweepRecord record;
  record.source = source;
  record.settings.emplace_back("over", grid_.ToString());
  std::map<std::string, std::string> files;
  const auto add_file = [&](const std::string& path) {
    std::error_code ignored;  // texts that are no names of files may be too long for one
    if (std::filesystem::is_regular_file(path, ignored) && files.count(path) == 0)
      files[path] = FileHash(path);
  };
  const auto add = [&](const std::string& path) {
    add_file(path);
    for (const std::string& behind : FilesBehind(path)) add_file(behind);
  };
  std::set<std::string> seen;
  const auto look = [&](const std::string& text) {
    if (!seen.insert(text).second) return;
    add(text);
    for (const std::string& spec : SplitOutsideParentheses(text, ';')) {
      for (const SpecFile& file : SpecFiles(spec)) add(file.path);
    }
  };
  for (const auto& [option, text] : settings_.Resolved()) {
    if (!Has(SweptOptions(), option)) continue;
    record.settings.emplace_back(option, text);
    for (std::int64_t cell = 0; cell < grid_.size(); ++cell) look(grid_.Fill(text, cell));
  }
  for (const Axis& axis : grid_.axes()) {
    for (const std::string& value : axis.values) look(value);
  }
  record.files.assign(files.begin(), files.end());
  return record;
}

}  // namespace berth
