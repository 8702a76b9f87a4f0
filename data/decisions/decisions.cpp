#include "data/decisions/decisions.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "data/sacct/node_outages.hpp"
#include "data/text_file.hpp"
#include "data/workload_list.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"

namespace berth {
namespace {

using Json = nlohmann::json;

struct Span {
  double begin = 0.0, end = kNever;  // s since 1970; kNever = it still runs
  std::vector<int> devices;
};

struct Job {
  std::int64_t id = 0;
  std::string job_class, user, type, state;
  int gpus = 0;
  double submitted = 0.0, limit_s = std::numeric_limits<double>::quiet_NaN(), steps = 0.0;
  bool checkpoint = false, ended = false;
  std::vector<Span> runs;
};

struct Log {
  ClusterSpec cluster;
  std::vector<std::string> gpu_types;  // [types] as jobs ask for them
  std::vector<SlurmNode> nodes;
  std::vector<std::string> classes;
  std::vector<double> speeds;  // [classes, types] steps/s
  std::vector<Job> jobs;       // in the order in which they were first seen
  std::vector<NodeEvent> events;
  double end = 0.0;
};

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// The name of the GPUs of a type, of logs that do not state it: there "a100-8" is of nodes with 8 where the
// nodes of "a100" have another number.
std::string GpusOfName(const GpuType& type, const std::vector<GpuType>& types) {
  const std::string tail = Join("-", type.gpus_per_node);
  if (!type.name.ends_with(tail)) return type.name;
  const std::string stem = type.name.substr(0, type.name.size() - tail.size());
  const bool there = std::ranges::any_of(types, [&](const GpuType& other) { return other.name == stem; });
  return there ? stem : type.name;
}

constexpr double kMostGpus = 1e7;  // of a type, as --cluster takes them

constexpr std::int64_t kNumberAgain = 1'000'000'000'000'000;  // between ids of jobs that had one number
constexpr int kMostAgain = 1000;

// Throws Error.
int Whole(const Json& json, const char* what, double low, double high) {
  const double number = json.get<double>();
  if (!(number >= low && number <= high))
    throw Error(Join(what, ": expected ", low, " to ", high, ", found ", number));
  return static_cast<int>(number);
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    if (!std::filesystem::exists(path))
      throw Error(
          Join(path, ": expected a log of berth serve --slurm (decisions.jsonl), found no file to read"));
    std::istringstream file(ReadText(path));
    for (std::string text; std::getline(file, text);) {
      ++number_;
      const Json line = Json::parse(text, nullptr, false);
      if (line.is_discarded() && file.peek() == std::istringstream::traits_type::eof())
        break;  // cut short: the machine went down
      try {
        if (!line.is_object()) throw Error("expected a JSON object, found none");
        Take(line);
      } catch (const std::exception& error) {
        throw Error(Join(path, ":", number_, ": ", error.what()));
      }
    }
    if (log.nodes.empty()) throw Error(Join(path, ": expected a line of kind 'begin', found none"));
    if (log.jobs.empty()) throw Error(Join(path, ": expected a line of kind 'job', found none"));
    for (const auto& [node, event] : down_) log.events.push_back(event);
    // Slurm chooses how many GPUs it gives a job that asks for a range of nodes: a gang is what ran.
    for (Job& job : log.jobs) {
      for (const Span& run : job.runs) {
        if (!run.devices.empty()) job.gpus = static_cast<int>(run.devices.size());
      }
    }
  }

  Log log;

 private:
  void Take(const Json& line) {
    const std::string kind = line.at("kind").get<std::string>();
    const double at = line.at("at").get<double>();
    log.end = std::max(log.end, at);
    if (kind == "begin") Begin(line);
    if (kind == "speeds") Speeds(line.at("classes"));
    if (kind == "job") AddJob(line);
    if (kind == "node") Node(line, at);
    if (kind != "start" && kind != "stop" && kind != "end") return;
    const auto found = index_.find(line.at("id").get<std::string>());
    if (found == index_.end())
      throw Error(Join("expected a job of a line before, found ", line.at("id").dump()));
    Job& job = log.jobs[found->second];
    const bool runs = !job.runs.empty() && job.runs.back().end == kNever;
    if (kind == "start" && !runs) {
      job.runs.push_back({line.value("since", at), kNever, {}});
      double devices = 0.0;
      for (const GpuType& type : log.cluster.types) devices += type.count;
      for (const Json& json : line.at("devices")) {
        const double device = json.get<double>();
        if (!(device >= 0.0 && device < devices))
          throw Error(Join("devices: expected numbers below ", devices, ", found ", device));
        job.runs.back().devices.push_back(static_cast<int>(device));
      }
    }
    if (kind != "start" && runs) job.runs.back().end = at;
    if (kind == "end") job.ended = true, job.state = line.value("state", "");
  }

