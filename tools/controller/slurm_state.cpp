#include "tools/controller/slurm_state.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "env/base/slurm_conf.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

const Json& At(const Json& object, const char* key, const std::string& what) {
  const auto found = object.find(key);
  if (found == object.end()) throw Error(Join(what, ": expected the key '", key, "', found none"));
  return *found;
}

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The list `key` of an answer. Where slurmctld does not answer 22.05 exits with 0 and writes an empty list:
// `errors` alone says so.
const Json& ListAt(const Json& object, const char* key, const std::string& what) {
  if (const auto errors = object.find("errors");
      errors != object.end() && errors->is_array() && !errors->empty()) {
    const std::string said = Text(errors->front(), "description");
    throw Error(Join(what, ": expected an answer, found the error '",
                     said.empty() ? Text(errors->front(), "error") : said, "'"));
  }
  const Json& list = At(object, key, what);
  if (!list.is_array()) throw Error(Join(what, ": ", key, ": expected a list, found ", list.type_name()));
  return list;
}

// NaN = not stated; infinite = without a limit.
double Number(const Json& object, const char* key) {
  const auto found = object.find(key);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (found == object.end() || found->is_null()) return kNone;
  if (found->is_number()) return found->get<double>();
  if (!found->is_object()) return kNone;
  const auto is = [&](const char* name) {
    const auto flag = found->find(name);
    return flag != found->end() && flag->is_boolean() && flag->get<bool>();
  };
  if (is("infinite")) return std::numeric_limits<double>::infinity();
  if (found->contains("set") && !is("set")) return kNone;
  const auto number = found->find("number");
  return number != found->end() && number->is_number() ? number->get<double>() : kNone;
}

double NumberOr(const Json& object, const char* key, double otherwise) {
  const double number = Number(object, key);
  return std::isnan(number) ? otherwise : number;
}

// Of what is counted: Slurm says "infinite" of some, and a count is no reason to believe any number.
std::int64_t CountOr(const Json& object, const char* key, double otherwise, double most = 9e15) {
  return static_cast<std::int64_t>(std::clamp(NumberOr(object, key, otherwise), -most, most));
}
int SmallOr(const Json& object, const char* key, double otherwise) {
  return static_cast<int>(CountOr(object, key, otherwise, 1e9));
}

// One word or a list of words.
std::vector<std::string> Words(const Json& object, const char* key) {
  std::vector<std::string> words;
  const auto found = object.find(key);
  if (found == object.end()) return words;
  if (found->is_string() && !found->get<std::string>().empty()) words.push_back(found->get<std::string>());
  if (found->is_array()) {
    for (const Json& word : *found) {
      if (word.is_string()) words.push_back(word.get<std::string>());
    }
  }
  return words;
}

constexpr std::int64_t kMostGpus = 1'000'000'000;  // of a job: more is none
constexpr int kMostOnNode = 1024;                  // as in slurm.conf (env/base/slurm_nodes.cpp)
constexpr std::size_t kMostTasks = 1'000'000;      // of an array

struct Gres {
  std::string type;
  int count = 0;
  std::vector<int> indices;
};

// "gpu:v100:2(IDX:0-1)", "gpu:(null):2(IDX:0-1)", "gres:gpu:2", "gres/gpu:v100:2", "cpu=1,gres/gpu=2",
// "gpu:4(S:0-1)"; what is not of GPUs is left out.
std::vector<Gres> GpuGres(const std::string& text) {
  std::vector<Gres> all;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = begin, depth = 0;
    for (; end < text.size() && (text[end] != ',' || depth > 0); ++end) {
      if (text[end] == '(') ++depth;
      if (text[end] == ')' && depth > 0) --depth;
    }
    std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    std::string inside;
    if (const std::size_t none = word.find("(null)"); none != std::string::npos)
      word.erase(none, 6);  // no type
    if (const std::size_t open = word.find('('); open != std::string::npos) {
      inside = word.substr(open + 1, word.find(')', open) - open - 1);
      word.resize(open);
    }
    std::replace(word.begin(), word.end(), '=', ':');
    if (word.starts_with("gres:") || word.starts_with("gres/")) word.erase(0, 5);
    if (word != "gpu" && !word.starts_with("gpu:")) continue;
    if (const std::size_t mark = word.find(":no_consume"); mark != std::string::npos) word.erase(mark, 11);
    Gres gres;
    gres.count = 1;
    // Behind the last colon a number is the count; before it, it is a type: "gpu:3090:4".
    const std::size_t last = word.rfind(':');
    const std::string number = last == std::string::npos ? "" : word.substr(last + 1);
    if (!number.empty() &&
        std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c) != 0; })) {
      gres.count = std::stoi(number.substr(0, 9));
      word.resize(last);
    }
    if (word.size() > 4) gres.type = word.substr(4);
    if (inside.starts_with("IDX:") && inside != "IDX:N/A") {
      for (const std::string& index : ExpandHosts(Join("[", inside.substr(4), "]"), "IDX"))
        gres.indices.push_back(static_cast<int>(ParseInteger(std::string_view(index).substr(0, 9), "IDX")));
    }
    all.push_back(std::move(gres));
  }
  return all;
}

