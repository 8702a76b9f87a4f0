#include "tools/reproduce/gavel_mechanism.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <tuple>

#include "baselines/gavel/round_mechanism.hpp"
#include "data/workloads.hpp"
#include "env/sim/simulator.hpp"
#include "tools/json.hpp"
#include "tools/reproduce/page.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;

// The trace and cluster of one recorded run, clock reference_rounds. Types stand in alphabetical order: the
// order in which the reference numbers its workers.
Scenario ReadScenarioOf(const Json& run, const fs::path& folder) {
  ScenarioSettings settings;
  std::vector<std::string> names;
  for (const auto& [name, count] : run.at("cluster_spec").items()) names.push_back(name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    GpuType type;
    type.name = name;
    type.count = run.at("cluster_spec").at(name);
    const Json& per_server = run.at("gpus_per_server");
    type.gpus_per_node = per_server.is_object() ? per_server.at(name).get<int>() : 1;
    settings.cluster.types.push_back(type);
  }
  settings.clock = {ClockKind::kReferenceRounds, run.at("round_s").get<double>()};
  const Scenario trace =
      FindFormat("gavel").read((folder / run.at("trace").get<std::string>()).string(), settings);
  ScenarioData data = trace.data();
  data.seed = run.at("seed");
  return Scenario(std::move(data));
}

class Replayer : public gavel::AllocationSource {
 public:
  Replayer(const Json& run, const Scenario& scenario, const std::string& name)
      : run_(run), scenario_(scenario), simulator_(scenario) {
    replay_.run = name;
    for (const GpuType& type : scenario.data().cluster.types) types_.push_back(type.name);
  }

  // The k-th recorded allocation at the k-th reset.
  void Allocate(const ClusterView& view, std::span<const int> jobs, gavel::Allocation& x) override {
    const Json& resets = run_.at("resets");
    if (static_cast<std::size_t>(replay_.resets) >= resets.size()) return Differ("more resets than recorded");
    const Json& reset = resets[static_cast<std::size_t>(replay_.resets++)];
    Seconds(view.now() - reset.at("t").get<double>(), "time of a reset");
    if (reset.at("allocation").size() != jobs.size()) return Differ("jobs at a reset");
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Json& row = reset.at("allocation").at(std::to_string(jobs[i]));
      for (std::size_t j = 0; j < types_.size(); ++j) x[i * types_.size() + j] = row.at(types_[j]);
    }
  }

  MechanismReplay Run() {
    gavel::MechanismOptions options;
    const std::string policy = run_.at("policy_name");
    options.shuffle_types =
        policy.find("Perf") == std::string::npos && policy.find("Packing") == std::string::npos;
    options.only_positive = policy.rfind("FIFO", 0) == 0;
    mechanism_.Reset(simulator_.View(Knowledge::kBlind), options);
    const Json& rounds = run_.at("rounds");
    Decision decision;
    while (simulator_.AdvanceToDecision()) {
      const auto k = static_cast<std::size_t>(replay_.rounds++);
      if (k >= rounds.size()) {
        Differ("more rounds than recorded");
        return replay_;
      }
      Seconds(simulator_.now() - rounds[k].at("t").get<double>(), "time of a round");
      decision.Clear();
      mechanism_.Decide(simulator_.View(Knowledge::kBlind), *this, decision);
      if (!simulator_.Apply(decision).ok()) Differ("the simulator refuses the decision");
      if (const std::string broken = CheckInvariants(simulator_); !broken.empty()) Differ(broken);
      CompareRound(rounds[k]);
      if (!replay_.held()) return replay_;  // what follows differs because of it
    }
    CompareEnd(rounds);
    return replay_;
  }

 private:
  // [(job, type, devices)] sorted.
  using Placement = std::vector<std::tuple<int, std::string, std::vector<int>>>;

  void Differ(const std::string& what) {
    if (replay_.first.empty()) replay_.first = Join("round ", replay_.rounds - 1, ": ", what);
  }
  void Seconds(double difference, const char* what) {
    replay_.seconds = std::max(replay_.seconds, std::abs(difference));
    if (!(std::abs(difference) <= kMechanismSeconds)) Differ(what);
  }

  static Placement Recorded(const Json& round) {
    Placement result;
    for (const Json& row : round.at("assignments")) {
      auto devices = row.at(2).get<std::vector<int>>();
      std::sort(devices.begin(), devices.end());
      result.emplace_back(std::stoi(row.at(0).get<std::string>()), row.at(1).get<std::string>(), devices);
    }
    std::sort(result.begin(), result.end());
    return result;
  }
  Placement Present() const {
    Placement result;
    const ClusterView view = simulator_.View(Knowledge::kNone);
    for (int job : view.running()) {
      std::vector<int> devices(view.Devices(job).begin(), view.Devices(job).end());
      std::sort(devices.begin(), devices.end());
      result.emplace_back(job, types_[static_cast<std::size_t>(view.TypeOf(job))], devices);
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  void CompareRound(const Json& round) {
    Seconds(mechanism_.last_reset() - round.at("last_reset_time").get<double>(), "time of the last reset");
    std::vector<std::string> order;
    for (int type : mechanism_.type_order()) order.push_back(types_[static_cast<std::size_t>(type)]);
    const bool same_order = order == round.at("worker_type_order").get<std::vector<std::string>>();
    const bool same_placement = Present() == Recorded(round);
    if (!same_order || !same_placement) {
      ++replay_.differing;
      Differ(same_order ? "placement" : "order of types");
    }
    for (std::size_t j = 0; j < types_.size(); ++j) {
      const int type = static_cast<int>(j);
      for (const auto& [name, value] : round.at("priorities").at(types_[j]).items()) {
        const int job = std::stoi(name);
        if (job < 0 || job >= scenario_.num_jobs()) throw std::out_of_range(Join("priorities of job ", job));
        const double expected = value.get<double>(), found = mechanism_.Priority(job, type);
        const double off = std::abs(found - expected) / std::max(std::abs(expected), 1e-6);
        replay_.priority = std::max(replay_.priority, off);
        if (!(off <= kMechanismPriority)) Differ(Join("priority of job ", job, " on ", types_[j]));
        const double due = round.at("deficits").at(types_[j]).value(name, 0.0);
        const double apart = std::abs(mechanism_.Deficit(job, type) - due) / std::max(1.0, std::abs(due));
        replay_.deficit = std::max(replay_.deficit, apart);
        if (!(apart <= kMechanismPriority)) Differ(Join("deficit of job ", job, " on ", types_[j]));
      }
    }
  }

  // The reference looks once more after the last completion, at an empty cluster; we stop.
  void CompareEnd(const Json& rounds) {
    const auto k = static_cast<std::size_t>(replay_.rounds);
    if (k + 1 != rounds.size() || !Recorded(rounds[k]).empty()) Differ("number of rounds");
    Seconds(simulator_.now() - run_.at("makespan_s").get<double>(), "makespan");
    int empty = 0;
    for (const Json& reset : run_.at("resets")) empty += reset.at("allocation").empty() ? 1 : 0;
    if (static_cast<std::size_t>(replay_.resets + empty) != run_.at("resets").size())
      Differ("number of resets");
    if (!simulator_.finished()) Differ("jobs are left");
    for (int job = 0; job < scenario_.num_jobs(); ++job) {
      const auto u = static_cast<std::size_t>(job);
      const double jct = simulator_.state().completion[u] - scenario_.data().jobs.arrival[u];
      Seconds(jct - run_.at("completion_time_s").at(std::to_string(job)).get<double>(), "completion time");
    }
  }

  const Json& run_;
  const Scenario& scenario_;
  Simulator simulator_;
  gavel::RoundMechanism mechanism_;
  std::vector<std::string> types_;
  MechanismReplay replay_;
};

}  // namespace