  void Begin(const Json& line) {
    ClusterSpec cluster;
    std::vector<SlurmNode> nodes;
    for (const Json& from : line.at("types")) {
      GpuType type;
      type.name = from.at("name").get<std::string>();
      type.count = Whole(from.at("gpus"), "gpus", 1, kMostGpus);
      type.gpus_per_node = Whole(from.at("gpus_per_node"), "gpus_per_node", 1, kMostGpus);
      for (const Json& name : from.at("nodes")) {
        SlurmNode node;
        node.name = name.get<std::string>(), node.type = node.gpu_type = type.name,
        node.gpus = type.gpus_per_node;
        nodes.push_back(node);
      }
      cluster.types.push_back(type);
    }
    const bool same = std::equal(
        nodes.begin(), nodes.end(), log.nodes.begin(), log.nodes.end(),
        [](const SlurmNode& a, const SlurmNode& b) { return a.name == b.name && a.type == b.type; });
    if (!log.nodes.empty() && !same)
      throw Error(
          "expected the nodes of the line 'begin' before it, found others: cut the file here, each part is a "
          "cluster of its own");
    log.gpu_types.clear();
    for (const Json& from : line.at("types"))
      log.gpu_types.push_back(
          from.value("gpu_type", GpusOfName(cluster.types[log.gpu_types.size()], cluster.types)));
    log.cluster = cluster, log.nodes = nodes;
    Speeds(line.at("classes"));
  }

  void Speeds(const Json& classes) {
    log.classes.clear(), log.speeds.clear();
    for (const Json& one : classes) {
      log.classes.push_back(one.at("name").get<std::string>());
      for (const GpuType& type : log.cluster.types)
        log.speeds.push_back(one.at("steps_per_s").at(type.name).get<double>());
    }
  }

  void AddJob(const Json& line) {
    const std::string id = line.at("id").get<std::string>();
    Job job;
    job.id = NumberOfSlurmId(id, "id");
    job.job_class = line.at("class").get<std::string>(), job.user = line.value("user", "");
    job.gpus = Whole(line.at("gpus"), "gpus", 0, kMostGpus), job.type = line.value("type", "");
    job.submitted = line.at("submitted").get<double>();
    if (const auto before = index_.find(id); before != index_.end()) {
      const Job& known = log.jobs[before->second];
      // A requeue sets another time of submission. Logs that do not say whether there was one may have it.
      const bool requeued = !known.ended && line.value("restarts", 1.0) > 0.0;
      if (job.user == known.user && (job.submitted == known.submitted || requeued))
        return;  // seen again by a controller that was started again
    }
    index_[id] = log.jobs.size();  // from here on; Slurm gives numbers again after slurmctld was killed
    for (int again = 0; !ids_.insert(job.id).second; job.id += kNumberAgain) {
      if (++again == kMostAgain)
        throw Error(Join("id: expected a number for at most ", kMostAgain, " jobs, found ", id, " for more"));
    }
    job.limit_s = line.value("limit_s", job.limit_s), job.steps = line.value("steps", 0.0);
    job.checkpoint = line.value("checkpoint", false);
    log.jobs.push_back(std::move(job));
  }

  void Node(const Json& line, double at) {
    const std::string name = line.at("name").get<std::string>();
    if (const auto down = down_.find(name); down != down_.end()) {
      down->second.end = at;
      log.events.push_back(down->second);
      down_.erase(down);
    }
    if (line.at("in_service").get<bool>()) return;
    // Reserved, not responding, to be rebooted, ...: whatever it is called, it took no new job.
    std::string state = Upper(line.at("state").get<std::string>());
    down_[name] = {number_, name, IsDown(state) ? std::move(state) : "DRAIN", at, kNever};
  }

