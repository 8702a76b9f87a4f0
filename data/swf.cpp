// The Standard Workload Format (Feitelson's Parallel Workloads Archive): 18 blank-separated fields a job,
// header comments behind ';', -1 for what is not known. Loaded as RLScheduler loads it (class Workloads
// in its job.py), so that its published tables can be rerun:
//   processors  the larger of fields 5 (allocated) and 8 (requested), rounded up to whole nodes
//               where all are alike;
//   run time    field 4; a negative one counts as 10 s; jobs of none are left out and
//               counted in the provenance;
//   request     field 9; the run time where it is not stated;
//   order       by job number; where that is not the order of submission, then by submission.
// Field 2 counts from any moment; F1 to F4 of its tables read it as it is (settings' origin_s = 0).
// The cluster is the header's MaxProcs processors on MaxNodes nodes, unless one is given.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "data/gpu_types.hpp"
#include "data/rigid_trace.hpp"
#include "data/text_file.hpp"
#include "data/workload_list.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"

namespace berth {
namespace {

constexpr std::size_t kFields = 18;
constexpr const char* kNames[kFields] = {"job number",
                                         "submit time",
                                         "wait time",
                                         "run time",
                                         "allocated processors",
                                         "average CPU time",
                                         "used memory",
                                         "requested processors",
                                         "requested time",
                                         "requested memory",
                                         "status",
                                         "user",
                                         "group",
                                         "executable",
                                         "queue",
                                         "partition",
                                         "preceding job",
                                         "think time"};
constexpr double kUnknownRunTime = 10.0;  // s, RLScheduler's

struct Header {
  int nodes = 0, procs = 0;  // 0 = not stated
};

// "; MaxNodes: 128" and what may follow the number.
void ReadComment(const std::string& line, const std::string& where, Header& header) {
  for (const auto& [key, value] :
       {std::pair{"MaxNodes", &header.nodes}, std::pair{"MaxProcs", &header.procs}}) {
    const std::string label = Join(key, ":");
    const std::size_t word = line.find_first_not_of("; \t");
    if (word == std::string::npos || line.compare(word, label.size(), label) != 0) continue;
    const std::size_t begin = line.find_first_not_of(" \t", word + label.size());
    const std::string number =
        begin == std::string::npos ? "" : line.substr(begin, line.find_first_of(" \t", begin) - begin);
    const long long count = ParseInteger(number, Join(where, ": ", key));
    if (count > 10000000) throw Error(Join(where, ": ", key, ": expected at most 10000000, found ", count));
    *value = static_cast<int>(std::max(count, 0LL));  // -1: not known
  }
}

std::array<double, kFields> ReadFields(const std::string& line, const std::string& where) {
  std::array<double, kFields> fields{};
  std::size_t count = 0;
  for (std::size_t at = line.find_first_not_of(" \t"); at != std::string::npos; ++count) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    if (count < kFields) {
      fields[count] = ParseNumber(std::string_view(line).substr(at, end - at),
                                  Join(where, ": field ", count + 1, " (", kNames[count], ")"));
    }
    at = line.find_first_not_of(" \t", end);
  }
  if (count != kFields) throw Error(Join(where, ": expected ", kFields, " fields, found ", count));
  return fields;
}

int Whole(double value, std::size_t field, const std::string& where) {
  if (value != static_cast<double>(static_cast<std::int32_t>(std::clamp(value, -2e9, 2e9)))) {
    throw Error(
        Join(where, ": field ", field, " (", kNames[field - 1], "): expected a whole number, found ", value));
  }
  return static_cast<int>(value);
}

ClusterSpec ClusterOfHeader(const Header& header, const std::string& path) {
  const int procs = header.procs > 0 ? header.procs : header.nodes;
  if (procs == 0) {
    throw Error(Join(
        path, ": expected '; MaxProcs: N' or '; MaxNodes: N' in the header, found neither: give --cluster"));
  }
  for (const GpuType& type : ShippedGpuTypes()) {
    if (type.name != "cpu") continue;
    ClusterSpec cluster{{type}};
    cluster.types[0].count = procs;
    const bool whole = header.nodes > 0 && procs % header.nodes == 0;  // otherwise nodes of several sizes
    cluster.types[0].gpus_per_node = whole ? procs / header.nodes : 1;
    return cluster;
  }
  throw Error("no type 'cpu' is shipped");
}

Scenario ReadSwf(const std::string& path, const ScenarioSettings& settings) {
  TextFile file(path);
  Header header;
  std::vector<RigidJob> jobs;
  std::string line;
  int no_second = 0;
  while (file.Next(line)) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    if (line[first] == ';') {
      ReadComment(line, file.Where(), header);
      continue;
    }
    const std::array<double, kFields> f = ReadFields(line, file.Where());
    if (f[3] == 0.0) {
      ++no_second;
      continue;
    }
    RigidJob job;
    job.id = Whole(f[0], 1, file.Where());
    job.submit = f[1];
    job.seconds = f[3] < 0.0 ? kUnknownRunTime : f[3];
    job.gang = std::max(Whole(f[4], 5, file.Where()), Whole(f[7], 8, file.Where()));
    if (job.gang < 1) {
      throw Error(Join(file.Where(), ": expected processors in field 5 or 8, found ", f[4], " and ", f[7]));
    }
    job.requested = f[8] > 0.0 ? f[8] : job.seconds;
    job.line = file.number();
    jobs.push_back(job);
  }
  const ClusterSpec cluster =
      settings.cluster.types.empty() ? ClusterOfHeader(header, path) : settings.cluster;
  const GpuType& type = cluster.types.front();
  const bool alike = cluster.types.size() == 1 && type.count % type.gpus_per_node == 0;
  const int per_node = alike ? type.gpus_per_node : 1;
  for (RigidJob& job : jobs) job.gang = (job.gang + per_node - 1) / per_node * per_node;
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const RigidJob& a, const RigidJob& b) { return a.id < b.id; });
  return RigidScenario(
      path, settings, cluster, std::move(jobs), {},
      no_second > 0 ? Join(" (left out: ", Counted(no_second, "job"), " that ran no second)") : "");
}

}  // namespace

FormatInfo SwfFormatInfo() {
  return {"swf",
          "Standard Workload Format, plain or gzip; the cluster is the header's unless given",
          "Parallel Workloads Archive, Feitelson et al. 2014; loading rules of RLScheduler, Zhang et al., SC "
          "2020",
          {ClockKind::kEvent, 360.0},
          ReadSwf};
}

}  // namespace berth
