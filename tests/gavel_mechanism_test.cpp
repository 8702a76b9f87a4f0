// The round mechanism against the reference simulator's own rounds (../shared/gavel/mechanism): the recorded
// allocations are fed in, and every placement, priority, deficit and time must come out.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "baselines/gavel/python_random.hpp"
#include "baselines/gavel/round_mechanism.hpp"
#include "env/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"

namespace berth::gavel {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const fs::path kShared = BERTH_SOURCE_DIR "/../shared/gavel";
const std::vector<std::string> kTypes = {"k80", "p100", "v100"};

json Load(const fs::path& path) {
  std::ifstream file(path);
  return json::parse(file);
}

// The trace and cluster of one recorded run, clock reference_rounds.
Scenario MakeScenario(const json& run, const json& rates) {
  ScenarioData data;
  for (const std::string& name : kTypes) {
    GpuType type;
    type.name = name;
    type.count = run["cluster_spec"][name];
    type.gpus_per_node = run["gpus_per_server"].is_object() ? run["gpus_per_server"].value(name, 1) : 1;
    data.cluster.types.push_back(type);
  }
  data.throughputs.gang_sizes = {1, 2, 4};
  std::map<std::string, int> index;
  std::ifstream trace(kShared / "mechanism/public" / run["trace"].get<std::string>());
  for (std::string line; std::getline(trace, line);) {
    std::istringstream columns(line);
    std::vector<std::string> field;
    for (std::string text; std::getline(columns, text, '\t');) field.push_back(text);
    REQUIRE(field.size() == 10);
    const auto [at, fresh] = index.try_emplace(field[0], static_cast<int>(index.size()));
    if (fresh) {
      data.throughputs.job_types.push_back(field[0]);
      for (const int gang : data.throughputs.gang_sizes) {
        const std::string key = "('" + field[0] + "', " + std::to_string(gang) + ")";
        for (const std::string& type : kTypes) {
          const json& table = rates[type];
          data.throughputs.alone.push_back(table.contains(key) ? table[key]["null"].get<double>() : 0.0);
        }
      }
    }
    data.jobs.id.push_back(static_cast<std::int64_t>(data.jobs.id.size()));
    data.jobs.job_type.push_back(at->second);
    data.jobs.total_steps.push_back(std::stod(field[5]));
    data.jobs.gang.push_back(std::stoi(field[6]));
    data.jobs.weight.push_back(std::stod(field[7]));
    data.jobs.arrival.push_back(std::stod(field[9]));
  }
  data.clock = {ClockKind::kReferenceRounds, run["round_s"].get<double>()};
  data.seed = run["seed"];
  return Scenario(std::move(data));
}

// Gives the k-th recorded allocation at the k-th reset.
class Recording : public AllocationSource {
 public:
  explicit Recording(const json& resets) : resets_(resets) {}
  void Allocate(const ClusterView& view, std::span<const int> jobs, Allocation& x) override {
    REQUIRE(next_ < resets_.size());
    const json& reset = resets_[next_++];
    CHECK(view.now() == Approx(reset["t"].get<double>()).margin(1e-3));
    REQUIRE(reset["allocation"].size() == jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const json& row = reset["allocation"][std::to_string(jobs[i])];
      for (std::size_t j = 0; j < kTypes.size(); ++j) x[i * kTypes.size() + j] = row[kTypes[j]];
    }
  }
  std::size_t calls() const { return next_; }

