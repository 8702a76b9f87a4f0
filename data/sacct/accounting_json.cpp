// `sacct --json` of Slurm 22.05 (data_parser of the plugin openapi/dbv0.0.38): {"jobs": [{"job_id": ...,
// "time": {...}, "tres": {"requested": [...], "allocated": [...]}, ...}]}; and that of later versions.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/sacct/accounting.hpp"
#include "data/sacct/json_fields.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

using Json = nlohmann::json;

std::map<std::string, int> Gpus(const JsonFields& job, const char* which) {
  std::map<std::string, int> gpus;
  const Json* list = job.Find("tres", which);
  if (list == nullptr) return gpus;
  const std::string name = Join("tres.", which);
  if (!list->is_array()) job.Wrong(name, "a list", *list);
  for (const Json& entry : *list) {
    if (!entry.is_object()) job.Wrong(name, "a list of objects", entry);
    if (entry.value("type", Json()) != "gres" || !entry.contains("name") || !entry["name"].is_string())
      continue;
    const std::string gres = entry["name"].get<std::string>();
    if (gres != "gpu" && gres.rfind("gpu:", 0) != 0) continue;
    const Json count = entry.value("count", Json());
    if (!count.is_number_integer() || count.get<double>() < 0 || count.get<double>() > 1e6)
      job.Wrong(name + ".count", "0 to 1000000", count);
    int& sum = gpus[gres == "gpu" ? "" : gres.substr(4)];
    sum = std::min(sum + count.get<int>(), 1 << 30);
  }
  return gpus;
}

// 0 stands for what is not known.
double Moment(const JsonFields& job, const char* name) {
  const double moment = job.Number("time", name, 0.0);
  return moment > 0.0 ? moment : SacctRow::kUnknown;
}

SacctRow RowOf(const JsonFields& job) {
  SacctRow row;
  row.where = job.where();
  row.id = job.Whole("job_id", nullptr, -1.0);
  if (row.id < 0) throw Error(Join(job.where(), ": expected 'job_id', found none"));
  row.array_job = job.Whole("array", "job_id", 0.0);
  row.array_task = job.Whole("array", "task_id", -1.0);
  if (row.array_job == 0) row.array_task = -1;
  if (const Json* array = job.Find("array", "limits"); array != nullptr && row.array_job != 0) {
    const Json* most = array->contains("max") ? &(*array)["max"] : nullptr;
    const Json running =
        most != nullptr && most->is_object() ? most->value("running", Json::object()) : Json::object();
    row.array_limit = running.is_object() && running.value("tasks", Json(0)) != 0;
  }
  row.user = job.Text("user");
  row.account = job.Text("account");
  row.partition = job.Text("partition");
  row.qos = job.Text("qos");
  row.state = job.Text("state", "current");
  if (row.state.empty()) throw Error(Join(job.where(), ": expected 'state.current', found none"));
  row.nodes = job.Text("nodes");
  row.constraints = job.Text("constraints");
  // 22.05 writes the id of a reservation and any number in place of its name.
  if (const Json* name = job.Find("reservation", "name"); name != nullptr && name->is_string())
    row.reservation = name->get<std::string>();
  else if (job.Number("reservation", "id", 0.0) > 0.0)
    row.reservation = SacctRow::kUnnamed;
  row.submit = Moment(job, "submission");
  if (std::isnan(row.submit)) throw Error(Join(job.where(), ": expected 'time.submission', found none"));
  row.eligible = Moment(job, "eligible");
  row.start = Moment(job, "start");
  row.end = Moment(job, "end");
  row.suspended = job.Number("time", "suspended", 0.0);
  row.elapsed = job.Number("time", "elapsed", 0.0) + row.suspended;
  row.limit = 60.0 * job.Number("time", "limit", SacctRow::kUnknown);
  row.num_nodes = static_cast<int>(job.Whole("allocation_nodes", nullptr, 0.0, 1e9));
  row.asked = Gpus(job, "requested");
  row.given = Gpus(job, "allocated");
  row.heterogeneous = job.Number("het", "job_id", 0.0) > 0.0;
  ReadSubmitLine(job.Text("submit_line"), row);
  return row;
}

}  // namespace

SacctTable ReadSacctJson(const std::string& path) {
  SacctTable table;
  for (const Json& job : JsonList(path, "jobs", "sacct --json")) {
    const int number = static_cast<int>(table.rows.size()) + 1;
    if (!job.is_object()) throw Error(Join(path, ": job ", number, " of the list: expected an object"));
    if (job.contains("submit_line")) table.says_dependencies = true;
    table.rows.push_back(RowOf(JsonFields(job, Join(path, ": job ", number, " of the list"))));
    table.rows.back().line = number;
  }
  return table;
}

}  // namespace berth
