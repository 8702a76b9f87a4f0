// A controller beside a Slurm of files (fake_slurm.hpp), with a clock that the test sets.
#pragma once

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "baselines/schedulers.hpp"
#include "policies/schedulers.hpp"
#include "tests/fake_slurm.hpp"
#include "tools/controller/controller.hpp"
#include "tools/results.hpp"

namespace berth::test {

using Calls = std::vector<std::string>;

// A fake Slurm with nodes v1, v2 (4 v100) and p1 (4 p100), and a controller beside it, which may be started again.
struct Beside {
  FakeSlurm slurm;
  double now = FakeSlurm::kNow;
  ControllerOptions options;
  SiteFile site = ReadSiteFile("");
  StatusBoard board{true};
  std::unique_ptr<Controller> controller;

  explicit Beside(ControlMode mode = ControlMode::kControl, const std::string& scheduler = "fcfs") {
    for (const char* name : {"v1", "v2"}) slurm.AddNode(name, "v100", 4);
    slurm.AddNode("p1", "p100", 4);
    options.scheduler = scheduler, options.mode = mode, options.partitions = {"gpu"};
    options.preemptive = scheduler == "srpt";
    options.out = slurm / "out", options.command_s = 20.0;
    options.now = [this] { return now; };
  }
  void Restart() { controller = std::make_unique<Controller>(options, site, MakeScheduler(options.scheduler, AllSchedulers()), board); }
  // Looks `times` times, `apart` seconds after one another.
  void Look(int times = 1, double apart = 1.0) {
    if (!controller) Restart();
    for (int i = 0; i < times; ++i) {
      now += apart;
      slurm.Set("now", now);
      controller->Cycle();
    }
  }
  Json Status() const { return board.Read(); }
  std::string State(int id) const { return slurm.Job(id)["job_state"].get<std::string>(); }
  std::string Nodes(int id) const { return slurm.Job(id)["nodes"].get<std::string>(); }
  std::vector<Json> Log(const std::string& kind) const {
    std::vector<Json> lines;
    std::ifstream file(options.out + "/decisions.jsonl");
    for (std::string line; std::getline(file, line);) {
      Json json = Json::parse(line);
      if (json["kind"] == kind) lines.push_back(std::move(json));
    }
    return lines;
  }
};

inline int CountStarts(const Calls& calls, const std::string& word) {
  return static_cast<int>(std::count_if(calls.begin(), calls.end(), [&](const std::string& call) { return call.starts_with(word); }));
}

}  // namespace berth::test
