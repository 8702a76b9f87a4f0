// The C API: the decisions of Berth's own simulator, bad input as a status and one line, and the installed
// copy alone, as CMake and pkg-config find it, under a simulator in C.
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <tuple>

#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/gym/encoder.hpp"
#include "env/sim/metrics.hpp"
#include "policies/c_api/berth.h"
#include "policies/schedulers.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::Slurp;
using test::TemporaryFolder;

constexpr int kQueue = 6, kTypes = 2;

PolicyBundle Bundle(const std::string& network, std::uint64_t seed,
                    const std::string& encoder = kObservationV1) {
  PolicyBundle bundle =
      test::RandomBundle(network, EncoderOf(encoder).Layout(kQueue, kTypes), kQueue * kTypes + 1, seed);
  bundle.mdp.encoder = encoder;
  bundle.gpu_types = {"fast", "slow"};
  return bundle;
}

// Asks libberth.so at every decision point, as a simulator of somebody else's would.
class ThroughC : public Scheduler {
 public:
  explicit ThroughC(const std::string& path) {
    char why[256];
    const berth_status status = berth_policy_load(path.c_str(), &policy_, why, sizeof(why));
    REQUIRE(status == BERTH_OK);
    info_.struct_size = sizeof(info_);
    REQUIRE(berth_policy_get_info(policy_, &info_, nullptr, 0) == BERTH_OK);
  }
  ~ThroughC() override { berth_policy_free(policy_); }

  Knowledge knowledge() const override { return static_cast<Knowledge>(info_.knowledge); }

  void Decide(const ClusterView& view, Decision& decision) override {
    std::vector<berth_gpu_type> types;
    for (const GpuType& type : view.types()) types.push_back({type.name.c_str(), type.count});
    std::vector<berth_job> jobs;
    std::vector<double> rates;
    // Latest first: the order in which jobs are named must not matter where arrivals differ.
    std::vector<int> active(view.active().begin(), view.active().end());
    std::reverse(active.begin(), active.end());
    for (int job : active) {
      berth_job row = BERTH_JOB_INIT;
      row.arrival_s = view.Arrival(job);
      if (knowledge() >= Knowledge::kEstimate) row.remaining_steps = view.RemainingSteps(job);
      if (knowledge() >= Knowledge::kBlind) row.attained_s = view.AttainedSeconds(job);
      if (knowledge() >= Knowledge::kBlind) row.attained_steps = view.AttainedSteps(job);
      row.weight = view.Weight(job);
      row.deadline_s = view.Deadline(job);
      row.requested_s = view.Requested(job);
      row.gang = view.Gang(job);
      row.running_on = view.TypeOf(job);
      jobs.push_back(row);
      rates.insert(rates.end(), view.Rates(job).begin(), view.Rates(job).end());
    }
    berth_cluster cluster = BERTH_CLUSTER_INIT;
    cluster.now_s = view.now();
    cluster.types = types.data(), cluster.num_types = types.size();
    cluster.jobs = jobs.data(), cluster.num_jobs = jobs.size();
    cluster.rates = rates.data();
    cluster.changed = !view.arrived().empty() || !view.completed().empty();
    std::vector<int32_t> runs_on(jobs.size() + 1, -7);
    char why[256] = "";
    const berth_status status =
        berth_policy_decide(policy_, &cluster, runs_on.data(), runs_on.size(), why, sizeof(why));
    CAPTURE(why);
    REQUIRE(status == BERTH_OK);
    CHECK(runs_on.back() == -7);
    for (std::size_t i = 0; i < active.size(); ++i) {
      const int job = active[i], type = runs_on[i];
      if (type == view.TypeOf(job)) continue;
      if (type < 0) decision.Stop(job);
      if (type >= 0 && view.IsRunning(job)) decision.Move(job, type);
      if (type >= 0 && !view.IsRunning(job)) decision.Start(job, type);
    }
  }

 private:
  berth_policy* policy_ = nullptr;
  berth_policy_info info_{};
};

// Who did what when, without the devices: those are the caller's to choose.
std::vector<std::tuple<double, int, int, int>> WhatHappened(const RunResult& result) {
  std::vector<std::tuple<double, int, int, int>> events;
  for (const Event& event : result.events) {
    events.emplace_back(event.time, static_cast<int>(event.kind), event.job, event.type);
  }
  std::sort(events.begin(), events.end());
  return events;
}

