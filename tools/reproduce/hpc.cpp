#include "tools/reproduce/hpc.hpp"

#include "data/sequence.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr HpcSetting kSettings[kHpcSettings] = {
    {"Lublin-1", "lublin_256.swf.gz", "lublin_256.swf|bf0", "lublin_256", false},
    {"Lublin-1 BF", "lublin_256.swf.gz", "lublin_256.swf|bf1", "lublin_256", true},
    {"Lublin-2", "lublin_256_new2.swf.gz", "lublin_256_new2|bf0", "lublin_256_new2", false},
    {"Lublin-2 BF", "lublin_256_new2.swf.gz", "lublin_256_new2|bf1", "lublin_256_new2", true},
};

constexpr int kOfficial[] = {1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085};
constexpr int kDisjoint[] = {1024, 2048, 3072, 4096, 5120, 6144, 7168, 8192};

// The README of RLScheduler's code (DIR-LAB/deep-batch-scheduler). WFP3 and UNICEP were published with a bug
// (-(1 + arrival) for the wait); the corrected figures are reruns of the authors' simulator, as are F2 to F4,
// SAF and smallest.
constexpr HpcRow kPublished[] = {
    {"FCFS", "fcfs", {"7273.77", "235.82", "7842.47", "247.61"}},
    {"WFP3 (bug)", "wfp3(published_bug=true)", {"19753.53", "133.87", "9523.18", "318.35"}},
    {"WFP3", "wfp3", {"337.34", "126.50", "807.25", "135.12"}},
    {"UNICEP (bug)", "unicep(published_bug=true)", {"22274.74", "307.23", "11265.31", "379.59"}},
    {"UNICEP", "unicep(floor=false)", {"381.71", "103.10", "830.49", "111.19"}},
    {"SJF", "sjf", {"277.35", "73.31", "787.89", "91.99"}},
    {"F1", "f1", {"258.37", "75.07", "698.34", "148.25"}},
    {"F2", "f2", {"268.47", "58.24", "669.03", "112.14"}},
    {"F3", "f3", {"341.77", "58.49", "1158.76", "90.72"}},
    {"F4", "f4", {"289.57", "53.64", "732.72", "105.83"}},
    {"SAF", "saf", {"292.88", "54.00", "714.26", "100.33"}},
    {"smallest", "smallest", {"304.64", "86.36", "622.18", "192.14"}},
    {"RL, sampled", "", {"254.67", "58.64", "724.51", "118.79"}},
    {"RL, greedy", "", {"250.50", "58.44", "640.68", "98.88"}},
};

constexpr HpcRow kUtilization[] = {
    {"FCFS", "fcfs", {"0.657", "0.868", "0.404", "0.587"}},
    {"WFP3 (bug)", "wfp3(published_bug=true)", {"0.747", "0.864", "0.543", "0.583"}},
    {"UNICEP (bug)", "unicep(published_bug=true)", {"0.691", "0.883", "0.510", "0.587"}},
    {"SJF", "sjf", {"0.762", "0.778", "0.562", "0.593"}},
    {"F1", "f1", {"0.816", "0.840", "0.478", "0.552"}},
    {"RL, sampled", "", {"0.714", "0.850", "0.562", "0.593"}},
};

// Means that the authors' simulator gives. Four come out only if means are rounded to two decimals first
// (FCFS and F1 with backfilling on Lublin-2: 161.749 and 113.146; smallest: 298.845 and 168.0499); sequence
// by sequence all agree with what was recorded.
constexpr HpcRow kDisjointRows[] = {
    {"FCFS", "fcfs", {"6477", "214.3", "6027", "161.8"}},
    {"SJF", "sjf", {"307.2", "77.5", "551.9", "83.9"}},
    {"F1", "f1", {"255.2", "60.2", "801.6", "113.2"}},
    {"F2", "f2", {"242.4", "61.3", "719.8", "85.3"}},
    {"F3", "f3", {"305.1", "65.1", "776.2", "91.0"}},
    {"F4", "f4", {"370.4", "64.3", "786.5", "74.2"}},
    {"smallest", "smallest", {"298.9", "89.7", "576.1", "168.1"}},
    {"SAF", "saf", {"314.3", "66.3", "645.7", "74.8"}},
    {"RL, greedy", "", {"293.8", "66.9", "640.1", "95.0"}},
    {"RL, sampled", "", {"304.9", "60.7", "603.6", "79.0"}},
};

// Of an independent implementation of the textbook's rules; UNICEP with max(1, log2 n).
constexpr HpcRow kTextbook[] = {
    {"FCFS", "fcfs", {"7273.8", "271.4", "7842.5", "222.3"}},
    {"SJF", "sjf", {"47.16", "42.08", "205.9", "82.9"}},
    {"SAF", "saf", {"26.95", "34.38", "46.14", "72.7"}},
    {"smallest", "smallest", {"47.53", "47.53", "191.2", "191.2"}},
    {"F1", "f1", {"34.53", "35.26", "117.9", "109.6"}},
    {"F2", "f2", {"32.25", "35.66", "63.1", "82.4"}},
    {"F3", "f3", {"35.16", "35.33", "652.1", "65.7"}},
    {"F4", "f4", {"20.68", "29.66", "392.8", "66.9"}},
    {"WFP3", "wfp3", {"118.7", "81.1", "469.3", "71.3"}},
    {"UNICEP", "unicep", {"40.5", "71.1", "145.4", "91.0"}},
    {"LXF", "lxf", {"86.3", "72.4", "323.7", "88.5"}},
    {"FCFS, greedy", "fcfs(overtake=true)", {"303", "", "291", ""}},
};

constexpr HpcTable kTables[] = {
    {"RLScheduler's table: ten sequences, mean bounded slowdown", "bounded slowdown", Semantics::kCommit,
     /*official=*/true, /*twice=*/false, kPublished},
    {"RLScheduler's table: the same runs, utilisation until the last start", "utilisation",
     Semantics::kCommit,
     /*official=*/true, /*twice=*/false, kUtilization},
    {"Eight disjoint windows, mean bounded slowdown", "bounded slowdown", Semantics::kCommit,
     /*official=*/false, /*twice=*/true, kDisjointRows},
    {"Textbook semantics and EASY, the ten sequences, mean bounded slowdown", "bounded slowdown",
     Semantics::kRedecide,
     /*official=*/true, /*twice=*/false, kTextbook},
};

}  // namespace

std::span<const HpcSetting> HpcSettings() {
  return kSettings;
}
std::span<const int> HpcOfficialStarts() {
  return kOfficial;
}
std::span<const int> HpcDisjointStarts() {
  return kDisjoint;
}
std::span<const HpcTable> HpcTables() {
  return kTables;
}

const char* HpcMissing() {
  return "SDSC-SP2 and HPC2N of the publication are not rerun: their logs are not among the traces.";
}

std::string WithParams(const std::string& spec, const std::string& params) {
  if (spec.back() != ')') return Join(spec, "(", params, ")");
  return Join(spec.substr(0, spec.size() - 1), ",", params, ")");
}

const Scenario& HpcRuns::Log(const char* file) {
  const auto found = logs_.find(file);
  if (found != logs_.end()) return found->second;
  return logs_.emplace(file, ReadLogged(Join(folder_, "/", file))).first->second;
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
