// Files of Berth with datasets and attributes changed (h5_content.hpp). The input is which file, and changes.
#include <cmath>
#include <iostream>
#include <vector>

#include "agents/search/cma_es.hpp"
#include "agents/search/search.hpp"
#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/gym/encoder.hpp"
#include "policies/inference.hpp"
#include "tests/fuzz/h5_content.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/policies_support.hpp"
#include "tools/verbs.hpp"

namespace berth::fuzz {
namespace {

// Every optional column, pairs, two tenants.
Scenario EveryColumn() {
  ScenarioData data;
  data.name = "every column";
  data.cluster = ParseCluster("a100=8/4,h100=2");
  data.throughputs = {{"one", "b"}, {1, 2, 4}, {1, 2, 1, 2, 1.1, 2, 1, 2, 1, 2, 1, 2}, {}, {}};
  data.throughputs.unconsolidated = data.throughputs.alone;
  data.throughputs.pairs = {0.5, 0.5, 0.6, 0.6, 0.3, 0.4, 0.1, 0.2, 0.4, 0.3, 0.2, 0.1, 0.7, 0.7, 0.8, 0.8};
  data.believed.alone = data.throughputs.alone, data.believed.pairs = data.throughputs.pairs;
  data.jobs.id = {5, 3, 4};
  data.jobs.arrival = {1.0, 100, 200};
  data.jobs.job_type = {0, 1, 0}, data.jobs.gang = {1, 4, 2};
  data.jobs.gang_min = {1, 2, 2}, data.jobs.gang_max = {1, 4, 4};
  data.jobs.total_steps = {1e-3, 1e9, 0.5};
  data.jobs.weight = {1, 1, 1}, data.jobs.deadline = {kNever, 250, kNever};
  data.jobs.requested_s = {std::nan(""), 3600, 60}, data.jobs.tenant = {1, 0, 1};
  data.jobs.allowed = {~std::uint64_t{0}, 1, 3}, data.jobs.gpu_milli = {250, 1000, 1000}, data.jobs.qos = {1, 0, 2};
  data.jobs.batch_size = {0, 64, 0};
  data.jobs.demand = {4, 16.5, 1, 0, 2, 8};
  data.traits.checkpoint_gb = {1, 2}, data.traits.gradient_gb = {0.1, 0.2}, data.traits.memory_gb = {10, 0};
  data.traits.utilization = {0.5, 1}, data.traits.bandwidth = {0, 0.5}, data.traits.traffic_gb = {0.3, 0};
  data.tenants = {{"ann", 2.5, "fairness"}, {"bob", 1, "fifo"}};
  data.knowledge = Knowledge::kEstimate, data.estimate_sigma = 0.3, data.seed = 9;
  return Scenario(std::move(data));
}

Scenario WithEveryFeature() {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=8/4,p100=4/2");
  settings.features = ParseFeatures("topology;elasticity;checkpoints(gb=5);failures;power(cap_w=9000);stages(depends=0.3);monitoring");
  return MakeWorkload("synthetic(rate=6,jobs=8,slo=true)", settings)->Make(1, Split::kEvaluate, 0, 0);
}

search::CmaEs Optimiser() {
  return search::CmaEs({{1.0, 2.0}, {0.5, 0.5}}, 3);
}

search::Costs SomeCosts(const std::vector<std::vector<double>>& points, int) {
  search::Costs costs;
  costs.reference = {1.0};
  for (const std::vector<double>& point : points) costs.of.push_back({1.0 + point[0] * point[0] + point[1] * point[1]});
  return costs;
}

void Search(const std::string& path, int generations, bool resume) {
  search::CmaEs optimiser = Optimiser();
  search::Settings settings;
  settings.budget.generations = generations;
  settings.file = path;
  settings.definition = "a search";
  settings.resume = resume;
  Run(optimiser, {1.0, 2.0}, SomeCosts, settings);
}

std::vector<Content> MakeFiles() {
  std::vector<Content> files;
  const std::string path = Path("seed.h5");
  for (const Scenario& scenario : {EveryColumn(), WithEveryFeature()}) {
    WriteScenario(scenario, path);
    files.push_back(ContentOf(path));
  }
  PolicyBundle bundle = test::RandomBundle("pair_scorer(width=4)", EncoderOf("ObservationV1").Layout(3, 2), 3 * 2 + 1, 12);
  bundle.gpu_types = {"a", "b"};
  SaveBundle(bundle, path);
  files.push_back(ContentOf(path));
  Search(path, 3, false);
  files.push_back(ContentOf(path));
  RunResult result;
  result.events = {{0.0, EventKind::kArrive, -1, 0, -1}, {1.0, EventKind::kStart, 0, 0, 0}, {9.0, EventKind::kComplete, 0, 0, 0}};
  WriteEvents(result, EveryColumn(), "fcfs", "", path);
  files.push_back(ContentOf(path));
  return files;
}

// `inspect` costs as much as all else together.
void ReadBack(const std::string& kind, const std::string& path, bool inspected) {
  if (kind == "scenario") {
    Accepted([&] {
      const Scenario scenario = ReadScenario(path);
      const std::string again = Path("again.h5");
      WriteScenario(scenario, again);
      if (ReadScenario(again).Hash() != scenario.Hash()) Fail("a scenario is another one once it is written and read");
    });
  } else if (kind == "policy") {
    Accepted([&] { Freeze(LoadBundle(path)); });
  } else if (kind == "search") {
    Accepted([&] { Search(path, 4, true); });
  }
  if (inspected || kind == "events") Accepted([&] { RunInspect({path}); });
}

}  // namespace

bool Run_hdf5(Bytes bytes) {
  static const std::vector<Content> files = MakeFiles();
  static const std::string path = Path("changed.h5");
  Input in(bytes);
  Content content = files[static_cast<std::size_t>(in.Below(static_cast<int>(files.size())))];
  const std::string kind = content.kind;
  for (int changes = 0; changes < 8 && !in.empty(); ++changes) Change(content, in);
  Write(content, path);
  std::streambuf* const shown = std::cout.rdbuf(nullptr);  // of `inspect`
  try {
    ReadBack(kind, path, bytes.size() % 4 == 1);
  } catch (...) {
    std::cout.rdbuf(shown);
    throw;
  }
  std::cout.rdbuf(shown);
  std::cout.clear();
  return true;
}

}  // namespace berth::fuzz