ScenarioData RandomScenario() {
  Stream stream(11, Purpose::kTest);
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  for (int i = 0; i < 50; ++i) {
    now += stream.Exponential(40.0);
    jobs.push_back(
        {now, 1.0 + stream.Uniform(0.0, 300.0), static_cast<int>(stream.Below(3)), 1 << stream.Below(2)});
  }
  ScenarioData data = test::TinyData({{"fast", 2}, {"slow", 3}}, {{4.0, 1.0}, {2.0, 1.5}, {0.0, 2.0}}, jobs);
  for (int i = 0; i < 50; ++i) {
    data.jobs.weight.push_back(i % 5 == 0 ? 3.0 : 1.0);
    data.jobs.deadline.push_back(i % 3 == 0 ? data.jobs.arrival[static_cast<std::size_t>(i)] + 500.0
                                            : kNever);
    data.jobs.requested_s.push_back(i % 4 == 0 ? std::nan("") : 30.0 * (1 + i % 7));
  }
  return data;
}

// Runs the policy in Berth and through the library on the random scenario.
void CheckSameRun(const PolicyBundle& bundle, const std::string& path, Clock clock) {
  ScenarioData data = RandomScenario();
  data.clock = clock;
  data.knowledge = bundle.mdp.knowledge;
  data.estimate_sigma = bundle.mdp.knowledge == Knowledge::kEstimate ? 0.5 : 0.0;
  const Scenario scenario(std::move(data));
  RunOptions options;
  options.keep_events = true;
  const auto ours = MakePolicyScheduler(bundle, path, false);
  ThroughC theirs(path);
  const RunResult expected = Run(scenario, *ours, "ours", options);
  const RunResult found = Run(scenario, theirs, "theirs", options);
  CHECK(expected.metrics.jobs == 50);
  CHECK(found.jct_s == expected.jct_s);
  CHECK(WhatHappened(found) == WhatHappened(expected));
}

