// When waiting jobs start: run times and plays by hand, what may not be read, and how often intervals are right.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/spec.hpp"
#include "env/gym/scenario_source.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/forecast/moments.hpp"
#include "tools/forecast/slurm_usage.hpp"
#include "tools/forecast/start_forecast.hpp"
#include "tools/json.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

constexpr double kWithoutLimit = std::numeric_limits<double>::quiet_NaN();

// The share of many draws that are `value`.
double ShareOfDraws(const RunSample& sample, const KnownRun& job, double value) {
  Stream stream(1, Purpose::kTest);
  const RunChance chance = sample.Of(job);
  int count = 0;
  for (int i = 0; i < 30000; ++i) count += std::abs(chance.Draw(stream) - value) < 1e-6 ? 1 : 0;
  return count / 30000.0;
}

// One GPU. Four jobs that ended in seconds 10 to 40 after half of their limit, one that runs since 40 with a limit of 100 s, and
// two that wait with 40 and 60 s.
StartMoment OneGpuMoment() {
  StartMoment moment;
  moment.now = 60.0;
  GpuType type;
  type.name = "a100";
  type.count = 1;
  moment.data.cluster.types = {type};
  moment.data.throughputs.job_types = {"job"};
  moment.data.throughputs.gang_sizes = {1};
  moment.data.throughputs.alone = {1.0};
  for (int job = 0; job < 7; ++job) {
    moment.data.jobs.id.push_back(job);
    moment.data.jobs.arrival.push_back(job < 5 ? 10.0 * job : 50.0 + job);
    moment.data.jobs.job_type.push_back(0);
    moment.data.jobs.gang.push_back(1);
    moment.data.jobs.total_steps.push_back(job < 4 ? 10.0 : 1.0);
    moment.data.jobs.requested_s.push_back(job < 4 ? 20.0 : job == 4 ? 100.0 : job == 5 ? 40.0 : 60.0);
    StartMoment::Job its;
    if (job < 4) its.phase = StartMoment::Phase::kEnded;
    if (job == 4) {
      its.phase = StartMoment::Phase::kRunning;
      its.done = 20.0, its.type = 0, its.since = 40.0;
      its.devices = {0};
    }
    moment.jobs.push_back(its);
  }
  return moment;
}

std::vector<StartForecast> Forecasts(const StartMoment& moment, const char* spec = "fcfs") {
  return ForecastStarts(moment, *MakeScheduler(spec, AllSchedulers()), spec);
}

}  // namespace

TEST_CASE("forecast: run times by those that ended and those that go on") {
  // 10 s and 20 s ended, one runs since 15 s. Of three one ends at 10; of the one that is left behind 15, all at 20: 1/3 and 2/3.
  // Without the one that runs it would be half and half. 0.01: 3.7 standard deviations of 30,000 draws.
  const RunSample sample({{0, 1, 0, kWithoutLimit, 10, true}, {0, 1, 0, kWithoutLimit, 15, false}, {0, 1, 0, kWithoutLimit, 20, true}});
  CHECK(std::abs(ShareOfDraws(sample, {0, 1, 0, kWithoutLimit, 0, false}, 10) - 1.0 / 3) < 0.01);
  CHECK(std::abs(ShareOfDraws(sample, {0, 1, 0, kWithoutLimit, 0, false}, 20) - 2.0 / 3) < 0.01);
  CHECK(ShareOfDraws(sample, {0, 1, 0, kWithoutLimit, 12, false}, 20) == 1.0);  // it has run for 12 s
  // With limits it is the share of them: 10 of 40 s, so 25 of 100.
  const RunSample shares({{0, 1, 0, 40, 10, true}});
  CHECK(ShareOfDraws(shares, {0, 1, 0, 100, 0, false}, 25) == 1.0);
  // Ten of the same tenant stand before ten others.
  std::vector<KnownRun> two;
  for (int i = 0; i < 10; ++i) two.push_back({0, 1, 0, 40, 10, true}), two.push_back({0, 1, 1, 40, 30, true});
  CHECK(ShareOfDraws(RunSample(two), {0, 1, 1, 40, 0, false}, 30) == 1.0);
  // Nothing is known: anything that is left of the limit; without one nothing can be said.
  Stream stream(1, Purpose::kTest);
  const double drawn = RunSample({}).Of({0, 1, 0, 100, 60, false}).Draw(stream);
  CHECK((drawn > 60.0 && drawn <= 100.0));
  CHECK(std::isnan(RunSample({}).Of({0, 1, 0, kWithoutLimit, 0, false}).Draw(stream)));
}