 private:
  const json& resets_;
  std::size_t next_ = 0;
};

// [(job, type, devices)] sorted, of a recorded round or of the simulator after its decision.
using Placement = std::vector<std::tuple<int, int, std::vector<int>>>;

Placement Recorded(const json& round) {
  Placement result;
  for (const json& row : round["assignments"]) {
    const auto type = std::find(kTypes.begin(), kTypes.end(), row[1].get<std::string>()) - kTypes.begin();
    auto devices = row[2].get<std::vector<int>>();
    std::sort(devices.begin(), devices.end());
    result.emplace_back(std::stoi(row[0].get<std::string>()), static_cast<int>(type), devices);
  }
  std::sort(result.begin(), result.end());
  return result;
}

Placement Present(const Simulator& simulator) {
  Placement result;
  const ClusterView view = simulator.View(Knowledge::kNone);
  for (int job : view.running()) {
    std::vector<int> devices(view.Devices(job).begin(), view.Devices(job).end());
    std::sort(devices.begin(), devices.end());
    result.emplace_back(job, view.TypeOf(job), devices);
  }
  std::sort(result.begin(), result.end());
  return result;
}

void CheckTables(const json& round, const RoundMechanism& mechanism) {
  for (std::size_t j = 0; j < kTypes.size(); ++j) {
    const int type = static_cast<int>(j);
    for (const auto& [job, value] : round["priorities"][kTypes[j]].items()) {
      CHECK(mechanism.Priority(std::stoi(job), type) ==
            Approx(value.get<double>()).epsilon(1e-6).margin(1e-12));
      const double deficit = round["deficits"][kTypes[j]].value(job, 0.0);
      CHECK(mechanism.Deficit(std::stoi(job), type) == Approx(deficit).epsilon(1e-6).margin(1e-6));
    }
  }
}

void Replay(const json& run, const json& rates) {
  const Scenario scenario = MakeScenario(run, rates);
  Simulator simulator(scenario);
  Recording source(run["resets"]);
  MechanismOptions options;
  const std::string policy = run["policy_name"];
  options.shuffle_types = policy.find("Perf") == std::string::npos;
  options.only_positive = policy.rfind("FIFO", 0) == 0;
  RoundMechanism mechanism;
  mechanism.Reset(simulator.View(Knowledge::kBlind), options);

  Decision decision;
  std::size_t k = 0;
  for (; simulator.AdvanceToDecision(); ++k) {
    INFO("round " << k << " at " << simulator.now());
    REQUIRE(k < run["rounds"].size());
    const json& round = run["rounds"][k];
    REQUIRE(simulator.now() == Approx(round["t"].get<double>()).margin(1e-3).epsilon(0.0));
    decision.Clear();
    mechanism.Decide(simulator.View(Knowledge::kBlind), source, decision);
    REQUIRE(simulator.Apply(decision).ok());
    CHECK(CheckInvariants(simulator) == "");
    CHECK(mechanism.last_reset() == Approx(round["last_reset_time"].get<double>()).margin(1e-3));
    CheckTables(round, mechanism);
    std::vector<std::string> order;
    for (int type : mechanism.type_order()) order.push_back(kTypes[static_cast<std::size_t>(type)]);
    CHECK(order == round["worker_type_order"].get<std::vector<std::string>>());
    REQUIRE(Present(simulator) == Recorded(round));
  }
  // The reference looks once more after the last completion, at an empty cluster; we stop.
  REQUIRE(k + 1 == run["rounds"].size());
  CHECK(Recorded(run["rounds"][k]).empty());
  CHECK(simulator.now() == Approx(run["makespan_s"].get<double>()).margin(1e-3).epsilon(0.0));
  const auto empty = [](const json& reset) { return reset["allocation"].empty(); };
  const auto last = std::count_if(run["resets"].begin(), run["resets"].end(), empty);
  CHECK(source.calls() + static_cast<std::size_t>(last) == run["resets"].size());
  CHECK(simulator.finished());
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    const double jct = simulator.state().completion[static_cast<std::size_t>(job)] -
                       scenario.data().jobs.arrival[static_cast<std::size_t>(job)];
    CHECK(jct ==
          Approx(run["completion_time_s"][std::to_string(job)].get<double>()).margin(1e-3).epsilon(0.0));
  }
}

}  // namespace

TEST_CASE("gavel mechanism: the reference's recorded rounds, replayed", "[gavel][golden]") {
  const fs::path folder = kShared / "mechanism/public";
  if (!fs::exists(folder)) return test::Skip("needs ../shared/gavel/mechanism/public");
  const json rates = Load(kShared / "data/simulation_throughputs.json");
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 15);
  for (const fs::path& file : files) {
    DYNAMIC_SECTION(file.stem().string()) {
      Replay(Load(file), rates);
    }
  }
}

// From CPython 3.11: random.Random(5) gives these getrandbits(32), the 1000th past two refills; started anew,
// these five shuffles of [0, 1, 2]; random.Random(2**40 + 5), whose seed has two words, starts with
// 2166296868.
TEST_CASE("gavel mechanism: Python's generator", "[gavel]") {
  PythonRandom words(5);
  for (const std::uint32_t expected : {2675342405U, 1097127993U, 3185950873U, 1539898300U}) {
    CHECK(words.Bits() == expected);
  }
  for (int k = 4; k < 999; ++k) words.Bits();
  CHECK(words.Bits() == 142892084U);
  CHECK(PythonRandom((std::uint64_t{1} << 40) + 5).Bits() == 2166296868U);

  PythonRandom shuffles(5);
  const std::vector<std::vector<int>> expected = {{0, 1, 2}, {0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {1, 0, 2}};
  for (const auto& order : expected) {
    std::vector<int> values = {0, 1, 2};
    shuffles.Shuffle(values);
    CHECK(values == order);
  }
}

}  // namespace berth::gavel
