// Scenarios made from others, by hand.
#include "data/edit.hpp"

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/features/failures/failures.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/features/table.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/python.hpp"
#include "tests/runs.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tools/scenario_options.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::Berth;
using test::MessageOf;

// Four jobs on 8 a100 in nodes of 4 and 2 h100; a demand of two resources.
Scenario Sample() {
  ScenarioData data;
  data.cluster = ParseCluster("a100=8/4,h100=2");
  data.throughputs = {{"short", "long"}, {1, 2, 4}, {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, {}, {}};
  data.jobs.id = {10, 11, 12, 13};
  data.jobs.arrival = {0, 100, 200, 400};
  data.jobs.job_type = {0, 1, 0, 1};
  data.jobs.gang = {1, 4, 2, 1};
  data.jobs.total_steps = {100, 100, 300, 400};
  data.jobs.deadline = {1000, kNever, 250, 500};
  data.jobs.tenant = {0, 1, 1, 0};
  data.jobs.demand = {1, 10, 2, 20, 3, 30, 4, 40};
  data.tenants = {{"ann"}, {"bob"}};
  return Scenario(std::move(data));
}

const std::vector<std::int64_t>& Ids(const Scenario& scenario) {
  return scenario.data().jobs.id;
}

}  // namespace

TEST_CASE("edit: some of the jobs, with all that is theirs, from the first one's arrival") {
  const Scenario some = TakeJobs(Sample(), std::vector<int>{1, 3});
  const JobTable& jobs = some.data().jobs;
  CHECK(jobs.id == std::vector<std::int64_t>{11, 13});
  CHECK(jobs.arrival == std::vector<double>{0, 300});
  CHECK(jobs.deadline == std::vector<double>{kNever, 400});
  CHECK(jobs.demand == std::vector<double>{2, 20, 4, 40});
  CHECK(TakeJobs(Sample(), std::vector<int>{1, 2, 3}).Hash() == Slice(Sample(), 1, 4).Hash());
  CHECK(Ids(ArrivingIn(Sample(), 100, 400)) == std::vector<std::int64_t>{11, 12});
}

TEST_CASE("edit: of later jobs, outages, prices and times of day stay where they were") {
  ScenarioData data = Sample().data();
  data.jobs.arrival = {0, 100, 3600, 7210};
  data.jobs.deadline = {kNever, kNever, kNever, 9000};
  data.features = ParseFeatures(
      "failures(mtbf_h=0,events=50:90:node:a100/0|50:4000:gpu:a100/7:10|5000:6000.5:gpu:h100/1|9000:inf:node:a100/1);"
      "power(electricity_price=1:2:3,ambient_swing_c=1,hottest_h=0.5);services(pattern=diurnal,period_s=1000,begins_s=10)");
  const Scenario all(data);
  const Scenario some = Slice(all, 2, 4);
  const Features& features = some.data().features;
  CHECK(features.Find<FailureSettings>()->events == "0:400:gpu:a100/7:10|1400:2400.5:gpu:h100/1|5400:inf:node:a100/1");
  CHECK(features.Find<PowerSettings>()->electricity_price == std::vector<double>{1, 2, 3});
  CHECK(features.Find<PowerSettings>()->hottest_h == 0.5);
  CHECK(features.Find<PowerSettings>()->begins_s == 3600);
  CHECK(features.Find<ServiceSettings>()->begins_s == 610);
  CHECK(TakeJobs(all, std::vector<int>{2, 3}).Hash() == some.Hash());
  CHECK(ToString(Slice(all, 0, 2).data().features) == ToString(data.features));
  CHECK(ToString(ShuffleArrivals(all, 1).data().features) == ToString(data.features));
  // 7 is down from the start, and back 400 s later.
  CHECK(PlannedOutages(*features.Find<FailureSettings>(), some.data())[0].down == 0.0);
}

