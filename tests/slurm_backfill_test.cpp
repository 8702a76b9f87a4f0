// sched/backfill held against what a real Slurm did, pass by pass: slurm/backfill_passes.txt.
#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "baselines/slurm/backfill.hpp"
#include "env/base/index.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using Starts = std::vector<std::pair<int, std::vector<std::string>>>;  // jobs, and the nodes of each by name

struct RecordedPass {
  double now = 0.0;
  std::vector<SlurmRunning> running;
  std::vector<std::array<int, 3>> waiting;  // job, GPUs, limit in seconds
  Starts starts;
};

// In the order of their names, as Slurm and its table have them.
const std::vector<std::string> kSlurmNodes = {"k1", "k2", "k3", "p1", "p2", "p3", "v1", "v2", "v3"};

std::vector<RecordedPass> RecordedPasses() {
  std::ifstream file(BERTH_SOURCE_DIR "/tests/slurm/backfill_passes.txt");
  std::vector<RecordedPass> passes;
  for (std::string line, word; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    words >> word;
    if (word == "pass") {
      words >> passes.emplace_back().now;
    } else if (word == "runs") {
      SlurmRunning& running = passes.back().running.emplace_back();
      words >> running.end;
      while (words >> word) {
        const auto node = std::find(kSlurmNodes.begin(), kSlurmNodes.end(), word.substr(0, 2));
        running.takes.push_back({static_cast<int>(node - kSlurmNodes.begin()), std::stoi(word.substr(3))});
      }
    } else if (word == "waits") {
      auto& [job, gpus, limit] = passes.back().waiting.emplace_back();
      words >> job >> gpus >> limit;
    } else {
      auto& [job, nodes] = passes.back().starts.emplace_back();
      words >> job;
      while (words >> word) nodes.push_back(word);
    }
  }
  return passes;
}

// The jobs that wait, on three nodes of 4 GPUs of each type.
Scenario WaitingOf(const RecordedPass& pass) {
  ScenarioData data;
  data.name = "pass";
  for (const char* name : {"v100", "p100", "k80"}) {
    GpuType type;
    type.name = name, type.count = 12, type.gpus_per_node = 4;
    data.cluster.types.push_back(type);
  }
  data.throughputs.job_types = {"job"};
  data.throughputs.gang_sizes = {1, 2, 4, 8};
  data.throughputs.alone.assign(12, 1.0);
  for (const auto& [job, gpus, limit] : pass.waiting) {
    data.jobs.id.push_back(job), data.jobs.arrival.push_back(pass.now), data.jobs.job_type.push_back(0);
    data.jobs.gang.push_back(gpus), data.jobs.total_steps.push_back(limit);
  }
  return Scenario(std::move(data));
}

}  // namespace

TEST_CASE("slurm: backfill starts what a real Slurm's did, on the same nodes") {
  const test::TemporaryFolder folder;
  {
    std::ofstream conf(folder / "slurm.conf");
    const std::map<char, std::pair<const char*, int>> kinds = {{'v', {"v100", 1}}, {'p', {"p100", 2}}, {'k', {"k80", 3}}};
    for (const std::string& node : kSlurmNodes)
      conf << "NodeName=" << node << " Gres=gpu:" << kinds.at(node[0]).first << ":4 Weight=" << kinds.at(node[0]).second << "\n";
    conf << "SchedulerParameters=bf_resolution=1,bf_max_job_test=1000\nPartitionName=gpu Nodes=ALL Default=YES\n";
  }
  SlurmSettings settings = ReadSlurmSettings(folder / "slurm.conf");
  settings.spread = true;
  const std::vector<RecordedPass> passes = RecordedPasses();
  REQUIRE(passes.size() == 49);
  for (const RecordedPass& pass : passes) {
    Simulator sim(WaitingOf(pass));
    REQUIRE(sim.AdvanceToDecision());
    const ClusterView view = sim.View(Knowledge::kEstimate);
    SlurmNodeTable nodes;
    nodes.Reset(view, settings);
    nodes.Observe(view);
    std::vector<int> free = nodes.free();
    for (const SlurmRunning& running : pass.running) {
      for (const SlurmTake& take : running.takes) free[U(take.node)] -= take.gpus;
    }
    std::vector<SlurmPending> queue;
    for (std::size_t job = 0; job < pass.waiting.size(); ++job)
      queue.push_back({static_cast<int>(job), 0, 0, static_cast<double>(pass.waiting[job][2]), true});
    Starts starts;
    SlurmBackfill(settings).Pass(view, nodes, queue, pass.running, free, [&](const SlurmPending& pending, const std::vector<SlurmTake>& takes) {
      auto& [job, names] = starts.emplace_back();
      job = pass.waiting[U(pending.job)][0];
      for (const SlurmTake& take : takes) free[U(take.node)] -= take.gpus, names.push_back(kSlurmNodes[U(take.node)]);
      std::sort(names.begin(), names.end());
    });
    INFO("the pass of second " << pass.now);
    CHECK(starts == pass.starts);
  }
}

}  // namespace berth