int Sum(int gpus, std::int64_t more) {
  return static_cast<int>(std::clamp<std::int64_t>(gpus + more, -kMostGpus, kMostGpus));
}

// SlurmJob::stated_nodes of "cpu=4,mem=1G,node=2,billing=4,gres/gpu=2" and the tasks.
int StatedNodes(const Json& from) {
  int nodes = 0;
  for (const std::string& word : SplitOutsideParentheses(Text(from, "tres_req_str"), ',')) {
    if (word.starts_with("node=")) nodes = std::atoi(word.substr(5, 9).c_str());
  }
  const int on_each = SmallOr(from, "tasks_per_node", 0.0), tasks = SmallOr(from, "tasks", 1.0);
  return nodes < 1 || on_each < 1 ? nodes : std::max(nodes, (tasks - 1) / on_each + 1);
}

// `nodes`: on how many, of those by node.
void ReadGpus(const Json& from, int nodes, SlurmJob& job) {
  const auto take = [&](const char* key, std::int64_t times, bool by_node) {
    for (const Gres& gres : GpuGres(Text(from, key))) {
      if (job.gpus > 0 && gres.type != job.gpu_type) job.unusual = true;
      job.gpu_type = gres.type, job.gpus = Sum(job.gpus, gres.count * std::min(times, kMostGpus));
      if (by_node) job.per_node = gres.count;
    }
  };
  take("tres_per_node", nodes, true);
  job.by_node = job.gpus > 0;
  if (job.gpus == 0) take("tres_per_job", 1, false);
  if (job.gpus == 0) take("tres_per_task", SmallOr(from, "tasks", 1.0), false);
  if (job.gpus > 0) return;
  const int sockets = SmallOr(from, "sockets_per_node", 0.0);
  take("tres_per_socket", static_cast<std::int64_t>(nodes) * std::max(1, sockets), false);
  job.by_node = job.gpus > 0;
  if (job.by_node && sockets < 1) job.asks = "GPUs by socket";
}

bool AnyOf(std::initializer_list<const char*> names, const std::vector<std::string>& states) {
  return std::ranges::any_of(states, [&](const std::string& state) {
    return std::ranges::find(names, Upper(state)) != names.end();
  });
}

// "1,3-5,0-50:5%3", tasks of an array: Slurm writes those with even steps as the third, and a limit behind %.
std::vector<std::string> Tasks(std::string text, const std::string& what) {
  text.resize(std::min(text.size(), text.find('%')));
  std::vector<std::string> tasks;
  for (const std::string& entry : SplitOutsideParentheses(text, ',')) {
    const std::size_t colon = std::min(entry.find(':'), entry.size());
    const long long step = colon < entry.size() ? ParseInteger(entry.substr(colon + 1), what) : 1;
    if (step < 1) throw Error(Join(what, ": expected a step from 1 on, found '", entry, "'"));
    const std::vector<std::string> all = ExpandHosts(Join("[", entry.substr(0, colon), "]"), what);
    for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(step)) tasks.push_back(all[i]);
    if (tasks.size() > kMostTasks)
      throw Error(Join(what, ": expected at most ", kMostTasks, " tasks, found more"));
  }
  return tasks;
}