// Hour 2 begins 1,799 s after the later job comes, at 5,401 s, in the whole log and without the job before it. At 360 W a run of 1,790 s
// from then on is free; one of 2,990 s costs 100 x 0.36 x 1,191 / 3,600. Who waits for a cheap hour 2 begins when it does.
TEST_CASE("edit: later jobs pay the prices of their second") {
  const auto priced = [](double run, const std::string& prices) {
    ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 100}, {5401, run}});
    data.cluster.types[0].peak_power_w = 360.0;
    data.jobs.deadline = {kNever, 20000};
    data.features = ParseFeatures(Join("power(electricity_price=", prices, ")"));
    const Scenario all(data);
    return std::pair(all, Slice(all, 1, 2));
  };
  for (const auto& [run, cost] : {std::pair(1790.0, 0.0), {2990.0, 11.91}}) {
    const auto [all, some] = priced(run, "0:0:100:0");
    CHECK(test::RunOf("fcfs", all).metrics.cost == Approx(cost));
    CHECK(test::RunOf("fcfs", some).metrics.cost == Approx(cost));
  }
  const auto [all, some] = priced(600, "5:5:1:5");
  CHECK(test::RunOf("cheap_hours(margin=0)", all).jct_s[1] == Approx(2399.0));
  CHECK(test::RunOf("cheap_hours(margin=0)", some).jct_s[0] == Approx(2399.0));
  const PowerSettings& later = *some.data().features.Find<PowerSettings>();
  CHECK(later.NextChange(0.0) == 1799.0);
  CHECK(later.NextChange(1799.0) == 5399.0);
}

// However the start of the hour is rounded by the clock: the price has changed then.
TEST_CASE("edit: prices change when they are said to") {
  PowerSettings settings;
  settings.electricity_price = {1.0, 2.0};
  for (const double begins : {0.1, 1.0 / 3.0, 1234.56789, 1e6 + 0.7}) {
    settings.begins_s = begins;
    double now = 0.0;
    for (int change = 0; change < 1000; ++change) {
      const double next = settings.NextChange(now);
      REQUIRE(next > now);
      REQUIRE(settings.PriceAt(next) != settings.PriceAt(now));
      now = next;
    }
    CHECK(now == Approx(3.6e6).margin(3600.0));
  }
}

TEST_CASE("edit: slices of a GPU come with it", "[cli]") {
  const test::TemporaryFolder folder;
  REQUIRE(Berth(folder, "generate --cluster h100=4 --workload 'synthetic(table=modern,jobs=5)' --features "
                        "partitions --out a.h5")
              .code == 0);
  const Scenario before = ReadScenario(folder / "a.h5"), after = AddGpus(before, "h100=2");
  for (std::size_t g = 0; g < before.data().cluster.types.size(); ++g)
    CHECK(after.data().cluster.types[g].count * 4 == before.data().cluster.types[g].count * 6);
  REQUIRE(before.data().cluster.types.size() > 1);
  CHECK_THAT(MessageOf([&] { AddGpus(before, "h100.1g.10gb=7"); }), Contains("a type that is there"));
  const Scenario five = AddGpus(before, "h100=1"), three = ScaleCluster(five, 0.55);
  CHECK(three.data().cluster.types[0].count == 3);
  CHECK(Berth(folder, "convert --format berth a.h5 --add h100=2 --cut 0:1e9 --out b.h5").code == 0);
  CHECK_THAT(Berth(folder, "convert --format berth a.h5 --add h100 --out b.h5").error,
             Contains("--add: expected TYPE=COUNT, found 'h100'"));
  CHECK_THAT(Berth(folder, "convert --format berth a.h5 --cut 5:2.5 --out b.h5").error,
             Contains("--cut: expected seconds A:B with A < B, found '5:2.5'"));
}