TEST_CASE("forecast: starts by hand where run times are certain") {
  // All use half of their limit: the running one is over at 40 + 50 = 90, in 30 s; the next runs 20 s.
  const std::vector<StartForecast> forecasts = Forecasts(OneGpuMoment());
  REQUIRE(forecasts.size() == 2);
  CHECK(forecasts[0].job == 5);
  CHECK(std::abs(forecasts[0].low - 30) < 1e-3);
  CHECK(std::abs(forecasts[0].high - 30) < 1e-3);
  CHECK(std::abs(forecasts[1].median - 50) < 1e-3);
  // The device is away: nobody starts before it is back.
  StartMoment closed = OneGpuMoment();
  closed.jobs[4].phase = StartMoment::Phase::kAway;
  closed.closed = {{0, 100.0}};
  CHECK(std::abs(Forecasts(closed)[0].median - 40) < 1e-3);
  closed.closed = {{0, kNever}};
  CHECK(Forecasts(closed)[0].median == kNever);
}

TEST_CASE("forecast: whom all that come pass is promised no start for when they were played no further") {
  // Shortest first, and twice the work that the GPU does comes; the last job runs for 5000 s. It may slip into a gap at the beginning.
  StartMoment moment = OneGpuMoment();
  for (std::size_t job = 0; job < 4; ++job) moment.data.jobs.total_steps[job] = 20.0, moment.data.jobs.requested_s[job] = 40.0;
  moment.data.jobs.requested_s[6] = 10000.0;
  const std::vector<StartForecast> forecasts = Forecasts(moment, "srpt");
  REQUIRE(forecasts.size() == 2);
  CHECK(forecasts[0].high < 1000.0);
  CHECK(std::count(forecasts[1].starts.begin(), forecasts[1].starts.end(), kNever) >= 90);
  CHECK(forecasts[1].median == kNever);
}

TEST_CASE("forecast: true run times of jobs that have not ended change nothing") {
  StartMoment other = OneGpuMoment();
  for (int job = 4; job < 7; ++job) other.data.jobs.total_steps[static_cast<std::size_t>(job)] = 12345.0;
  for (const char* spec : {"fcfs", "easy", "srpt"}) {
    const std::vector<StartForecast> a = Forecasts(OneGpuMoment(), spec), b = Forecasts(other, spec);
    REQUIRE(a.size() == b.size());
    for (std::size_t k = 0; k < a.size(); ++k) CHECK(a[k].starts == b[k].starts);
  }
}

TEST_CASE("forecast: a moment of which nothing can be said says why") {
  StartMoment unknown = OneGpuMoment();
  for (std::size_t job = 0; job < 7; ++job) {
    if (job < 4) unknown.jobs[job].phase = StartMoment::Phase::kAway;
    unknown.data.jobs.requested_s[job] = kWithoutLimit;
  }
  CHECK(Forecasts(unknown).empty());
  CHECK_THAT(WhyNoForecast(unknown), Catch::Contains("no run has ended yet"));
  StartMoment shared = OneGpuMoment();
  shared.jobs[5] = shared.jobs[4];
  CHECK(Forecasts(shared).empty());
  CHECK_THAT(WhyNoForecast(shared), Catch::Contains("share GPUs"));
  // Twelve jobs an hour on one GPU, which the first holds for long.
  const test::TemporaryFolder folder;
  const std::string run = "forecast --workload 'synthetic(jobs=200,rate=12)' --cluster v100=1 --scheduler fcfs --members 9 --json j ";
  test::Outcome outcome = test::Berth(folder, run + "--at 9000");
  CAPTURE(outcome.out, outcome.error);
  CHECK(outcome.code == 0);
  const Json json = Json::parse(test::Slurp(folder / "j"));
  REQUIRE(json.at("waiting") > 0);
  CHECK(json.at("moments_without") == 1);
  CHECK(json.at("jobs").empty());
  CHECK_THAT(outcome.out, Catch::Contains(Join("at 9000 s ", Counted(json.at("waiting").get<int>(), "job waits", "jobs wait"),
                                               "; nothing can be forecast: no run has ended yet")));
  // At 0 nobody waits.
  outcome = test::Berth(folder, run + "--calibrate --at 0,9000,20000");
  CAPTURE(outcome.out, outcome.error);
  CHECK_THAT(outcome.out, Catch::Contains("forecasts at 1 moment") &&
                              Catch::Contains("\nat 1 of 3 moments nothing can be forecast: no run has ended yet"));
  CHECK(Json::parse(test::Slurp(folder / "j")).at("moments") == 1);
  test::CheckOneLine(test::Berth(folder, run + "--calibrate --at 9000"), "found none; at 1 of 1 moment nothing can be forecast");
}