// Fills in as much as can be read. Throws Error for what cannot.
void ReadJob(const Json& from, const std::string& where, SlurmJob& job) {
  const std::vector<std::string> states =
      Words(At(from, "job_state", where).is_null() ? Json() : from, "job_state");
  if (states.empty())
    throw Error(Join(where, ": job_state: expected a state or a list of states, found neither"));
  job.state = Upper(states.front());
  // 22.05 names these flags of a job that waits in place of its state.
  job.set_aside = AnyOf({"SPECIAL_EXIT", "RESV_DEL_HOLD"}, states);
  if (AnyOf({"SPECIAL_EXIT", "RESV_DEL_HOLD", "REQUEUED", "REQUEUE_HOLD"}, {job.state}))
    job.state = "PENDING";
  for (const std::string& word : states) {
    if (Upper(word) == "COMPLETING") job.state = "COMPLETING";
  }
  job.name = Text(from, "name"), job.user = Text(from, "user_name"), job.partition = Text(from, "partition");
  job.reason = Text(from, "state_reason"), job.description = Text(from, "state_description");
  job.comment = Text(from, "comment");
  job.admin_comment = Text(from, "admin_comment"), job.dependency = Text(from, "dependency");
  job.priority = NumberOr(from, "priority", 1.0), job.nice = NumberOr(from, "nice", 0.0);
  if (job.nice >= 2147483648.0) job.nice -= 4294967296.0;  // 22.05 writes -60 as if it had no sign
  job.submit_s = NumberOr(from, "submit_time", 0.0), job.start_s = NumberOr(from, "start_time", 0.0);
  job.eligible_s = NumberOr(from, "eligible_time", 0.0), job.end_s = NumberOr(from, "end_time", 0.0);
  job.suspend_s = NumberOr(from, "suspend_time", 0.0), job.ran_before_s = NumberOr(from, "pre_sus_time", 0.0);
  if (const double minutes = Number(from, "time_limit"); std::isfinite(minutes) && minutes > 0.0)
    job.limit_s = 60.0 * minutes;
  const int on_nodes = std::max(1, SmallOr(from, "node_count", 1.0));
  job.num_nodes = on_nodes, job.max_nodes = std::max(0, SmallOr(from, "max_nodes", 0.0));
  job.cpus = SmallOr(from, "cpus", 0.0);
  const auto requeue = from.find("requeue");
  job.requeue = requeue != from.end() && requeue->is_boolean() && requeue->get<bool>();
  job.restarts = SmallOr(from, "restart_cnt", 0.0);
  job.nodes_said = job.pending() && job.restarts == 0;
  job.stated_nodes = StatedNodes(from);
  if (const std::int64_t array = CountOr(from, "array_job_id", 0.0); array > 0) {
    job.array = Join(array);
    job.array_limit = SmallOr(from, "array_max_tasks", 0.0);
    if (std::isfinite(Number(from, "array_task_id")))
      job.id = Join(array, "_", CountOr(from, "array_task_id", 0.0));
  }
  for (const auto& [key, words] :
       {std::pair{"resv_name", "a reservation"}, {"excluded_nodes", "other nodes than some"}}) {
    if (!Text(from, key).empty()) job.asks = words;
  }
  job.features = Text(from, "features");
  job.unusual = NumberOr(from, "het_job_id", 0.0) > 0.0;
  const bool waits_again = job.pending() && !job.nodes_said;
  ReadGpus(from, waits_again ? std::max(job.stated_nodes, on_nodes) : on_nodes, job);
  // GPUs by node are those of its last run: a range of nodes is Slurm's.
  if (!job.nodes_said && job.stated_nodes > 0)
    job.num_nodes = job.by_node ? std::max(job.stated_nodes, on_nodes) : job.stated_nodes;
  for (const Gres& gres : GpuGres(Text(from, "cpus_per_tres")))
    job.cpus_per_gpu = std::max(job.cpus_per_gpu, gres.count);
  if (const std::string nodes = Text(from, "nodes"); !nodes.empty()) job.nodes = ExpandHosts(nodes, where);
  if (const std::string nodes = Text(from, "required_nodes"); !nodes.empty())
    job.required = ExpandHosts(nodes, where);
  for (const std::string& detail : Words(from, "gres_detail")) {
    std::vector<int> indices;
    for (const Gres& gres : GpuGres(detail))
      indices.insert(indices.end(), gres.indices.begin(), gres.indices.end());
    job.gpu_indices.push_back(std::move(indices));
  }
  if (job.gpu_indices.size() != job.nodes.size()) job.gpu_indices.clear();
}

