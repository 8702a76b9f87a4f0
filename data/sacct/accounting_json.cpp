// `sacct --json` of Slurm 22.05 (data_parser of the plugin openapi/dbv0.0.38): {"jobs": [{"job_id": ...,
// "time": {...}, "tres": {"requested": [...], "allocated": [...]}, ...}]}. Later versions write numbers as
// {"set": ..., "number": ...} and states as lists; both are read.
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/sacct/accounting.hpp"
#include "data/text_file.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

using Json = nlohmann::json;

// One job, and where it stands.
class JobOf {
 public:
  JobOf(const Json& job, std::string where) : job_(job), where_(std::move(where)) {}
  const std::string& where() const { return where_; }

  // null = not there, or said to be unknown.
  const Json* Find(const char* key, const char* inner = nullptr) const {
    const auto outer = job_.find(key);
    if (outer == job_.end() || outer->is_null()) return nullptr;
    if (inner == nullptr) return &*outer;
    if (!outer->is_object()) Wrong(key, "an object", *outer);
    const auto at = outer->find(inner);
    return at == outer->end() || at->is_null() ? nullptr : &*at;
  }
  double Number(const char* key, const char* inner, double otherwise) const {
    const Json* value = Find(key, inner);
    const std::string name = inner == nullptr ? key : Join(key, ".", inner);
    if (value == nullptr) return otherwise;
    if (value->is_object() && value->contains("number")) {
      if (value->value("infinite", false)) return std::numeric_limits<double>::infinity();
      if (!value->value("set", true)) return otherwise;
      value = &value->at("number");
    }
    if (!value->is_number()) Wrong(name, "a number", *value);
    return value->get<double>();
  }
  std::string Text(const char* key, const char* inner = nullptr) const {
    const Json* value = Find(key, inner);
    if (value == nullptr) return "";
    if (value->is_array() && !value->empty() && value->front().is_string())
      return value->front().get<std::string>();
    if (!value->is_string()) Wrong(inner == nullptr ? key : Join(key, ".", inner), "a text", *value);
    return value->get<std::string>();
  }
  std::map<std::string, int> Gpus(const char* which) const {
    std::map<std::string, int> gpus;
    const Json* list = Find("tres", which);
    if (list == nullptr) return gpus;
    const std::string name = Join("tres.", which);
    if (!list->is_array()) Wrong(name, "a list", *list);
    for (const Json& entry : *list) {
      if (!entry.is_object()) Wrong(name, "a list of objects", entry);
      if (entry.value("type", Json()) != "gres" || !entry.contains("name") || !entry["name"].is_string())
        continue;
      const std::string gres = entry["name"].get<std::string>();
      if (gres != "gpu" && gres.rfind("gpu:", 0) != 0) continue;
      const Json count = entry.value("count", Json());
      if (!count.is_number_integer() || count.get<double>() < 0 || count.get<double>() > 1e6)
        Wrong(name + ".count", "0 to 1000000", count);
      gpus[gres == "gpu" ? "" : gres.substr(4)] += count.get<int>();
    }
    return gpus;
  }
  [[noreturn]] void Wrong(const std::string& name, const char* expected, const Json& found) const {
    throw Error(Join(where_, ": '", name, "': expected ", expected, ", found ", found.dump().substr(0, 60)));
  }

 private:
  const Json& job_;
  std::string where_;
};

// 0 stands for what is not known.
double Moment(const JobOf& job, const char* name) {
  const double moment = job.Number("time", name, 0.0);
  return moment > 0.0 ? moment : SacctRow::kUnknown;
}

SacctRow RowOf(const JobOf& job) {
  SacctRow row;
  row.where = job.where();
  row.id = static_cast<std::int64_t>(job.Number("job_id", nullptr, -1.0));
  if (row.id < 0) throw Error(Join(job.where(), ": expected 'job_id', found none"));
  row.array_job = static_cast<std::int64_t>(job.Number("array", "job_id", 0.0));
  row.array_task = static_cast<std::int64_t>(job.Number("array", "task_id", -1.0));
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
  // 22.05 writes the id of a reservation and a 0 in place of its name.
  if (job.Number("reservation", "id", 0.0) > 0.0)
    row.reservation = Join("reservation ", job.Number("reservation", "id", 0.0));
  row.submit = Moment(job, "submission");
  if (std::isnan(row.submit)) throw Error(Join(job.where(), ": expected 'time.submission', found none"));
  row.eligible = Moment(job, "eligible");
  row.start = Moment(job, "start");
  row.end = Moment(job, "end");
  row.elapsed = job.Number("time", "elapsed", 0.0);
  row.limit = 60.0 * job.Number("time", "limit", SacctRow::kUnknown);
  row.num_nodes = static_cast<int>(job.Number("allocation_nodes", nullptr, 0.0));
  row.asked = job.Gpus("requested");
  row.given = job.Gpus("allocated");
  const std::string line = job.Text("submit_line");
  row.dependency = OptionOf(line, "--dependency", "-d");
  return row;
}

}  // namespace

SacctTable ReadSacctJson(const std::string& path) {
  Json whole;
  try {
    whole = Json::parse(ReadText(path));
  } catch (const Json::parse_error& error) {
    const std::string what = error.what();
    throw Error(Join(path, ": expected JSON, found ", what.substr(what.find("] ") + 2)));
  }
  if (!whole.is_object() || !whole.contains("jobs") || !whole["jobs"].is_array()) {
    throw Error(Join(path, ": expected {\"jobs\": [...]}, as sacct --json writes it"));
  }
  SacctTable table;
  for (const Json& job : whole["jobs"]) {
    const int number = static_cast<int>(table.rows.size()) + 1;
    if (!job.is_object()) throw Error(Join(path, ": job ", number, " of the list: expected an object"));
    if (job.contains("submit_line")) table.says_dependencies = true;
    table.rows.push_back(RowOf(JobOf(job, Join(path, ": job ", number, " of the list"))));
    table.rows.back().line = number;
  }
  return table;
}

}  // namespace berth