// Under las jobs wait again after they began, some beyond what is played: both ends are later then.
TEST_CASE("forecast: the median width counts intervals without an end, and is the mean of the middle two") {
  const test::TemporaryFolder folder;
  int endless = 0, even = 0;
  for (const char* moments : {"1", "3", "5"}) {
    CAPTURE(moments);
    const test::Outcome outcome =
        test::Berth(folder, Join("forecast --workload 'synthetic(jobs=40,rate=6)' --cluster v100=2 --scheduler las --clock event "
                                 "--calibrate --members 9 --seed 1 --json j --moments ", moments));
    CAPTURE(outcome.error);
    REQUIRE(outcome.code == 0);
    const Json json = Json::parse(test::Slurp(folder / "j"));
    std::vector<double> widths;
    for (const Json& job : json.at("jobs")) {
      if (job.at("actual_s").is_null()) continue;
      widths.push_back(job.at("high_s").is_null() ? kNever : job.at("high_s").get<double>() - job.at("low_s").get<double>());
      endless += job.at("low_s").is_null() ? 1 : 0;
    }
    std::sort(widths.begin(), widths.end());
    REQUIRE(!widths.empty());
    even += widths.size() % 2 == 0 ? 1 : 0;
    const double median = 0.5 * (widths[(widths.size() - 1) / 2] + widths[widths.size() / 2]);
    REQUIRE(std::isfinite(median));
    CHECK(json.at("median_width_s").get<double>() == Approx(median).epsilon(1e-12));
  }
  CHECK(endless > 0);
  CHECK(even > 0);
}

TEST_CASE("forecast: quantiles of plays") {
  // Of nine, each of the ten gaps is as likely: eight of them lie between the first and the last.
  StartForecast forecast;
  forecast.starts = {1, 2, 3, 4, 5, 6, 7, 8, 90};
  SetQuantiles(0.8, forecast);
  CHECK(forecast.low == 1);
  CHECK(forecast.median == 5);
  CHECK(forecast.high == 90);
  forecast.starts = {1, kNever, kNever};
  SetQuantiles(0.8, forecast);
  CHECK(forecast.low == 1);
  CHECK(forecast.high == kNever);
}

TEST_CASE("forecast: under slurm it begins with what tenants have used") {
  // Half-life as shipped: 7 days. a's job used 7200 GPU-seconds, half an hour around a week ago; b's runs since an hour.
  StartMoment moment = OneGpuMoment();
  moment.now = 1e6;
  moment.data.tenants = {{"a"}, {"b"}};
  moment.data.jobs.tenant = {0, 1, 0, 0, 1, 0, 0};
  moment.jobs[0].gpu_seconds = 7200.0;
  moment.jobs[0].since = 1e6 - 604800.0 + 3600.0;
  const std::string spec = WithUsage("slurm(qos=x:1)", moment);
  CHECK(spec == "slurm(qos=x:1,usage=a:3600+b:0)");
  MakeScheduler(spec, AllSchedulers());
  CHECK(WithUsage("slurm", moment) == "slurm(usage=a:3600+b:0)");
  CHECK(WithUsage("easy", moment) == "easy");
  CHECK(WithUsage("slurm(usage=a:1)", moment) == "slurm(usage=a:1)");
  // Whatever tenants are called it is read again.
  moment.data.tenants = {{"R+D, (north)"}, {""}};
  const std::string named = WithUsage("slurm", moment);
  CHECK(named == "slurm(usage=R%2BD%2C%20%28north%29:3600+:0)");
  MakeScheduler(named, AllSchedulers());
  moment.data.jobs.tenant.clear();  // all are the first one's
  CHECK(WithUsage("slurm", moment) == named);
  CHECK(test::Says(test::MessageOf([] { MakeScheduler("slurm(usage=a)", AllSchedulers()); }), "expected TENANT:GPU-SECONDS"));
}