// A node that sleeps does: Slurm wakes it for a job that is released to it.
bool TakesJobs(const std::vector<std::string>& states) {
  for (const std::string& state : states) {
    if (Upper(state) == "POWERED_DOWN") continue;
    for (const char* other : {"DOWN", "DRAIN", "FAIL", "MAINT", "REBOOT", "RESERVED", "NOT_RESPONDING",
                              "INVALID", "POWER", "FUTURE", "UNKNOWN", "ERROR", "PLANNED_DOWN"}) {
      if (Upper(state).find(other) != std::string::npos) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<SlurmJob> JobsOf(const Json& squeue, const std::string& what) {
  std::vector<SlurmJob> jobs;
  bool any = false;  // has a state
  for (const Json& from : ListAt(squeue, "jobs", what)) {
    SlurmJob job;
    job.id = Join(CountOr(from, "job_id", 0.0));
    const std::string where = Join(what, ": job ", job.id);
    std::vector<std::string> tasks;
    try {
      ReadJob(from, where, job);
      // What waits of an array is one job; its tasks may be started each.
      if (!job.array.empty()) tasks = Tasks(Text(from, "array_task_string"), where);
    } catch (const Error& error) {
      job.unusual = true, job.unread = error.what();
    }
    any = any || !job.state.empty() || job.unread.empty();
    for (const std::string& task : tasks) {
      jobs.push_back(job);
      jobs.back().id = Join(job.array, "_", task);
    }
    if (tasks.empty()) jobs.push_back(std::move(job));
  }
  // It is not one job that cannot be read then, but the form of all.
  if (!any && !jobs.empty()) throw Error(jobs.front().unread);
  return jobs;
}

std::vector<SlurmGpuNode> NodesOf(const Json& sinfo, const std::string& what) {
  std::vector<SlurmGpuNode> nodes;
  for (const Json& from : ListAt(sinfo, "nodes", what)) {
    SlurmGpuNode node;
    node.name = Text(from, "name");
    const std::vector<Gres> all = GpuGres(Text(from, "gres"));
    if (all.empty()) continue;
    for (const Gres& gres : all) {
      if (gres.type != all.front().type)
        node.unread =
            Join(what, ": node ", node.name, ": expected GPUs of one type, found '", Text(from, "gres"), "'");
      node.gpus = Sum(node.gpus, gres.count);
    }
    if (node.gpus > kMostOnNode)
      node.unread =
          Join(what, ": node ", node.name, ": expected at most ", kMostOnNode, " GPUs, found ", node.gpus);
    node.gpu_type = all.front().type.empty() ? "gpu" : all.front().type;
    for (const Gres& gres : GpuGres(Text(from, "gres_used"))) node.used = Sum(node.used, gres.count);
    const double idle = NumberOr(from, "cpus", 0.0) - NumberOr(from, "alloc_cpus", 0.0);
    node.idle_cpus =
        SmallOr(from, "idle_cpus", NumberOr(from, "alloc_idle_cpus", std::isnan(idle) ? 0.0 : idle));
    std::vector<std::string> states = Words(from, "state");
    for (const std::string& flag : Words(from, "state_flags")) states.push_back(flag);
    for (const std::string& word : states) node.state += (node.state.empty() ? "" : "+") + Lower(word);
    node.usable = TakesJobs(states);
    node.asleep = node.state.find("powered_down") != std::string::npos;
    node.wakes = Upper(node.state).find("POWER") != std::string::npos;
    node.reason = Text(from, "reason");
    node.partitions = Words(from, "partitions");
    for (const std::string& words : Words(from, "active_features")) {
      for (std::string& word : SplitOutsideParentheses(words, ',')) node.features.push_back(std::move(word));
    }
    nodes.push_back(std::move(node));
  }
  std::stable_sort(nodes.begin(), nodes.end(), [](const SlurmGpuNode& a, const SlurmGpuNode& b) {
    return std::tie(a.gpu_type, a.gpus, a.name) < std::tie(b.gpu_type, b.gpus, b.name);
  });
  return nodes;
}

std::string VersionOf(const Json& answer, const std::string& what) {
  const auto meta = answer.find("meta");
  if (meta == answer.end())
    throw Error(Join(what, ": expected Slurm's JSON with the key 'meta', found none"));
  for (const char* name : {"Slurm", "slurm"}) {
    if (const auto slurm = meta->find(name); slurm != meta->end()) return Text(*slurm, "release");
  }
  throw Error(Join(what, ": expected meta.Slurm.release, found none"));
}

}  // namespace berth