  std::string path_;
  int number_ = 0;
  std::map<std::string, std::size_t> index_;  // the latest job of each number
  std::set<std::int64_t> ids_;
  std::map<std::string, NodeEvent> down_;
};

double Origin(const Log& log) {
  double origin = log.jobs.front().submitted;
  for (const Job& job : log.jobs) origin = std::min(origin, job.submitted);
  return origin;
}

// On another number of GPUs than its last run, which is its gang: not in the scenario.
bool LeftOut(const Job& job, const Span& run) {
  return !run.devices.empty() && static_cast<int>(run.devices.size()) != job.gpus;
}

// Steps that its runs made, those in the scenario or those left out; of what is lost when it stops, in the
// last of all alone.
double StepsOf(const Log& log, const Job& job, std::size_t job_class, bool left_out) {
  double steps = 0.0;
  const std::size_t types = log.cluster.types.size();
  for (const Span& run : job.runs) {
    if (!job.checkpoint) steps = 0.0;
    if (run.devices.empty() || run.end == kNever || LeftOut(job, run) != left_out) continue;
    int first = 0;
    std::size_t type = 0;
    while (type + 1 < types && run.devices.front() >= first + log.cluster.types[type].count)
      first += log.cluster.types[type++].count;
    steps += log.speeds[job_class * types + type] * (run.end - run.begin);
  }
  return steps;
}

bool Left(const Job& job) {  // out of the scenario: how much work it is will never be known
  return !job.ended && job.steps <= 0.0;
}

// What nodes were out of service, without what would stop or delay a job of the log: a drain's end stops who
// still runs there, but some ran on behind it (a node that did not respond for a while) or started meanwhile
// (in the reservation). Such a GPU is in service while it is held so.
std::vector<NodeEvent> OutOfService(const Log& log) {
  std::map<std::string, std::pair<int, int>> devices_of;  // of a node: the first, and the one behind the last
  int first = 0;
  auto node = log.nodes.begin();
  for (const GpuType& type : log.cluster.types) {
    for (int at = 0; node != log.nodes.end() && node->type == type.name; ++node, at += type.gpus_per_node)
      devices_of[node->name] = {first + std::min(at, type.count),
                                first + std::min(at + type.gpus_per_node, type.count)};
    first += type.count;
  }
  std::vector<std::vector<std::pair<double, double>>> held(U(first));  // [devices] from, to
  for (const Job& job : log.jobs) {
    if (Left(job)) continue;
    for (const Span& run : job.runs) {
      for (const int device : run.devices) held[U(device)].emplace_back(run.begin, run.end);
    }
  }
  for (auto& spans : held) std::sort(spans.begin(), spans.end());
  std::vector<NodeEvent> events;
  for (const NodeEvent& event : log.events) {
    const auto found = devices_of.find(event.node);
    std::vector<NodeEvent> parts;
    bool whole = true;
    if (!IsDown(event.state) && found != devices_of.end()) {
      const auto [begin, end] = found->second;
      for (int device = begin; device < end; ++device) {
        NodeEvent part = event;
        part.gpu = device - begin;
        for (const auto& [from, to] : held[U(device)]) {
          const bool apart = to <= event.start || from >= event.end;
          if (apart || (from <= event.start && to <= event.end)) continue;
          whole = false;
          part.end = from;
          if (part.start < part.end) parts.push_back(part);
          part.start = std::max(part.start, to);
        }
        part.end = event.end;
        if (part.start < part.end) parts.push_back(part);
      }
    }
    if (whole) parts = {event};
    events.insert(events.end(), parts.begin(), parts.end());
  }
  return events;
}

Scenario ReadDecisions(const std::string& path, const ScenarioSettings& given) {
  const Log log = Reader(path).log;
  if (!given.cluster.types.empty())
    throw Error(Join(path, ": expected no --cluster, since the log says its own, found one"));
  const double origin = Origin(log);
  ScenarioSettings settings = given;
  if (const NodeOutages outages = OutagesOf(OutOfService(log), log.nodes, origin); !outages.text.empty()) {
    const Features own = ParseFeatures(Join("failures(mtbf_h=0,events=", outages.text, ")"));
    settings.features = ParseFeaturesBeside(own, ToString(settings.features));
  }
  int running = 0, never = 0;
  std::vector<const Job*> jobs;
  for (const Job& job : log.jobs) {
    const bool ran =
        std::any_of(job.runs.begin(), job.runs.end(), [](const Span& run) { return !run.devices.empty(); });
    if (Left(job)) {
      ++running;
    } else if (!ran && job.ended) {
      ++never;
    } else {
      jobs.push_back(&job);
    }
  }
  if (jobs.empty()) throw Error(Join(path, ": expected a job that ended, found none"));
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job* a, const Job* b) { return a->submitted < b->submitted; });
  std::string note = path;
  if (running > 0)
    note +=
        Join("; ", Counted(running, "job that had not ended is", "jobs that had not ended are"), " left out");
  if (never > 0)
    note +=
        Join("; ", Counted(never, "job that ended without running is", "jobs that ended without running are"),
             " left out");
  std::ptrdiff_t other = 0;
  for (const Job* job : jobs)
    other += std::ranges::count_if(job->runs, [&](const Span& run) { return LeftOut(*job, run); });
  if (other > 0)
    note += Join("; ",
                 Counted(other, "run on another number of GPUs than its job's last is",
                         "runs on another number of GPUs than their job's last are"),
                 " left out");
  ScenarioData data = BaseScenario(settings, path, note);
  data.cluster = log.cluster;
  data.throughputs.job_types = log.classes;
  for (const Job* job : jobs) data.throughputs.gang_sizes.push_back(job->gpus);
  std::vector<int>& sizes = data.throughputs.gang_sizes;
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  const std::size_t types = log.cluster.types.size();
  for (std::size_t c = 0; c < log.classes.size(); ++c) {
    for (std::size_t s = 0; s < sizes.size(); ++s)
      data.throughputs.alone.insert(data.throughputs.alone.end(),
                                    log.speeds.begin() + static_cast<std::ptrdiff_t>(c * types),
                                    log.speeds.begin() + static_cast<std::ptrdiff_t>((c + 1) * types));
  }
  std::map<std::string, int> users;
  for (const Job* job : jobs) {
    const auto at = std::find(log.classes.begin(), log.classes.end(), job->job_class);
    if (at == log.classes.end())
      throw Error(Join(path, ": job ", job->id, ": expected a class of the line 'begin', found '",
                       job->job_class, "'"));
    const auto job_class = static_cast<std::size_t>(at - log.classes.begin());
    const double ran = job->ended ? StepsOf(log, *job, job_class, false) : 0.0;
    const double stated = job->steps - StepsOf(log, *job, job_class, true);
    data.jobs.id.push_back(job->id), data.jobs.arrival.push_back(job->submitted - origin);
    data.jobs.job_type.push_back(static_cast<int>(job_class)), data.jobs.gang.push_back(job->gpus);
    data.jobs.total_steps.push_back(ran > 0.0 ? ran : stated > 0.0 ? stated : 1e-3);
    data.jobs.requested_s.push_back(job->limit_s);
    const auto [user, is_new] = users.try_emplace(job->user, static_cast<int>(users.size()));
    if (is_new) data.tenants.push_back({job->user.empty() ? "user" : job->user});
    data.jobs.tenant.push_back(user->second);
    std::uint64_t allowed = 0;
    for (std::size_t g = 0; g < types; ++g) {
      if (job->type.empty() || log.gpu_types[g] == job->type) allowed |= std::uint64_t{1} << g;
    }
    data.jobs.allowed.push_back(allowed);
  }
  return Scenario(std::move(data), [&](int job) { return Join(path, ": job ", jobs[U(job)]->id); });
}

}  // namespace

