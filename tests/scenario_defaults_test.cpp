// --tau auto and its like, on workloads whose numbers are worked out by hand.
#include "tools/scenario_defaults.hpp"

#include <utility>

#include "env/features/table.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tools/scenario_options.hpp"
#include "tools/scenario_summary.hpp"

namespace berth {
namespace {

class Given final : public ScenarioSource {
 public:
  explicit Given(ScenarioData data, bool fixed = true) : scenario_(std::move(data)), fixed_(fixed) {}
  Scenario Make(std::uint64_t, Split, std::uint32_t, std::uint32_t, int) const override { return scenario_; }
  bool fixed() const override { return fixed_; }
  std::string Describe() const override { return "given"; }

 private:
  Scenario scenario_;
  bool fixed_;
};

// Type a runs job type 0 at 1 step a second and job type 1 at 1; type b at 1 and 0.5.
ScenarioData Two(int a, int b, const std::vector<test::TinyJob>& jobs) {
  return test::TinyData({{"a", a}, {"b", b}}, {{1.0, 1.0}, {1.0, 0.5}}, jobs, Clock{ClockKind::kEvent});
}

}  // namespace

TEST_CASE("workload numbers: run times, what GPUs hold, and the least load") {
  // Jobs of {arrival, steps, type, gang}: 10 s and 1,000 s are 100 s typically. GPU time: 10 + 2 * 1000 of
  // 1,010 s of running, so a job in the system holds 2010 / 1010 GPUs.
  const WorkloadNumbers mixed = NumbersOf(Given(Two(2, 2, {{0.0, 10.0, 0, 1}, {100.0, 1000.0, 0, 2}})));
  CHECK(mixed.typical_run_s == Approx(100.0));
  CHECK(mixed.held_jobs == Approx(4.0 / (2010.0 / 1010.0)));
  CHECK(mixed.load == Approx(2010.0 / 100.0 / 4.0));  // both types are as fast
  CHECK(mixed.jobs == 2);
  CHECK(mixed.round_s == 0.0);

  // 300 GPU s of each job type in 100 s, on two GPUs of each type. Job type 1 is half as fast on b. Its work
  // on a alone takes 300 / 2 s a GPU, and job type 0's on b as well: a load of 1.5, where either is busy as
  // long. By chance, half on either, a would take 150 and b 225.
  const WorkloadNumbers matched = NumbersOf(Given(Two(2, 2, {{0.0, 300.0, 0, 1}, {100.0, 300.0, 1, 1}})));
  CHECK(matched.load == Approx(1.5).epsilon(0.01));
  CHECK(matched.load < 1.5 + 1e-9);  // to rounding

  // With one of a and three of b, all busy for t s of 100: a does t of job type 1, b job type 0 and, at half
  // the speed, the rest: 300 + 2 (300 - t) = 3 t, so t = 180.
  const WorkloadNumbers scarce = NumbersOf(Given(Two(1, 3, {{0.0, 300.0, 0, 1}, {100.0, 300.0, 1, 1}})));
  CHECK(scarce.load == Approx(1.8).epsilon(0.01));
  CHECK(scarce.load < 1.8 + 1e-9);

  CHECK(NumbersOf(Given(Two(2, 2, {{0.0, 10.0, 0, 1}, {0.0, 10.0, 0, 1}}))).load == 0.0);  // all at once
}

TEST_CASE("workload numbers: only the jobs to train on count") {
  const Given source(Two(2, 2, {{0.0, 10.0, 0, 1}, {100.0, 10.0, 0, 1}, {200.0, 4000.0, 0, 1}}));
  CHECK(NumbersOf(source, {0, 2}).typical_run_s == Approx(10.0));
  CHECK(NumbersOf(source, {0, 2}).jobs == 2);
  CHECK(NumbersOf(source, {2, 3}).typical_run_s == Approx(4000.0));
}

TEST_CASE("workload numbers: of a long log every job counts") {
  // Every second one is the longer: 2,500 jobs of 1 s and 2,500 of 9 s in 4,999 s, on four GPUs.
  std::vector<test::TinyJob> jobs;
  for (int job = 0; job < 5000; ++job) jobs.push_back({1.0 * job, job % 2 == 0 ? 1.0 : 9.0, 0, 1});
  const WorkloadNumbers numbers = NumbersOf(Given(Two(2, 2, jobs)));
  CHECK(numbers.typical_run_s == Approx(3.0));
  CHECK(numbers.load == Approx(25000.0 / 4999.0 / 4.0));
}

TEST_CASE("workload numbers: a part of a GPU is work of a part only where it suffices") {
  // 400 s of a quarter and 400 s of a whole in 100 s, on four GPUs.
  ScenarioData data = Two(2, 2, {{0.0, 400.0, 0, 1}, {100.0, 400.0, 0, 1}});
  data.jobs.gpu_milli = {250, 1000};
  for (const auto& [features, gpu_s] :
       {std::pair{"sharing(share_suffices=true)", 500.0}, {"sharing", 800.0}, {"", 800.0}}) {
    CAPTURE(features);
    data.features = ParseFeatures(features);
    const WorkloadNumbers numbers = NumbersOf(Given(data));
    CHECK(numbers.load == Approx(gpu_s / 100.0 / 4.0));
    CHECK(numbers.held_jobs == Approx(4.0 / (gpu_s / 800.0)));
    CHECK(ScenarioJson(Scenario(data))["fastest_gpu_h"].get<double>() == Approx(gpu_s / 3600.0));
    CHECK_THAT(ScenarioText(Scenario(data)),
               Catch::EndsWith(Join("2 jobs", std::string(features) != "sharing" ? "" : ", 1 of them on parts of GPUs, "
                                    "which give that part of the speed (share_suffices=false)")));
  }
}

TEST_CASE("tau: twice the typical run time as one would say it, ten rounds at least") {
  const auto tau = [](double run_s, double round_s = 0.0) {
    WorkloadNumbers numbers;
    numbers.typical_run_s = run_s, numbers.round_s = round_s;
    return DefaultTau(numbers);
  };
  CHECK(tau(17400.0) == 36000.0);     // 9.7 h: 10 h
  CHECK(tau(60.0) == 120.0);          // jobs of a minute: minutes
  CHECK(tau(1.3) == 2.5);             // 2.6 s
  CHECK(tau(60.0, 360.0) == 3600.0);  // 10 rounds
  CHECK(tau(400000.0) == 864000.0);   // 9.3 days: 10
  CHECK(tau(2000.0) == 3600.0);       // 67 min: 60
  CHECK(tau(0.0) == 1.0);
  WorkloadNumbers batch;
  batch.typical_run_s = 60.0, batch.batch_s = 2500.0;
  CHECK(DefaultTau(batch) == 7200.0);  // 2.1 h: 2
}

TEST_CASE("episodes: as measured on small clusters, long enough to fill large ones") {
  WorkloadNumbers numbers;
  numbers.held_jobs = 20.0;
  CHECK(DefaultWarmupJobs(numbers) == 100);
  CHECK(DefaultEpisodeJobs(numbers) == 300);
  numbers.held_jobs = 500.0;  // 1,000 GPUs, gangs of 2
  CHECK(DefaultWarmupJobs(numbers) == 1250);
  CHECK(DefaultEpisodeJobs(numbers) == 3750);
  numbers.jobs = 4000;  // of a log: 500 and 1,500
  CHECK(DefaultWarmupJobs(numbers) == 500);
  numbers.jobs = 200;
  CHECK(DefaultWarmupJobs(numbers) == 100);
  const Given batch(Two(2, 2, {{0.0, 10.0, 0, 1}, {0.0, 10.0, 0, 1}}), /*fixed=*/false);
  CHECK(DefaultEpisodeJobs(NumbersOf(batch)) == 2);  // all at once: they are the episode
  CHECK(DefaultWarmupJobs(NumbersOf(batch)) == 0);
  const Given queue(Two(1, 1, {{0.0, 3000.0, 0, 1}, {0.0, 1000.0, 0, 1}, {0.0, 1000.0, 0, 1}}));
  CHECK(NumbersOf(queue).batch_s == Approx(2500.0));  // 5,000 s on two GPUs
}

TEST_CASE("defaults: numbers take the place of auto, and of nothing else") {
  Options options("v", "", "");
  for (const char* name : {"tau", "episode-jobs", "warmup-jobs"}) options.Value(name, "auto", "");
  REQUIRE(options.Parse({"--episode-jobs", "40"}));
  WorkloadNumbers numbers;
  numbers.typical_run_s = 17400.0, numbers.held_jobs = 20.0;
  CHECK(ResolveDefaults(options, numbers, {"tau", "episode-jobs", "warmup-jobs"}) ==
        "tau 36000 s (2.1 typical run times), up to 100 jobs of warm-up");
  CHECK(options.Text("tau") == "36000");
  CHECK(options.Text("episode-jobs") == "40");
  CHECK(options.Text("warmup-jobs") == "100");
  CHECK(ResolveDefaults(options, numbers, {"tau", "episode-jobs", "warmup-jobs"}).empty());
}

TEST_CASE("defaults: train says so where there are fewer jobs than an episode has", "[cli]") {
  const test::TemporaryFolder folder;
  REQUIRE(test::Berth(folder, "generate --workload 'synthetic(rate=4,jobs=300)' --cluster v100=8 --out s.h5").code == 0);
  const std::string said = "there are only 234 jobs to train on: each episode is all of them, without warm-up";
  CHECK_THAT(test::Berth(folder, "train --scenario s.h5 --jobs 0:234 --out run --dry-run").out, Catch::Contains(said));
  CHECK_THAT(test::Berth(folder, "train --scenario s.h5 --jobs 0:234 --episode-jobs 234 --out run --dry-run").out,
             !Catch::Contains("there are only"));
}

}  // namespace berth
