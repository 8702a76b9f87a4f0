// Programs in Python that are not Berth's and run its policies: the file by its format alone, a SimPy cluster
// and a policy of Gavel's simulator by ONNX Runtime.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/gym/decision_point.hpp"
#include "env/sim/metrics.hpp"
#include "policies/foreign_decider.hpp"
#include "policies/onnx_writer.hpp"
#include "policies/schedulers.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

using test::Python;
using test::Slurp;
using test::TemporaryFolder;

constexpr int kQueue = 24, kTypes = 3;

PolicyBundle Bundle(const std::string& network, std::uint64_t seed,
                    const std::string& encoder = kObservationV1) {
  PolicyBundle bundle =
      test::RandomBundle(network, EncoderOf(encoder).Layout(kQueue, kTypes), kQueue * kTypes + 1, seed);
  bundle.mdp.encoder = encoder;
  bundle.gpu_types = {"v100", "p100", "k80"};
  return bundle;
}

Scenario Workload(Clock clock = {}) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=8,p100=8,k80=8");
  settings.clock = clock;
  return MakeWorkload("synthetic(rate=1,jobs=60,gangs=multi,priorities=true)", settings)
      ->Make(/*seed=*/1001, Split::kEvaluate, 0, 0);
}

// 0 and what it printed; CHECKs neither.
int RunPython(const TemporaryFolder& folder, const std::string& python, const std::string& script,
              const std::string& arguments) {
  const std::string command = Join("cd '", folder.path(), "' && '", python, "' '" BERTH_SOURCE_DIR "/",
                                   script, "' ", arguments, " >log.txt 2>&1");
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Writes down every decision of a policy with the observation that it was taken on.
class Recorder : public Scheduler {
 public:
  explicit Recorder(const PolicyBundle& bundle)
      : bundle_(bundle), inner_(MakePolicyScheduler(bundle, "p.h5", false)), point_(bundle.mdp) {}

  Knowledge knowledge() const override { return inner_->knowledge(); }
  void Reset(const ClusterView& view) override { inner_->Reset(view), point_.Begin(view); }
  void Decide(const ClusterView& view, Decision& decision) override {
    inner_->Decide(view, decision);
    if (point_.PassesOver(view)) return;
    point_.Start(view);
    point_.Gather(view);
    if (static_cast<int>(point_.candidates().size()) > bundle_.layout.q) return;
    const bool flat = bundle_.network.rfind("mlp", 0) == 0;
    point_.Observe(view, flat ? bundle_.layout.q : 0);
    const std::vector<float> row(point_.observation().begin(), point_.observation().end());
    Json gangs = Json::array(), rates = Json::array(), room = Json::array(), runs_on = Json::array();
    for (const GpuType& type : view.types()) room.push_back(type.count);
    for (int job : point_.candidates()) {
      gangs.push_back(view.Gang(job));
      rates.push_back(std::vector<double>(view.Rates(job).begin(), view.Rates(job).end()));
      int on = view.TypeOf(job);
      for (const Command& command : decision.commands) {
        if (command.job == job) on = command.kind == CommandKind::kStop ? -1 : command.type;
      }
      runs_on.push_back(on);
    }
    cases.push_back(
        {{"observation", row}, {"gangs", gangs}, {"rates", rates}, {"room", room}, {"runs_on", runs_on}});
  }

  Json cases = Json::array();

 private:
  PolicyBundle bundle_;
  std::unique_ptr<Scheduler> inner_;
  DecisionPoint point_;
};

}  // namespace

TEST_CASE("foreign: sixty lines of h5py and NumPy read a policy by its format and decide as Berth does") {
  const std::string python = Python(BERTH_SOURCE_DIR, "h5py, numpy");
  if (python.empty()) return test::Skip("needs Python with h5py and numpy (tools/setup)");
  CHECK(std::ranges::count(Slurp(BERTH_SOURCE_DIR "/tests/read_policy.py"), '\n') <= 60);
  const TemporaryFolder folder;
  for (const char* network :
       {"pair_scorer(width=16)", "pair_scorer(width=8,layers=3,activation=tanh)",
        "pair_scorer(width=8,skip=true)", "mlp(hidden=32x16)", "mlp(hidden=8,activation=relu)"}) {
    CAPTURE(network);
    const PolicyBundle bundle = Bundle(network, 4);
    SaveBundle(bundle, folder / "policy.h5");
    Recorder recorder(bundle);
    CHECK(Run(Workload(), recorder, "recorder", {}).metrics.jobs == 60);
    CHECK(recorder.cases.size() > 50);
    std::ofstream(folder / "cases.json") << recorder.cases;
    const int code = RunPython(folder, python, "tests/check_policy.py", "policy.h5 cases.json");
    const std::string log = Slurp(folder / "log.txt");
    CAPTURE(log);
    CHECK(code == 0);
    CHECK(log == Join("16 examples, ", recorder.cases.size(), " decisions\n"));
    // The comparison can fail: one decision that Berth did not take.
    Json& runs_on = recorder.cases.back()["runs_on"];
    runs_on[0] = runs_on[0] == 0 ? 1 : 0;
    std::ofstream(folder / "cases.json") << recorder.cases;
    CHECK(RunPython(folder, python, "tests/check_policy.py", "policy.h5 cases.json") == 1);
  }
}

