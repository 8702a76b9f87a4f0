// What really happened, once more: jobs start and stop when a file says, as `berth convert --format decisions
// --starts` writes it.
//
// A start that cannot be carried out when it is due, since in the simulation the GPUs are still taken, is
// carried out once they are free. Jobs that the file does not name start in order of arrival, each on the
// first GPU type with room.
#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/sim/plan.hpp"

namespace berth {
namespace {

struct Row {
  double time_s = 0.0;
  std::int64_t job = 0;
  std::vector<int> devices;  // empty = stop
  int line = 0;
};

std::vector<Row> ReadRows(const std::string& path) {
  std::vector<Row> rows;
  if (path.empty()) return rows;
  std::ifstream file(path);
  std::string text;
  if (!file || !std::getline(file, text))
    throw Error(Join(path, ": expected a file time_s,job,devices, found none that can be read"));
  if (text != "time_s,job,devices")
    throw Error(Join(path, ":1: expected the header time_s,job,devices, found '", text, "'"));
  for (int line = 2; std::getline(file, text); ++line) {
    Row row;
    row.line = line;
    char comma = 0, second = 0;
    std::istringstream words(text);
    if (!(words >> row.time_s >> comma >> row.job >> second) || comma != ',' || second != ',' ||
        !(row.time_s >= 0.0))
      throw Error(Join(path, ":", line, ": expected SECONDS,JOB,DEVICES, found '", text, "'"));
    for (int device = 0; words >> device;) row.devices.push_back(device);
    if (!words.eof()) throw Error(Join(path, ":", line, ": expected devices as numbers, found '", text, "'"));
    if (!rows.empty() && row.time_s < rows.back().time_s)
      throw Error(
          Join(path, ":", line, ": expected no earlier time than the line before, found ", row.time_s));
    rows.push_back(std::move(row));
  }
  return rows;
}

class Recorded : public Scheduler {
 public:
  explicit Recorded(std::string path) : path_(std::move(path)), rows_(ReadRows(path_)) {
    for (const Row& row : rows_) named_[row.job] = true;
  }
  Knowledge knowledge() const override { return Knowledge::kNone; }

  void Reset(const ClusterView& view) override {
    done_.assign(rows_.size(), 0), next_ = 0;
    for (const Row& row : rows_) {
      for (const int device : row.devices) {
        if (device < 0 || device >= view.num_gpus())
          throw Error(
              Join(path_, ":", row.line, ": expected devices below ", view.num_gpus(), ", found ", device));
      }
    }
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    std::map<std::int64_t, int> waiting, running;
    for (const int job : view.waiting()) waiting[view.Id(job)] = job;
    for (const int job : view.running()) running[view.Id(job)] = job;
    free_.assign(U(view.num_gpus()), 0);
    for (int device = 0; device < view.num_gpus(); ++device)
      free_[U(device)] = view.DeviceFree(device) ? 1 : 0;
    taken_.clear();
    double wake = kNever;
    for (std::size_t i = next_; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      if (row.time_s > view.now()) {
        wake = row.time_s;
        break;
      }
      if (done_[i] == 0)
        done_[i] =
            row.devices.empty() ? Stop(running, row, decision) : StartOne(view, waiting, row, decision);
    }
    while (next_ < rows_.size() && done_[next_] != 0) ++next_;
    plan_.Begin(view, /*preemptive=*/false);
    for (const int device : taken_) plan_.WithholdDevice(view.TypeOfDevice(device), device);
    for (const int job : view.waiting()) {
      if (named_.contains(view.Id(job))) continue;
      int type = 0;
      while (type < view.num_types() && !plan_.Fits(view, job, type)) ++type;
      if (type == view.num_types()) break;
      plan_.Put(view, job, type);
    }
    plan_.Emit(view, decision);
    decision.wake_at = wake;
  }

 private:
  static char Stop(const std::map<std::int64_t, int>& running, const Row& row, Decision& decision) {
    const auto found = running.find(row.job);
    if (found != running.end()) decision.Stop(found->second);
    return 1;
  }

  // 0 = not yet.
  char StartOne(const ClusterView& view, std::map<std::int64_t, int>& waiting, const Row& row,
                Decision& decision) {
    const auto found = waiting.find(row.job);
    if (found == waiting.end()) return 0;
    const int job = found->second, type = view.TypeOfDevice(row.devices.front());
    const bool fits = static_cast<int>(row.devices.size()) == view.Gang(job) && view.Rate(job, type) > 0.0 &&
                      std::all_of(row.devices.begin(), row.devices.end(), [&](int device) {
                        return free_[U(device)] != 0 && view.TypeOfDevice(device) == type;
                      });
    if (!fits) return 0;
    for (const int device : row.devices) free_[U(device)] = 0, taken_.push_back(device);
    decision.Start(job, type, row.devices);
    waiting.erase(found);
    return 1;
  }

  std::string path_;
  std::vector<Row> rows_;
  std::map<std::int64_t, bool> named_;
  std::vector<char> done_;  // [rows]
  std::size_t next_ = 0;    // rows before it are done
  std::vector<char> free_;  // [devices]
  std::vector<int> taken_;  // devices, by rows of this decision
  Plan plan_;
};

constexpr ParamInfo kRecordedParams[] = {
    {"file", "", "CSV time_s,job,devices (none: the job stops); none = all in order of arrival"}};

}  // namespace

SchedulerInfo RecordedInfo() {
  return {"recorded",
          "starts and stops jobs when a file says, others in order of arrival; O(n + rows)",
          "a trace-driven replay; no source",
          "",
          Knowledge::kNone,
          /*preemptive=*/true,
          kRecordedParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Recorded>(params.Text("file"));
          }};
}

}  // namespace berth