std::vector<MechanismReplay> ReplayMechanism(const std::string& folder) {
  std::error_code code;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (files.empty()) throw Error(Join(folder, ": expected a folder of recorded runs (*.json), found none"));
  std::sort(files.begin(), files.end());
  std::vector<MechanismReplay> replays;
  for (const fs::path& path : files) {
    try {
      const Json run = ReadJson(path.string());
      const Scenario scenario = ReadScenarioOf(run, folder);
      replays.push_back(Replayer(run, scenario, path.stem().string()).Run());
    } catch (const Json::exception& error) {
      throw Error(Join(path.string(), ": expected the format of mechanism/public, found ", error.what()));
    } catch (const std::logic_error& error) {
      throw Error(Join(path.string(), ": expected the format of mechanism/public, found ", error.what()));
    }
  }
  return replays;
}

int CheckGavelMechanism(const std::string& folder) {
  Table table({"run", "rounds", "resets", "other placements", "priority", "deficit", "s", "held"});
  bool held = true;
  const std::vector<MechanismReplay> replays = ReplayMechanism(folder);
  for (const MechanismReplay& replay : replays) {
    table.AddRow({replay.run, std::to_string(replay.rounds), std::to_string(replay.resets),
                  std::to_string(replay.differing), Scientific(replay.priority), Scientific(replay.deficit),
                  Scientific(replay.seconds), replay.held() ? "yes" : "NO: " + replay.first});
    held = held && replay.held();
  }
  std::cout << table.ToString() << "\n"
            << replays.size() << " runs; held: placements exactly, priorities and deficits to "
            << Scientific(kMechanismPriority) << ", times to " << Scientific(kMechanismSeconds) << " s\n";
  return held ? 0 : 1;
}

}  // namespace berth