TEST_CASE("edit: jobs by conditions") {
  const std::pair<const char*, std::vector<std::int64_t>> cases[] = {
      {"gpus<=2", {10, 12, 13}},
      {"gpus>1,gpus<4", {12}},
      {"type=long", {11, 13}},
      {"type!=long,gpus>=2", {12}},
      {"tenant=bob", {11, 12}},
      {"arrival>=100,arrival!=200", {11, 13}},
      {"weight=1", {10, 11, 12, 13}},
      {"duration<100", {10}},  // on h100 at 2 steps/s; 11 finds 4 on a100
                               // alone
      {"duration=100", {11}}};
  for (const auto& [conditions, ids] : cases) {
    CAPTURE(conditions);
    CHECK(Ids(FilterJobs(Sample(), conditions)) == ids);
  }
  CHECK_THAT(MessageOf([] { FilterJobs(Sample(), "gpu<=2"); }), Contains("did you mean 'gpus'"));
  CHECK_THAT(MessageOf([] { FilterJobs(Sample(), "gpus"); }), Contains("expected FIELD<=VALUE"));
  CHECK_THAT(MessageOf([] { FilterJobs(Sample(), "gpus!2"); }), Contains("expected FIELD<=VALUE"));
  CHECK_THAT(MessageOf([] { FilterJobs(Sample(), "type<x"); }), Contains("type: expected = or !="));
  CHECK(Ids(FilterJobs(Sample(), "gpus <= 2, type = long")) == std::vector<std::int64_t>{13});
  CHECK_THAT(MessageOf([] { FilterJobs(Sample(), "type!=lang"); }),
             Contains("type: the scenario has no 'lang' (did you mean 'long'?)"));
  CHECK_THAT(MessageOf([] { FilterJobs(Sample(), ""); }), Contains("expected conditions such as"));
  CHECK_THAT(MessageOf([] { FilterJobs(Sample(), "gpus>8"); }),
             Contains("expected some of the 4 jobs, found none"));
}

TEST_CASE("edit: load and cluster") {
  const Scenario twice = ScaleLoad(Sample(), 2.0);
  CHECK(twice.data().jobs.arrival == std::vector<double>{0, 50, 100, 200});
  CHECK(twice.data().jobs.deadline ==
        std::vector<double>{1000, kNever, 150, 300});  // 50 and 100 s later, as before
  CHECK(ClusterText(ScaleCluster(Sample(), 1.6).data().cluster) == "a100=12/4,h100=3");
  CHECK(ClusterText(ScaleCluster(AddGpus(Sample(), "a100=1"), 1.0).data().cluster) ==
        "a100=9/4,h100=2");  // a node in part
  CHECK(ClusterText(ScaleCluster(Sample(), 0.5).data().cluster) == "a100=4/4,h100=1");
  CHECK(ClusterText(ScaleCluster(Sample(), 0.01).data().cluster) == "a100=4/4,h100=1");
  CHECK(ClusterText(AddGpus(Sample(), "h100=6").data().cluster) == "a100=8/4,h100=8");
  CHECK_THAT(MessageOf([] { AddGpus(Sample(), "b200=6"); }),
             Contains("expected TYPE=COUNT of a type that is there"));
  CHECK_THAT(MessageOf([] { AddGpus(Sample(), ""); }), Contains("expected TYPE=COUNT"));
  CHECK_THAT(MessageOf([] { AddGpus(Sample(), "h100=0"); }), Contains("h100: expected 1 to"));
}

TEST_CASE("edit: arrivals in another order") {
  const Scenario shuffled = ShuffleArrivals(Sample(), 3);
  const JobTable &jobs = shuffled.data().jobs, before = Sample().data().jobs;
  CHECK(jobs.arrival == before.arrival);
  CHECK(jobs.id != before.id);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto was = static_cast<std::size_t>(jobs.id[i] - 10);
    CHECK(jobs.gang[i] == before.gang[was]);
    CHECK(jobs.demand[2 * i + 1] == before.demand[2 * was + 1]);
    CHECK(jobs.deadline[i] - jobs.arrival[i] == before.deadline[was] - before.arrival[was]);
  }
  CHECK(ShuffleArrivals(Sample(), 3).Hash() == shuffled.Hash());
  CHECK(ShuffleArrivals(Sample(), 4).Hash() != shuffled.Hash());
}