TEST_CASE("forecast: three quarters and more of the starts lie in the intervals of 80%") {
  // Workloads that were looked at while run times were made what they are: whatever makes intervals worse shows. What others give
  // stands in tools/forecast/README.md. Starts of one run hang together, so that single runs differ by much more than 5 points.
  int inside = 0, all = 0;
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=12,p100=12,k80=12");
  settings.clock = Clock::Parse("event");
  const std::shared_ptr<const ScenarioSource> source = MakeWorkload("synthetic(jobs=600,requests=1:5)", settings);
  for (std::uint64_t seed = 101; seed <= 112; ++seed) {
    const Scenario scenario = source->Make(seed, Split::kEvaluate, 0, 0);
    const SimulatedPast past(scenario, "easy");
    for (const PastMoment& moment : past.At(past.Times(8))) {
      for (const StartForecast& forecast : Forecasts(moment.moment, "easy")) {
        const double actual = past.starts().Next(moment.job[static_cast<std::size_t>(forecast.job)], moment.moment.now) - moment.moment.now;
        ++all;
        inside += actual >= forecast.low && actual <= forecast.high ? 1 : 0;
      }
    }
  }
  INFO(inside << " of " << all);
  CHECK(inside >= 0.75 * all);
  CHECK(inside <= 0.85 * all);
}

// Both were submitted in second 0. Job 2 was held until second 10, when it arrives; nobody's start is later for that.
TEST_CASE("forecast: a job that was held moves no other's start in the accounting") {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "slurm.conf") << "NodeName=v1 Gres=gpu:v100:4\nPartitionName=main Nodes=ALL\n";
  std::ofstream(folder / "sacct.txt") << "JobIDRaw|State|Submit|Eligible|Start|End|ElapsedRaw|AllocTRES|NodeList|Partition\n"
                                         "1|COMPLETED|2026-03-01T12:00:00|2026-03-01T12:00:00|2026-03-01T12:00:01|2026-03-01T12:00:05|4|"
                                         "gres/gpu=1|v1|main\n"
                                         "2|COMPLETED|2026-03-01T12:00:00|2026-03-01T12:00:10|2026-03-01T12:00:12|2026-03-01T12:00:15|3|"
                                         "gres/gpu=1|v1|main\n";
  const RecordedPast past(FindFormat("sacct").read(folder / "sacct.txt", {}), folder / "sacct.txt");
  CHECK(past.starts().of_job.at(0) == std::vector<double>{1.0});
  CHECK(past.starts().of_job.at(1) == std::vector<double>{12.0});
}

TEST_CASE("forecast: an option that would do nothing is refused") {
  const test::TemporaryFolder folder;
  const auto refused = [&](const std::string& words, const std::string& expected) {
    test::CheckOneLine(test::Berth(folder, "forecast --workload 'synthetic(jobs=20)' " + words), expected);
  };
  refused("--moments 3", "--moments: expected --calibrate, and no --at");
  refused("--calibrate --at 600 --moments 3", "--moments: expected --calibrate, and no --at");
  refused("--calibrate --top 3", "--top: expected no --calibrate");
}

TEST_CASE("forecast: accounting that does not say where jobs ran is refused, since their GPUs would be free") {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "slurm.conf") << "NodeName=v1 Gres=gpu:v100:4\nPartitionName=main Nodes=ALL\n";
  const std::string head = "JobIDRaw|State|Submit|Start|End|ElapsedRaw|AllocTRES",
                    row = "1|COMPLETED|2026-03-01T12:00:00|2026-03-01T12:00:01|2026-03-01T12:00:05|4|gres/gpu=4";
  for (const auto& [header, line] : {std::pair(head, row), std::pair(Join(head, "|NodeList"), Join(row, "|"))}) {
    std::ofstream(folder / "sacct.txt") << header << "\n" << line << "\n";
    CHECK(test::Says(test::MessageOf([&] { RecordedPast(FindFormat("sacct").read(folder / "sacct.txt", {}), folder / "sacct.txt"); }),
                     "sacct.txt:2: column 'NodeList': expected the nodes that job 1 ran on, found none (sacct --format=NodeList,"));
  }
}

}  // namespace berth
