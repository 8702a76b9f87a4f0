// Lines of decisions.jsonl, which berth serve --slurm writes; a log as a scenario, and its starts as the scheduler `recorded` has them.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "data/decisions/decisions.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/scheduler.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/results.hpp"

namespace berth::test {

// Nodes p1 (devices 0 to 3), v1 (4 to 7), v2 (8 to 11); the class does 0.5 steps/s on a p100 and 2 on a v100.
inline const std::string kBegin =
    R"({"at":1000,"kind":"begin","scheduler":"srpt","types":[{"name":"p100","gpus":4,"gpus_per_node":4,"nodes":["p1"]},)"
    R"({"name":"v100","gpus":8,"gpus_per_node":4,"nodes":["v1","v2"]}],"classes":[{"name":"job","steps_per_s":{"p100":0.5,"v100":2}}]})"
    "\n";

inline std::string JobLine(const std::string& id, double submitted, int gpus, const std::string& more = "") {
  return Join(R"({"at":)", submitted, R"(,"kind":"job","id":")", id, R"(","user":"ann","gpus":)", gpus, R"(,"class":"job","submitted":)",
              submitted, more, "}\n");
}

inline std::string StartLine(const std::string& id, double at, double since, const std::string& devices) {
  return Join(R"({"at":)", at, R"(,"kind":"start","id":")", id, R"(","devices":[)", devices, R"(],"since":)", since, "}\n");
}

inline std::string EndLine(const std::string& id, double at, const char* kind = "end") {
  return Join(R"({"at":)", at, R"(,"kind":")", kind, R"(","id":")", id, R"(","state":"COMPLETED"})", "\n");
}

inline std::string NodeLine(const std::string& name, double at, bool in_service, const std::string& state = "down") {
  return Join(R"({"at":)", at, R"(,"kind":"node","name":")", name, R"(","in_service":)", in_service ? "true" : "false",
              R"(,"state":")", state, "\"}\n");
}

inline Scenario ReadLog(const TemporaryFolder& folder, const std::string& text) {
  std::ofstream(folder / "decisions.jsonl") << text;
  return FindFormat("decisions").read(folder / "decisions.jsonl", {});
}

// (id, seconds) of all starts, by the scheduler `recorded`.
inline std::vector<std::pair<std::int64_t, double>> Replayed(const TemporaryFolder& folder, const Scenario& scenario) {
  std::ofstream(folder / "starts.csv") << StartsCsv(ReadDecisionStarts(folder / "decisions.jsonl"));
  const std::string spec = "recorded(file=" + (folder / "starts.csv") + ")";
  RunOptions options;
  options.keep_events = true;
  std::vector<std::pair<std::int64_t, double>> starts;
  for (const Event& event : Run(scenario, *MakeScheduler(spec, AllSchedulers()), spec, options).events) {
    if (event.kind == EventKind::kStart) starts.emplace_back(scenario.data().jobs.id[static_cast<std::size_t>(event.job)], event.time);
  }
  return starts;
}

// As the log has them.
inline std::vector<std::pair<std::int64_t, double>> Logged(const TemporaryFolder& folder) {
  std::vector<std::pair<std::int64_t, double>> starts;
  for (const RecordedStart& start : ReadDecisionStarts(folder / "decisions.jsonl")) {
    if (!start.devices.empty()) starts.emplace_back(start.job, start.time_s);
  }
  return starts;
}

}  // namespace berth::test