TEST_CASE("edit: convert changes a scenario", "[cli]") {
  const test::TemporaryFolder folder;
  WriteScenario(Sample(), folder / "a.h5");
  CHECK_THAT(Berth(folder, "convert --format berth a.h5 --out same.h5").out, Contains("4 jobs"));
  CHECK(ReadScenario(folder / "same.h5").Hash() == Sample().Hash());
  const auto made = Berth(
      folder,
      "convert --format berth a.h5 --jobs 1:4 --cut 0:300 --filter 'gpus<=4' --scale-cluster 2 --add h100=1 "
      "--scale-load 4 --clock event --out b.h5");
  CHECK(made.code == 0);
  CHECK(made.out.find("scale-cluster: ") == std::string::npos);  // twice is twice
  const Scenario b = ReadScenario(folder / "b.h5");
  CHECK(Ids(b) == std::vector<std::int64_t>{11, 12});
  CHECK(b.data().jobs.arrival == std::vector<double>{0, 25});
  CHECK(ClusterText(b.data().cluster) == "a100=16/4,h100=5");
  CHECK(b.data().provenance ==
        "changed by convert --jobs 1:4 --cut 0:300 --filter gpus<=4 --scale-cluster 2 --add h100=1 "
        "--scale-load 4");
  CHECK_THAT(Berth(folder, "convert --format berth b.h5 --scale-cluster 1.6 --out d.h5").out,
             Contains("scale-cluster: whole nodes do not make 1.6 times: a100 16 -> 24 (x1.50)"));
  // 1.1 x 200 is not quite 220 in binary.
  ScenarioData large = Sample().data();
  large.cluster = ParseCluster("a100=200/4,h100=10");
  WriteScenario(Scenario(large), folder / "e.h5");
  const auto exact = Berth(folder, "convert --format berth e.h5 --scale-cluster 1.1 --out f.h5");
  CHECK(ClusterText(ReadScenario(folder / "f.h5").data().cluster) == "a100=220/4,h100=11");
  CHECK(exact.out.find("scale-cluster: ") == std::string::npos);
  CHECK_THAT(ReadScenario(folder / "d.h5").data().provenance,
             Contains("--scale-load 4; changed by convert --scale-cluster 1.6"));
  CheckOneLine(Berth(folder, "convert --format berth a.h5 --jobs 0:9 --out c.h5"),
               "--jobs: expected a range within the 4 jobs");
  CheckOneLine(Berth(folder, "convert --format berth a.h5 --filter gpus --out c.h5"),
               "--filter: expected FIELD<=VALUE");
  CheckOneLine(Berth(folder, "convert --format berth a.h5 --scale-load 0 --out c.h5"), "--scale-load: ");
  CheckOneLine(Berth(folder, "convert --format berth a.h5 --out a.h5"),
               "--out: expected another file than trace");
}

TEST_CASE("edit: --features adds to those of a file, unless it begins with none", "[cli]") {
  const test::TemporaryFolder folder;
  ScenarioData data = Sample().data();
  data.features = ParseFeatures("stages(after=11>10);failures(mtbf_h=0,events=50:90:node:a100/0)");
  WriteScenario(Scenario(data), folder / "a.h5");
  const auto features = [&](const std::string& given) {
    const auto done = Berth(folder, Join("convert --format berth a.h5 --features '", given, "' --out b.h5"));
    CAPTURE(done.out);
    REQUIRE(done.code == 0);
    return ToString(ReadScenario(folder / "b.h5").data().features);
  };
  CHECK(features("monitoring") ==
        ToString(ParseFeatures("stages(after=11>10);failures(mtbf_h=0,events=50:90:node:a100/0);monitoring")));
  CHECK(features("failures(mtbf_h=7)") == ToString(ParseFeatures("stages(after=11>10);failures(mtbf_h=7)")));
  CHECK(features("none;monitoring") == ToString(ParseFeatures("monitoring")));
  CHECK(features("none") == "");
  // Its slices would be GPUs beside those that they are of.
  REQUIRE(Berth(folder, "generate --cluster a100=2 --workload 'synthetic(table=modern,jobs=5)' --features partitions --out m.h5").code == 0);
  CheckOneLine(Berth(folder, "convert --format berth m.h5 --features none --out b.h5"), "expected partitions as in the scenario");
  CHECK(Berth(folder, "convert --format berth m.h5 --features monitoring --out b.h5").code == 0);
}