TEST_CASE("foreign: a SimPy cluster with ONNX Runtime takes Berth's decisions") {
  const std::string python = Python(BERTH_SOURCE_DIR, "h5py, numpy, onnxruntime, simpy");
  if (python.empty()) return test::Skip("needs Python with h5py, numpy, onnxruntime and simpy (tools/setup)");
  const TemporaryFolder folder;
  PolicyBundle bundle = Bundle("pair_scorer(width=16)", 7);
  SECTION("preemptive, oracle") {}
  SECTION("what tools/quickstart trains") {
    bundle = Bundle("pair_scorer(width=8,skip=true)", 7, "ObservationV3");
  }
  SECTION("not preemptive, blind, shortest first, may idle") {
    if (GENERATE(false, true)) bundle = Bundle("pair_scorer(width=8,skip=true)", 7, "ObservationV3");
    bundle.mdp.preemptive = bundle.mdp.work_conserving = false;
    bundle.mdp.knowledge = Knowledge::kBlind;
    bundle.mdp.order = QueueOrder::kShortest;
  }
  const Scenario scenario = Workload();
  WriteScenario(scenario, folder / "s.h5");
  WriteOnnx(bundle, folder / "policy.onnx");
  const auto scheduler = MakePolicyScheduler(bundle, "p.h5", false);
  RunOptions options;
  options.keep_events = true;
  std::vector<Event> expected = Run(scenario, *scheduler, "policy", options).events;
  const int code = RunPython(folder, python, "tools/examples/simpy_cluster.py",
                             "--scenario s.h5 --policy policy.onnx --log log.csv");
  CAPTURE(Slurp(folder / "log.txt"));
  REQUIRE(code == 0);
  std::vector<Event> found;
  std::ifstream lines(folder / "log.csv");
  std::string line;
  std::getline(lines, line);
  CHECK(line == "time,event,job,type\r");
  while (std::getline(lines, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    std::string kind;
    Event event{};
    int type = -1;
    words >> event.time >> kind >> event.job >> type;
    event.type = static_cast<std::int8_t>(type);
    for (int k = 0; k <= static_cast<int>(EventKind::kPack); ++k) {
      if (kind == ToString(static_cast<EventKind>(k))) event.kind = static_cast<EventKind>(k);
    }
    found.push_back(event);
  }
  // Those of one instant stand in an order that says nothing.
  const auto order = [](std::vector<Event>& events) {
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return std::pair(a.job, static_cast<int>(a.kind)) < std::pair(b.job, static_cast<int>(b.kind));
    });
  };
  order(expected), order(found);
  REQUIRE(found.size() == expected.size());
  CHECK(found.size() >= 180);  // everybody arrives, starts and completes
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i, expected[i].job, ToString(expected[i].kind), ToString(found[i].kind), expected[i].time);
    CHECK(found[i].job == expected[i].job);
    CHECK(found[i].kind == expected[i].kind);
    CHECK(found[i].time == Approx(expected[i].time).epsilon(1e-12));  // SimPy adds delays up
    if (found[i].kind == EventKind::kStart || found[i].kind == EventKind::kMove) {
      CHECK(found[i].type == expected[i].type);
    }
  }
}