std::int64_t NumberOfSlurmId(const std::string& id, const std::string& what) {
  const std::size_t bar = id.find('_');
  const auto number = [&](const std::string& text) {
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
      throw Error(Join(what, ": expected 17 or 17_3, found '", id, "'"));
    return std::stoll(text);
  };
  if (bar == std::string::npos) return number(id);
  return number(id.substr(0, bar)) * 100'000'000 + number(id.substr(bar + 1));
}

std::vector<RecordedStart> ReadDecisionStarts(const std::string& path) {
  const Log log = Reader(path).log;
  const double origin = Origin(log);
  std::vector<RecordedStart> starts;
  for (const Job& job : log.jobs) {
    if (Left(job)) continue;
    for (std::size_t i = 0; i < job.runs.size(); ++i) {
      const Span& run = job.runs[i];
      if (run.devices.empty() || LeftOut(job, run)) continue;
      starts.push_back({std::max(0.0, run.begin - origin), job.id, run.devices});
      if (i + 1 < job.runs.size() && run.end < kNever) starts.push_back({run.end - origin, job.id, {}});
    }
  }
  std::stable_sort(starts.begin(), starts.end(),
                   [](const RecordedStart& a, const RecordedStart& b) { return a.time_s < b.time_s; });
  return starts;
}

std::string StartsCsv(const std::vector<RecordedStart>& starts) {
  std::string text = "time_s,job,devices\n";
  for (const RecordedStart& start : starts) {
    text += Join(start.time_s, ",", start.job, ",");
    for (std::size_t i = 0; i < start.devices.size(); ++i) text += Join(i == 0 ? "" : " ", start.devices[i]);
    text += "\n";
  }
  return text;
}

FormatInfo DecisionsFormatInfo() {
  return {"decisions", "what berth serve --slurm wrote down: decisions.jsonl", "tools/controller/README.md",
          Clock{}, ReadDecisions};
}

}  // namespace berth