TEST_CASE("edit: a file that h5py changed is accepted once all of it was checked", "[cli]") {
  const test::TemporaryFolder folder;
  WriteScenario(Sample(), folder / "a.h5");
  const std::string python = test::Python(BERTH_SOURCE_DIR, "h5py");
  if (python.empty()) return test::Skip("needs .venv with h5py: tools/setup");
  const auto h5py = [&](const std::string& code) {
    const std::string program =
        Join("import h5py; f = h5py.File('", folder / "a.h5", "', 'r+'); ", code, "; f.close()");
    return std::system(Join("'", python, "' -c \"", program, "\"").c_str()) == 0;
  };
  REQUIRE(h5py("f['jobs/arrival'][1] = 150.0; f.attrs['name'] = 'mine'"));
  CheckOneLine(Berth(folder, "simulate --scenario a.h5"), "; berth inspect --rehash accepts it");
  const auto accepted = Berth(folder, "inspect a.h5 --rehash");
  CHECK(accepted.code == 0);
  CHECK(accepted.out.find("a.h5: all of it was checked; accepted") != std::string::npos);
  CHECK(ReadScenario(folder / "a.h5").data().jobs.arrival[1] == 150.0);
  CHECK(ReadScenario(folder / "a.h5").data().name == "mine");
  REQUIRE(h5py("del f['cluster/bandwidth_gb_s']"));  // as files of before there was such a figure
  CHECK(Berth(folder, "inspect a.h5 --rehash").code == 0);
  CHECK(ReadScenario(folder / "a.h5").data().cluster.types[0].bandwidth_gb_s == 0.0);
  CHECK(ReadScenario(folder / "a.h5").data().cluster.types[0].memory_gb == 80.0);
  REQUIRE(h5py("del f.attrs['content_hash']"));  // as who copies all of it into a new file may
  CheckOneLine(Berth(folder, "simulate --scenario a.h5"), "expected attribute 'content_hash', found none");
  CHECK(Berth(folder, "inspect a.h5 --rehash").code == 0);
  REQUIRE(h5py("f['jobs/weigth'] = [1.0, 2.0, 3.0, 4.0]"));
  CheckOneLine(Berth(folder, "inspect a.h5 --rehash"), "a scenario has no dataset 'jobs/weigth'");
  REQUIRE(h5py("del f['jobs/weigth']; f.attrs['ckeckpoint_s'] = 60.0"));
  CheckOneLine(Berth(folder, "inspect a.h5 --rehash"),
               "a scenario has no attribute 'ckeckpoint_s' (did you mean 'checkpoint_s'?)");
  REQUIRE(
      h5py("del f.attrs['ckeckpoint_s']; f.move('jobs/arrival', 'x'); f['jobs/arrival'] = "
           "f['x'][:].astype('f4')"));
  CheckOneLine(Berth(folder, "inspect a.h5 --rehash"),
               "dataset 'jobs/arrival': expected values of type float64, found float32");
  REQUIRE(h5py("del f['jobs/arrival']; f.move('x', 'jobs/arrival'); f['jobs/arrival'][1] = 900.0"));
  CheckOneLine(Berth(folder, "inspect a.h5 --rehash"), "arrival");
  CheckOneLine(Berth(folder, "simulate --scenario a.h5"),
               "the content does not match its hash");  // left as it was
}

}  // namespace berth