TEST_CASE("foreign: a job that cannot be is refused by name, as the C API does") {
  const std::string python = Python(BERTH_SOURCE_DIR, "numpy, onnxruntime");
  if (python.empty()) return test::Skip("needs Python with numpy and onnxruntime (tools/setup)");
  const TemporaryFolder folder;
  WriteOnnx(Bundle("pair_scorer(width=16)", 7), folder / "policy.onnx");
  const int code = RunPython(folder, python, "tests/check_policy_arguments.py", "policy.onnx");
  const std::string log = Slurp(folder / "log.txt");
  CAPTURE(log);
  CHECK(code == 0);
  CHECK(log == "39 refused\n");
  // And files that are none are a line.
  const auto refused = [&](const char* script, const std::string& arguments, const std::string& why) {
    CAPTURE(script, arguments);
    CHECK(RunPython(folder, python, Join("tools/examples/", script), arguments) == 2);
    const std::string said = Slurp(folder / "log.txt");
    CHECK_THAT(said, Catch::Matchers::Contains(why));
    CHECK(std::ranges::count(said, '\n') == 1);
  };
  const std::string gavel = "--gavel '" BERTH_SOURCE_DIR "/tests/gavel_stub' ";
  refused("gavel_policy.py", "--gavel /nonexist --policy policy.onnx driver.py",
          "found no /nonexist/utils.py");
  refused("gavel_policy.py", gavel + "--policy policy.onnx other.py", "other.py");
  refused("gavel_policy.py", gavel + "--policy nope.onnx driver.py", "nope.onnx: expected");
  std::ofstream(folder / "no.onnx") << "no";
  refused("gavel_policy.py", gavel + "--policy no.onnx driver.py", "no.onnx: expected");
  WriteOnnx(Bundle("mlp(hidden=4)", 7), folder / "mlp.onnx");
  refused("gavel_policy.py", gavel + "--policy mlp.onnx driver.py", "mlp.onnx: expected a pair_scorer");
  PolicyBundle other = Bundle("pair_scorer(width=4)", 7, "ObservationV2");
  WriteOnnx(other, folder / "v2.onnx");
  refused("gavel_policy.py", gavel + "--policy v2.onnx driver.py",
          "v2.onnx: expected ObservationV1 or ObservationV3");
  if (Python(BERTH_SOURCE_DIR, "h5py, simpy") != python) return;
  refused("simpy_cluster.py", "--scenario nope.h5 --policy policy.onnx", "nope.h5: expected");
  refused("simpy_cluster.py", "--scenario policy.onnx --policy policy.onnx", "policy.onnx: expected");
}

TEST_CASE("foreign: the example of the documentation decides as Berth does") {
  const std::string python = Python(BERTH_SOURCE_DIR, "numpy, onnxruntime");
  if (python.empty()) return test::Skip("needs Python with numpy and onnxruntime (tools/setup)");
  const TemporaryFolder folder;
  const PolicyBundle bundle = Bundle("pair_scorer(width=16)", 7, GENERATE("ObservationV1", "ObservationV3"));
  WriteOnnx(bundle, folder / "policy.onnx");
  const std::string page = Slurp(BERTH_SOURCE_DIR "/tools/examples/README.md"), fence = "```python\n";
  const std::size_t begin = page.find(fence) + fence.size();
  std::ofstream(folder / "example.py")
      << page.substr(begin, page.find("```", begin) - begin) << "print(runs_on)\n";
  const int status = std::system(Join("cd '", folder.path(), "' && PYTHONPATH='", BERTH_SOURCE_DIR,
                                      "/tools/examples' '", python, "' example.py >log.txt 2>&1")
                                     .c_str());
  // What stands there: two jobs that wait, 4 GPUs of one type and 8 of another, at 120 s.
  std::vector<ForeignJob> jobs(2);
  jobs[0].arrival_s = 0.0, jobs[0].gang = 1, jobs[0].remaining_steps = 5e5;
  jobs[1].arrival_s = 60.0, jobs[1].gang = 2, jobs[1].remaining_steps = 2e4;
  const std::vector<GpuType> types = {{"v100", 4}, {"k80", 8}};
  const std::vector<double> rates = {40.0, 9.0, 20.0, 16.0};
  std::vector<int> runs_on(2);
  ForeignDecider(bundle, "policy.h5").Decide({120.0, types, jobs, rates, true}, runs_on);
  const std::string log = Slurp(folder / "log.txt");
  CAPTURE(log);
  CHECK(status == 0);
  CHECK(log == Join("[", runs_on[0], ", ", runs_on[1], "]\n"));
}