// Runs in the folder, through the shell; what it says goes to log.txt, unless it sends it elsewhere.
int Shell(const TemporaryFolder& folder, const std::string& command) {
  const int status =
      std::system(Join("cd '", folder.path(), "' && { ", command, "; } >log.txt 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
void MustShell(const TemporaryFolder& folder, const std::string& command) {
  const int code = Shell(folder, command);
  const std::string log = Slurp(folder / "log.txt");
  CAPTURE(command, log);
  REQUIRE(code == 0);
}

}  // namespace

TEST_CASE("c api: decides what Berth's simulator decides") {
  const TemporaryFolder folder;
  const auto [network, encoder] =
      GENERATE(table<const char*, const char*>({{"pair_scorer(width=8)", "ObservationV1"},
                                                {"pair_scorer(width=8,skip=true)", "ObservationV1"},
                                                {"mlp(hidden=8)", "ObservationV1"},
                                                {"pair_scorer(width=8,skip=true)", "ObservationV3"}}));
  PolicyBundle bundle = Bundle(network, 5, encoder);
  bundle.mdp.preemptive = GENERATE(true, false);
  bundle.mdp.knowledge =
      GENERATE(Knowledge::kNone, Knowledge::kBlind, Knowledge::kEstimate, Knowledge::kOracle);
  bundle.mdp.order = GENERATE(QueueOrder::kArrival, QueueOrder::kShortest);
  SaveBundle(bundle, folder / "p.h5");
  CheckSameRun(bundle, folder / "p.h5", GENERATE(Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 60.0}));
}

// A program that was compiled before jobs had attained_steps goes on as it was.
TEST_CASE("c api: jobs of an older header are taken, and steps that are missing are asked for") {
  const TemporaryFolder folder;
  const std::string encoder = GENERATE("ObservationV1", "ObservationV3");
  PolicyBundle bundle = Bundle("pair_scorer(width=8)", 5, encoder);
  bundle.mdp.knowledge = Knowledge::kBlind;
  SaveBundle(bundle, folder / "p.h5");
  berth_policy* policy = nullptr;
  REQUIRE(berth_policy_load((folder / "p.h5").c_str(), &policy, nullptr, 0) == BERTH_OK);
  const berth_gpu_type types[] = {{"fast", 2}, {"slow", 3}};
  berth_job jobs[] = {BERTH_JOB_INIT, BERTH_JOB_INIT, BERTH_JOB_INIT};
  jobs[1].gang = 2, jobs[2].arrival_s = 4.0;
  const double rates[] = {1.0, 2.0, 1.0, 3.0, 5.0, 2.0};
  berth_cluster cluster = BERTH_CLUSTER_INIT;
  cluster.now_s = 10.0;
  cluster.types = types, cluster.num_types = 2;
  cluster.jobs = jobs, cluster.num_jobs = 3;
  cluster.rates = rates;
  constexpr std::size_t kOld = 56;
  char older[3 * kOld];
  berth_cluster of_older = cluster;
  of_older.job_size = kOld, of_older.jobs = reinterpret_cast<const berth_job*>(older);
  int32_t now[3] = {-7, -7, -7}, then[3] = {-7, -7, -7};
  char why[256] = "";
  for (const double attained : {0.0, 5.0}) {
    CAPTURE(encoder, attained, why);
    jobs[1].attained_s = attained;
    for (std::size_t i = 0; i < 3; ++i) std::memcpy(older + i * kOld, &jobs[i], kOld);
    const bool asks = attained > 0.0 && encoder == "ObservationV3";
    const berth_status expected = asks ? BERTH_BAD_ARGUMENT : BERTH_OK;
    CHECK(berth_policy_decide(policy, &cluster, now, 3, why, sizeof(why)) == expected);
    if (asks) CHECK_THAT(why, Contains("job 1: attained_steps: expected the steps that it has done"));
    CHECK(berth_policy_decide(policy, &of_older, then, 3, why, sizeof(why)) == expected);
    CHECK(std::equal(now, now + 3, then));
  }
  CHECK(*std::max_element(now, now + 3) >= 0);
  jobs[1].attained_steps = 12.0;
  CHECK(berth_policy_decide(policy, &cluster, now, 3, why, sizeof(why)) == BERTH_OK);
  jobs[1].attained_steps = -12.0;
  CHECK(berth_policy_decide(policy, &cluster, now, 3, why, sizeof(why)) == BERTH_BAD_ARGUMENT);
  CHECK_THAT(why, Contains("job 1: attained_steps: expected steps >= 0, found -12"));
  berth_policy_free(policy);
}

TEST_CASE("c api: what cannot be is a status and one line, and nothing is touched") {
  const TemporaryFolder folder;
  char why[256] = "";
  berth_policy* policy = nullptr;
  SaveBundle(Bundle("pair_scorer(width=8)", 5), folder / "p.h5");
  CHECK(berth_abi_version() == BERTH_ABI_VERSION);
  CHECK(berth_policy_load((folder / "none.h5").c_str(), &policy, why, sizeof(why)) == BERTH_BAD_FILE);
  CHECK_THAT(why, Contains("none.h5"));
  CHECK(berth_policy_load(nullptr, &policy, why, sizeof(why)) == BERTH_BAD_ARGUMENT);
  SaveBundle(test::RandomBundle("mlp", {0, 0, 0, 0, 0, 4}, 2, 3), folder / "flat.h5");
  CHECK(berth_policy_load((folder / "flat.h5").c_str(), &policy, why, sizeof(why)) == BERTH_UNSUPPORTED);
  CHECK_THAT(why, Contains("flat"));
  SaveBundle(test::RandomBundle("mlp", ObservationV1::Layout(3, 2), 6, 4), folder / "commit.h5");
  CHECK(berth_policy_load((folder / "commit.h5").c_str(), &policy, why, sizeof(why)) == BERTH_UNSUPPORTED);
  CHECK_THAT(why, Contains("'commit'"));
  // An encoder that sees what a foreign cluster does not say would be shown zeros.
  const ObservationLayout wide = EncoderOf("ObservationV2").Layout(2, 2);
  PolicyBundle other = test::RandomBundle("mlp(hidden=4)", wide, 5, 4);
  other.mdp.encoder = "ObservationV2";
  SaveBundle(other, folder / "v2.h5");
  CHECK(berth_policy_load((folder / "v2.h5").c_str(), &policy, why, sizeof(why)) == BERTH_UNSUPPORTED);
  CHECK_THAT(why, Contains("ObservationV1 or ObservationV3") && Contains("ObservationV2"));
  CHECK(policy == nullptr);
  // A message is cut to the buffer, whatever its size; none at all is fine.
  std::memset(why, 'x', sizeof(why));
  CHECK(berth_policy_load((folder / "none.h5").c_str(), &policy, why, 5) == BERTH_BAD_FILE);
  CHECK(std::string(why, 7) == (folder / "none.h5").substr(0, 4) + std::string("\0xx", 3));
  CHECK(berth_policy_load((folder / "none.h5").c_str(), &policy, nullptr, 0) == BERTH_BAD_FILE);
  REQUIRE(berth_policy_load((folder / "p.h5").c_str(), &policy, why, sizeof(why)) == BERTH_OK);

  const berth_gpu_type types[] = {{"fast", 2}, {"slow", 3}}, nameless[] = {{nullptr, 2}, {"slow", 3}};
  const berth_gpu_type twice[] = {{"slow", 2}, {"slow", 3}}, broken[] = {{"fast", 0}, {"slow", 3}};
  berth_job jobs[] = {BERTH_JOB_INIT, BERTH_JOB_INIT};
  double rates[] = {1.0, 2.0, 1.0, 0.0};
  berth_cluster cluster = BERTH_CLUSTER_INIT;
  cluster.now_s = 10.0;
  cluster.types = types, cluster.num_types = 2;
  cluster.jobs = jobs, cluster.num_jobs = 2;
  cluster.rates = rates;
  int32_t runs_on[] = {-7, -7};
  std::string expected;
  berth_status status = BERTH_BAD_ARGUMENT;
  std::size_t capacity = 2;
  SECTION("an older header") {
    cluster.struct_size -= 8, expected = "another berth.h";
  }
  SECTION("no types") {
    cluster.num_types = 0, expected = "at least one GPU type";
  }
  SECTION("a type without a name") {
    cluster.types = nameless, expected = "type 0: expected a name";
  }
  SECTION("a type twice") {
    cluster.types = twice, expected = "'slow' is named twice";
  }
  SECTION("a type without GPUs") {
    cluster.types = broken, expected = "fast: expected at least 1 GPU";
  }
  SECTION("no jobs array") {
    cluster.jobs = nullptr, expected = "jobs: expected an array of 2";
  }
  SECTION("no rates array") {
    cluster.rates = nullptr, expected = "rates: expected an array of 4";
  }
  SECTION("a future job") {
    jobs[1].arrival_s = 11.0, expected = "job 1: arrival_s: expected seconds of at most now_s";
  }
  SECTION("a time that is none") {
    jobs[1].arrival_s = NAN, expected = "job 1: arrival";
  }
  SECTION("no clock") {
    cluster.now_s = NAN, expected = "now_s: expected seconds";
  }
  SECTION("a deadline before it came") {
    jobs[1].arrival_s = 4.0, jobs[1].deadline_s = 3.0, expected = "job 1: deadline_s: expected no earlier than arrival_s, 4";
  }
  SECTION("a request of no time") {
    jobs[1].requested_s = 0.0, expected = "job 1: requested";
  }
  SECTION("no work left") {
    jobs[0].remaining_steps = 0.0, expected = "job 0: remaining_steps";
  }
  SECTION("a gang of none") {
    jobs[0].gang = 0, expected = "job 0: gang: expected at least 1";
  }
  SECTION("a gang too large") {
    jobs[0].gang = 4, expected = "job 0: a gang of 4";
  }
  SECTION("a rate that is none") {
    rates[1] = NAN, expected = "job 0: rates";
  }
  SECTION("nowhere to run") {
    rates[2] = 0.0, expected = "job 1";
  }
  SECTION("a weight of none") {
    jobs[1].weight = 0.0, expected = "job 1: weight";
  }
  SECTION("a type that is none") {
    jobs[1].running_on = 2, expected = "job 1: running_on";
  }
  SECTION("where it cannot run") {
    jobs[1].running_on = 1, expected = "job 1: it runs on 'slow'";
  }
  SECTION("more than there are") {
    jobs[0].gang = 2, jobs[0].running_on = 0, jobs[1].running_on = 0, expected = "more GPUs of 'fast'";
  }
  SECTION("no room for the answer") {
    capacity = 1, status = BERTH_BUFFER_TOO_SMALL, expected = "room for 2 jobs, found 1";
  }
  CHECK(berth_policy_decide(policy, &cluster, runs_on, capacity, why, sizeof(why)) == status);
  CHECK_THAT(why, Contains(expected) && !Contains("\n"));
  CHECK(runs_on[0] == -7);
  CHECK(runs_on[1] == -7);
  berth_policy_free(policy);
  berth_policy_free(nullptr);
}

TEST_CASE("c api: the installed copy alone builds and runs a simulator in C") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return test::Skip("needs a library without a sanitizer's runtime");
#endif
  const TemporaryFolder folder;
  const std::string build = std::filesystem::path(BERTH_BINARY).parent_path().string();
  SaveBundle(Bundle("pair_scorer(width=8)", 5), folder / "policy.h5");
  // What Berth itself does with that workload (tests/c_api/example.c).
  std::vector<test::TinyJob> jobs;
  for (int i = 0; i < 12; ++i) jobs.push_back({25.0 * i, 100.0 + 70.0 * ((i * 7) % 5), i % 3, 1 + i % 2});
  const Scenario scenario =
      test::Tiny({{"fast", 2}, {"slow", 3}}, {{4.0, 1.0}, {2.0, 1.5}, {1.0, 2.0}}, jobs);
  const auto scheduler = MakePolicyScheduler(Bundle("pair_scorer(width=8)", 5), "policy.h5", false);
  const RunResult expected = Run(scenario, *scheduler, "policy", {});
  const auto agrees = [&](const std::string& output) {
    std::istringstream lines(Slurp(output));
    std::string word;
    for (int i = 0; i < 12; ++i) {
      int job = -1;
      double completion = 0.0;
      lines >> word >> job >> completion;
      CHECK(job == i);
      CHECK(completion == Approx(25.0 * i + expected.jct_s[static_cast<std::size_t>(i)]).epsilon(1e-10));
    }
  };

  MustShell(folder, "cmake --install '" + build + "' --prefix prefix --component c_api");
  // A folder that moves still works; the checkout is not named in what CMake and pkg-config read.
  MustShell(folder, "mv prefix moved && ! grep -rI '" BERTH_SOURCE_DIR "' moved");
  std::filesystem::create_directory(folder / "source");
  for (const char* file : {"example.c", "calls.c", "CMakeLists.txt"}) {
    std::filesystem::copy(std::filesystem::path(BERTH_SOURCE_DIR "/tests/c_api") / file, folder / "source");
  }
  MustShell(folder, "cmake -S source -B built -G Ninja -DCMAKE_PREFIX_PATH=\"$PWD/moved\" && ninja -C built");
  MustShell(folder, "built/example policy.h5 >cmake.txt");
  agrees(folder / "cmake.txt");
  CHECK(Shell(folder, "built/example none.h5") == 2);
  CHECK_THAT(Slurp(folder / "log.txt"), Contains("none.h5"));

  // A million calls, some refused, leave the heap as they found it.
  MustShell(folder, "built/calls policy.h5 1000000 >calls.txt");
  const std::string calls = Slurp(folder / "calls.txt");
  CAPTURE(calls);
  std::int64_t before = -1, after = -2;
  std::istringstream(calls) >> before >> after;
  CHECK(after == before);

  // Nothing but the functions of the header is to be seen from outside.
  MustShell(folder, "nm -D --defined-only $(find moved -name libberth.so) >symbols.txt");
  std::istringstream symbols(Slurp(folder / "symbols.txt"));
  const std::string header = Slurp(BERTH_SOURCE_DIR "/policies/c_api/berth.h");
  int functions = 0;
  for (std::string address, kind, name; symbols >> address >> kind >> name;) {
    CAPTURE(name);
    if (kind == "A") continue;  // the version itself
    ++functions;
    CHECK(header.find(name.substr(0, name.find('@')) + "(") != std::string::npos);
  }
  CHECK(functions == 8);

  if (Shell(folder, "command -v pkg-config") != 0) return test::Skip("needs pkg-config (tools/setup)");
  MustShell(folder,
            "export PKG_CONFIG_PATH=$(dirname $(find \"$PWD/moved\" -name berth.pc)) && "
            "cc source/example.c -o by-pkg-config $(pkg-config --cflags --libs berth) -lm "
            "-Wl,-rpath,$(pkg-config --variable=libdir berth)");
  MustShell(folder, "./by-pkg-config policy.h5 >pkg-config.txt");
  agrees(folder / "pkg-config.txt");
}

}  // namespace berth
