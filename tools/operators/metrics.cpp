#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "tools/operators/operators.hpp"

namespace berth {
namespace {

// A label's value: backslash, quote and end of line are escaped.
std::string Label(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<double> NumberAt(const Json& json, const std::string& pointer) {
  const Json::json_pointer at(pointer);
  if (!json.contains(at) || !json[at].is_number()) return std::nullopt;
  return json[at].get<double>();
}

std::string TextAt(const Json& json, const char* name) {
  const auto at = json.find(name);
  return at != json.end() && at->is_string() ? at->get<std::string>() : "";
}

// The list of that name; an empty one where there is none.
const Json& ListAt(const Json& status, const char* name) {
  static const Json none = Json::array();
  const auto at = status.find(name);
  return at != status.end() && at->is_array() ? *at : none;
}

class Exposition {
 public:
  Exposition() { out_.precision(15); }
  void Head(const char* name, const char* type, const char* help) {
    out_ << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << type << '\n';
  }
  void Sample(const char* name, const std::string& labels, double value) {
    out_ << name << (labels.empty() ? "" : "{") << labels << (labels.empty() ? " " : "} ") << value << '\n';
  }
  void One(const char* name, const char* type, const char* help, std::optional<double> value) {
    if (!value) return;
    Head(name, type, help);
    Sample(name, "", *value);
  }
  std::string Text() const { return out_.str(); }

 private:
  std::ostringstream out_;
};

std::string LabelOf(const char* name, const std::string& value) {
  return std::string(name) + "=\"" + Label(value) + "\"";
}

// By type of GPU or by state of nodes, in the order of names.
void PutNodes(const Json& status, Exposition& out) {
  struct Gpus {
    double all = 0.0, used = 0.0;
  };
  std::map<std::string, Gpus> types;
  std::map<std::string, int> states;
  for (const Json& node : ListAt(status, "nodes")) {
    Gpus& gpus = types[TextAt(node, "type")];
    gpus.all += NumberAt(node, "/gpus").value_or(0.0);
    gpus.used += NumberAt(node, "/used").value_or(0.0);
    ++states[TextAt(node, "state")];
  }
  out.Head("berth_gpus", "gauge", "GPUs of all nodes, by type.");
  for (const auto& [type, gpus] : types) out.Sample("berth_gpus", LabelOf("type", type), gpus.all);
  out.Head("berth_gpus_used", "gauge", "GPUs that jobs hold, by type.");
  for (const auto& [type, gpus] : types) out.Sample("berth_gpus_used", LabelOf("type", type), gpus.used);
  out.Head("berth_nodes", "gauge", "Nodes by Slurm's state.");
  for (const auto& [state, count] : states) out.Sample("berth_nodes", LabelOf("state", state), count);
}

void PutJobs(const Json& status, Exposition& out) {
  const double now = NumberAt(status, "/now_s").value_or(0.0);
  double jobs = 0.0, gpus = 0.0, oldest = 0.0;
  for (const Json& job : ListAt(status, "queue")) {
    jobs += 1.0;
    gpus += NumberAt(job, "/gpus").value_or(0.0);
    oldest = std::max(oldest, now - NumberAt(job, "/submitted_s").value_or(now));
  }
  out.One("berth_queue_jobs", "gauge", "Jobs that wait.", jobs);
  out.One("berth_queue_gpus", "gauge", "GPUs that waiting jobs ask for.", gpus);
  out.One("berth_queue_longest_wait_seconds", "gauge", "Since the submission of the job that waits longest.",
          oldest);
  out.One("berth_running_jobs", "gauge", "Jobs that run.",
          static_cast<double>(ListAt(status, "running").size()));
}

void PutCycles(const Json& status, Exposition& out) {
  out.One("berth_cycles_total", "counter", "Cycles of the controller.", NumberAt(status, "/cycle/count"));
  out.Head("berth_cycle_seconds", "gauge",
           "A whole cycle: the last one, the median and the 99th percentile.");
  for (const char* which : {"last", "median", "p99"}) {
    const auto value = NumberAt(status, std::string("/cycle/") + which + "_s");
    if (value) out.Sample("berth_cycle_seconds", LabelOf("statistic", which), *value);
  }
  out.Head("berth_cycle_part_seconds", "gauge",
           "Parts of the last cycle: reading Slurm, deciding, carrying it out.");
  for (const char* part : {"read", "decide", "act"}) {
    const auto value = NumberAt(status, std::string("/cycle/") + part + "_s");
    if (value) out.Sample("berth_cycle_part_seconds", LabelOf("part", part), *value);
  }
  out.One("berth_release_to_start_seconds", "gauge", "From a release to the job's start, the median.",
          NumberAt(status, "/cycle/release_to_start_s"));
  const auto counts = status.find("counts");
  if (counts == status.end() || !counts->is_object()) return;
  out.Head("berth_actions_total", "counter",
           "What the controller did, by kind; refused and errors among them.");
  for (const auto& [kind, count] : counts->items()) {
    if (count.is_number()) out.Sample("berth_actions_total", LabelOf("kind", kind), count.get<double>());
  }
}

}  // namespace

std::string OperatorMetrics(const Json& status, double age_s, const std::string& problem,
                            const std::string& labels) {
  Exposition out;
  out.Head("berth_build_info", "gauge", "What answers; always 1.");
  out.Sample("berth_build_info", labels, 1.0);
  out.One("berth_controller_healthy", "gauge", "Whether /healthz says ok.", problem.empty() ? 1.0 : 0.0);
  if (!status.is_object()) return out.Text();  // before the first cycle
  out.One("berth_controller_age_seconds", "gauge", "Since the controller last reported.", age_s);
  out.Head("berth_controller_mode", "gauge", "1 for the mode that the controller is in.");
  for (const char* mode : kControllerModes) {
    out.Sample("berth_controller_mode", LabelOf("mode", mode), TextAt(status, "mode") == mode ? 1.0 : 0.0);
  }
  const Json::json_pointer fresh("/watchdog/fresh");
  if (status.contains(fresh) && status[fresh].is_boolean()) {
    out.One("berth_watchdog_fresh", "gauge", "Whether the heartbeat that the watchdog reads is fresh.",
            status[fresh].get<bool>() ? 1.0 : 0.0);
  }
  PutCycles(status, out);
  PutJobs(status, out);
  PutNodes(status, out);
  return out.Text();
}

}  // namespace berth