TEST_CASE("foreign: Gavel's scheduler asks a policy of Berth's as one of its own") {
  const std::string python = Python(BERTH_SOURCE_DIR, "numpy, onnxruntime");
  if (python.empty()) return test::Skip("needs Python with numpy and onnxruntime (tools/setup)");
  const TemporaryFolder folder;
  PolicyBundle bundle = Bundle("pair_scorer(width=16)", 9, GENERATE("ObservationV1", "ObservationV3"));
  bundle.mdp.knowledge = GENERATE(Knowledge::kOracle, Knowledge::kBlind);
  WriteOnnx(bundle, folder / "policy.onnx");
  // Twelve resets: a job more each time from two on, and the first one gone from the eighth on. What the
  // adapter has to work out is worked out here once more: arrivals from ages, who runs and for how long from
  // its plans.
  const std::vector<std::string> names = {"k80", "p100", "v100"};
  const std::vector<GpuType> types = {{"k80", 4}, {"p100", 2}, {"v100", 2}};
  ForeignDecider decider(bundle, "policy.h5");
  Stream stream(2, Purpose::kTest);
  struct Known {
    double attained = 0.0, age = 0.0, total = -1.0;
    int on = -1;
    std::vector<double> rates;
  };
  std::vector<Known> known(14);
  for (Known& job : known) {
    for (int g = 0; g < kTypes; ++g) job.rates.push_back(stream.Uniform(1.0, 9.0));
  }
  known[5].rates[0] = 0.0;
  Json calls = Json::array(), answers = Json::array();
  for (int call = 0; call < 12; ++call) {
    const double now = 2160.0 * call;
    std::vector<ForeignJob> jobs;
    std::vector<double> rates;
    Json request = {{"cluster_spec", {{"k80", 4}, {"p100", 2}, {"v100", 2}, {"a100", 0}}}};
    const int first = call < 8 ? 0 : 1, last = call + 2;
    for (int job = first; job < last; ++job) {
      Known& state = known[static_cast<std::size_t>(job)];
      ForeignJob row;
      row.arrival_s = job < 2 ? 0.0 : 2160.0 * (job - 2) + 700.0;
      const double age = now - row.arrival_s;
      if (state.on >= 0) state.attained += age - state.age;
      state.age = age;
      row.attained_s = state.attained;
      row.running_on = state.on;
      row.remaining_steps = 50000.0 + 9000.0 * ((7 * job) % 5) - 10.0 * call;
      if (state.total < 0.0) state.total = row.remaining_steps;  // nothing is done when a job comes
      row.attained_steps = state.total - row.remaining_steps;
      row.gang = 1 + job % 2;
      row.weight = job % 3 == 0 ? 5.0 : 1.0;
      const std::string key = std::to_string(job);
      for (std::size_t g = 0; g < names.size(); ++g) request["throughputs"][key][names[g]] = state.rates[g];
      request["throughputs"][key]["a100"] = 0.0;
      request["scale_factors"][key] = row.gang;
      request["priority_weights"][key] = row.weight;
      request["times_since_start"][key] = age;
      request["num_steps_remaining"][key] = row.remaining_steps;
      jobs.push_back(row);
      rates.insert(rates.end(), state.rates.begin(), state.rates.end());
    }
    // Ages are all that Gavel tells, so its clock starts with the oldest job there is.
    std::vector<int> runs_on(jobs.size());
    decider.Decide({now, types, jobs, rates, true}, runs_on);
    Json answer;
    for (int job = first; job < last; ++job) {
      const int on = runs_on[static_cast<std::size_t>(job - first)];
      known[static_cast<std::size_t>(job)].on = on;
      const std::string key = std::to_string(job);
      for (std::size_t g = 0; g < names.size(); ++g)
        answer[key][names[g]] = on == static_cast<int>(g) ? 1.0 : 0.0;
      answer[key]["a100"] = 0.0;
    }
    calls.push_back(request), answers.push_back(answer);
  }
  std::ofstream(folder / "calls.json") << calls;
  const int code = RunPython(folder, python, "tools/examples/gavel_policy.py",
                             "--gavel '" BERTH_SOURCE_DIR
                             "/tests/gavel_stub' --policy policy.onnx driver.py "
                             "calls.json answers.json -p berth");
  CAPTURE(Slurp(folder / "log.txt"));
  REQUIRE(code == 0);
  const nlohmann::json found = nlohmann::json::parse(Slurp(folder / "answers.json"));
  const nlohmann::json expected = nlohmann::json::parse(answers.dump());
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == expected[i]);
  }
}

}  // namespace berth
