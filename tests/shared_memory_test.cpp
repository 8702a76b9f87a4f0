// What jobs on one GPU do to each other's memory: no more of it than there is, and no more of its bandwidth
// (features sharing and partitions, packing in pairs), by hand.
#include "env/base/index.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/features/table.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

// A job of each entry, of a type of its own with that memory and bandwidth, holding so many thousandths.
struct Job {
  int milli;
  double memory_gb, bandwidth;
  Qos qos = Qos::kBurstable;
};

ScenarioData On(double gpu_gb, int gpus, const std::vector<Job>& jobs,
                const std::string& features = "sharing") {
  std::vector<test::TinyJob> tiny;
  std::vector<std::vector<double>> rates;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    tiny.push_back({0.0, 100.0, static_cast<int>(j)});
    rates.push_back({1.0});
  }
  ScenarioData data = test::TinyData({{"a", gpus}}, rates, tiny);
  data.cluster.types[0].memory_gb = gpu_gb;
  for (const Job& job : jobs) {
    data.jobs.gpu_milli.push_back(job.milli);
    data.jobs.qos.push_back(static_cast<int>(job.qos));
    data.traits.memory_gb.push_back(job.memory_gb);
    data.traits.bandwidth.push_back(job.bandwidth);
  }
  data.features = ParseFeatures(features);
  return data;
}

Rule Start(Simulator& sim, int job, const std::vector<int>& devices = {}) {
  Decision decision;
  decision.Start(job, 0, devices);
  const ApplyResult applied = sim.Apply(decision);
  REQUIRE(CheckInvariants(sim) == "");
  return applied.rule;
}

double Rate(const Simulator& sim, int job) {
  return sim.state().rate[U(job)];
}

}  // namespace

TEST_CASE("shared memory: a part goes where the memory suffices, named or not, and nowhere else") {
  // 40 GB a GPU: 30 and 20 do not fit together, 30 and 10 do.
  Simulator sim(Scenario(On(40.0, 2, {{300, 30, 0}, {300, 20, 0}, {300, 10, 0}, {300, 25, 0}})));
  REQUIRE(sim.AdvanceToDecision());
  REQUIRE(Start(sim, 0) == Rule::kNone);
  CHECK(Start(sim, 1, {0}) == Rule::kDeviceBusy);
  REQUIRE(Start(sim, 1) == Rule::kNone);
  CHECK(sim.state().Devices(1).front() == 1);
  REQUIRE(Start(sim, 2) == Rule::kNone);  // both have 700 thousandths left, and room for it
  CHECK(sim.state().Devices(2).front() == 0);
  CHECK(FreeMemoryGb(sim.View(Knowledge::kNone), 0) == 0.0);
  CHECK(FreeMemoryGb(sim.View(Knowledge::kNone), 1) == 20.0);
  CHECK(Start(sim, 3) == Rule::kNoRoom);
  // One that leaves makes room for one that comes, in one decision.
  Decision decision;
  decision.Start(3, 0), decision.Stop(1);
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(CheckInvariants(sim) == "");
  CHECK(sim.state().Devices(3).front() == 1);
}

TEST_CASE("shared memory: two in one decision do not both get what one of them fills") {
  Simulator sim(Scenario(On(40.0, 1, {{300, 30, 0}, {300, 20, 0}})));
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0), decision.Start(1, 0);
  CHECK(sim.Apply(decision).rule == Rule::kNoRoom);
}

TEST_CASE("shared memory: where nothing is stated nothing is limited, and what never fits is refused") {
  Simulator sim(Scenario(On(0.0, 1, {{300, 30, 0}, {300, 20, 0}})));
  REQUIRE(sim.AdvanceToDecision());
  CHECK(Start(sim, 0) == Rule::kNone);
  CHECK(Start(sim, 1) == Rule::kNone);
  CHECK(FreeMemoryGb(sim.View(Knowledge::kNone), 0) == kNever);
  CHECK(test::Says(test::ErrorOf(On(40.0, 1, {{300, 41, 0}})), "more memory than the GPUs"));
  CHECK(test::ErrorOf(On(40.0, 1, {{1000, 41, 0}})).empty());  // a whole GPU: its rate was measured
}

TEST_CASE("shared memory: bandwidth is divided max-min fairly among those who ask for it") {
  // At most 0.5 of the compute each, so half of the rate, ask for 0.45 + 0.3 = 0.75: there is enough. Where a
  // half suffices for the full rate 0.9 and 0.6 are asked: 0.5 each, of which the first runs at 0.5 / 0.9.
  const auto rates = [](const std::vector<Job>& jobs, const char* features) {
    Simulator sim(Scenario(On(0.0, 1, jobs, features)));
    REQUIRE(sim.AdvanceToDecision());
    std::vector<double> found;
    for (int job = 0; job < static_cast<int>(jobs.size()); ++job) REQUIRE(Start(sim, job) == Rule::kNone);
    for (int job = 0; job < static_cast<int>(jobs.size()); ++job) found.push_back(Rate(sim, job));
    return found;
  };
  const char* const full = "sharing(interference=0,share_suffices=true)";
  CHECK(rates({{500, 0, 0.9}, {500, 0, 0.6}}, "sharing(interference=0)") == std::vector<double>{0.5, 0.5});
  CHECK(rates({{500, 0, 0.9}}, full) == std::vector<double>{1.0});  // alone it has the bandwidth to itself
  const std::vector<double> both = rates({{500, 0, 0.9}, {500, 0, 0.6}}, full);
  CHECK(both[0] == Approx(0.5 / 0.9).epsilon(1e-14));
  CHECK(both[1] == Approx(0.5 / 0.6).epsilon(1e-14));
  // Who asks for little has it, and the others share the rest: 0.2 of 0.2, then 0.4 of 0.8 and of 0.5.
  const std::vector<double> three = rates({{250, 0, 0.8}, {250, 0, 0.2}, {250, 0, 0.5}}, full);
  CHECK(three[0] == Approx(0.5).epsilon(1e-14));
  CHECK(three[1] == 1.0);
  CHECK(three[2] == Approx(0.8).epsilon(1e-14));
  // Who uses none is not slowed, of whatever class; nor is a promise of compute one of bandwidth.
  CHECK(rates({{250, 0, 0.0, Qos::kGuaranteed}, {250, 0, 1.0}, {250, 0, 1.0, Qos::kGuaranteed}}, full) ==
        std::vector<double>{1.0, 0.5, 0.5});
  // Best effort has a quarter of the compute each beside a guaranteed half: 0.25 x 1 each, 0.5 x 1: just
  // enough.
  CHECK(
      rates(
          {{500, 0, 1.0, Qos::kGuaranteed}, {250, 0, 1.0, Qos::kBestEffort}, {250, 0, 1.0, Qos::kBestEffort}},
          "sharing(interference=0)") == std::vector<double>{0.5, 0.25, 0.25});
}

TEST_CASE("shared memory: pairs that do not fit or are guaranteed their GPU are no pairs") {
  const auto rate = [](double gpu_gb, std::vector<Job> jobs, const char* features) {
    ScenarioData data = On(gpu_gb, 1, jobs, features);
    data.throughputs.pairs.assign(8, 0.6);
    return Scenario(data).PairRate(0, 1, 0);
  };
  CHECK(rate(40.0, {{1000, 20, 0}, {1000, 20, 0}}, "") == 0.6);
  CHECK(rate(40.0, {{1000, 20, 0}, {1000, 21, 0}}, "") == 0.0);
  CHECK(rate(0.0, {{1000, 20, 0}, {1000, 21, 0}}, "") == 0.6);
  CHECK(rate(0.0, {{1000, 0, 0}, {1000, 0, 0}}, "sharing") == 0.6);
  CHECK(rate(0.0, {{1000, 0, 0}, {1000, 0, 0, Qos::kGuaranteed}}, "sharing") == 0.0);
}

TEST_CASE("shared memory: a slice has its part of the bandwidth") {
  // A100 40 GB: 3g.20gb has 3 of 7 compute slices and 4 of 8 memory slices. A job that can use 2/7 of the
  // compute and 0.8 of the bandwidth runs there at 0.5 / 0.8 of its rate; one that uses half of the bandwidth
  // at all of it; one of 3/7 of the compute that the slice gives in full, but 0.6 of the bandwidth, at 0.5 /
  // 0.6.
  const auto rate = [](double utilization, double bandwidth) {
    ScenarioData data = test::TinyData({{"a100", 1}}, {{1.0}}, {{0, 100}});
    data.cluster.types[0].memory_gb = 40.0;
    data.traits.utilization = {utilization};
    data.traits.bandwidth = {bandwidth};
    data.features = ParseFeatures("partitions(layout=3g.20gb+3g.20gb)");
    const Scenario scenario(data);
    for (int g = 0; g < scenario.num_types(); ++g) {
      if (scenario.data().cluster.types[U(g)].name == "a100.3g.20gb") return scenario.Rate(0, g);
    }
    return -1.0;
  };
  CHECK(rate(2.0 / 7.0, 0.8) == Approx(0.625).epsilon(1e-14));
  CHECK(rate(2.0 / 7.0, 0.5) == 1.0);
  CHECK(rate(3.0 / 7.0, 0.6) == Approx(0.5 / 0.6).epsilon(1e-14));
  CHECK(rate(1.0, 0.6) == Approx(3.0 / 7.0).epsilon(1e-14));  // of two bottlenecks the narrower
}

TEST_CASE("shared memory: schedulers of parts heed it") {
  ScenarioData data = On(40.0, 2, {{300, 30, 0.5}, {300, 20, 0.5}, {300, 10, 0.5}, {300, 25, 0.5}});
  for (const char* spec :
       {"gpu_shares", "gpu_shares(fit=fgd)", "gpu_shares(fit=worst)", "fcfs", "srpt", "gandiva"}) {
    CAPTURE(spec);
    CHECK(test::RunAudited(spec, Scenario(data)).finished());
  }
  // Five of 9.6 GB fill 48 GB, to a rounding.
  const ScenarioData fifths = On(48.0, 1, std::vector<Job>(5, {200, 9.6, 0.0}));
  const std::vector<double> jct = test::RunOf("gpu_shares", Scenario(fifths)).jct_s;
  for (double seconds : jct) CHECK(seconds == jct[0]);
}

TEST_CASE("shared memory: what a step moves is another share of each GPU type's bandwidth") {
  // Job 0 moves 60 GB a step, so on a at 20 steps/s 1200 of 2000 GB/s (0.6), on b at 15 900 of 1000 (0.9);
  // job 1 moves 10 GB a step, on a at 100 steps/s 1000 (0.5), on b at 60 600 (0.6). Beside each other, where
  // a half of the compute suffices: on a 0.5 is no more than an equal part and is had in full, which leaves
  // 0.5 of 0.6, 20 x 5 / 6 steps/s; on b each has a half, 15 x 0.5 / 0.9 and 60 x 0.5 / 0.6. c states no
  // bandwidth, so the stated shares 0.7 and 0.1 count, and nobody is slowed.
  ScenarioData data = test::TinyData({{"a", 1}, {"b", 1}, {"c", 1}},
                                     {{20.0, 15.0, 10.0}, {100.0, 60.0, 50.0}}, {{0, 100, 0}, {0, 100, 1}});
  data.cluster.types[0].bandwidth_gb_s = 2000.0, data.cluster.types[1].bandwidth_gb_s = 1000.0;
  data.traits.traffic_gb = {60.0, 10.0}, data.traits.bandwidth = {0.7, 0.1};
  data.jobs.gpu_milli = {500, 500}, data.jobs.qos = {1, 1};
  data.features = ParseFeatures("sharing(interference=0,share_suffices=true)");
  const Scenario scenario(data);
  CHECK((scenario.BandwidthShare(0, 0) == 0.6 && scenario.BandwidthShare(0, 1) == 0.9));
  CHECK((scenario.BandwidthShare(1, 0) == 0.5 && scenario.BandwidthShare(1, 2) == 0.1));
  const auto rates = [&](int type) {
    Simulator sim(scenario);
    REQUIRE(sim.AdvanceToDecision());
    Decision decision;
    decision.Start(0, type), decision.Start(1, type);
    REQUIRE(sim.Apply(decision).ok());
    REQUIRE(CheckInvariants(sim) == "");
    return std::vector<double>{Rate(sim, 0), Rate(sim, 1)};
  };
  CHECK(rates(0)[0] == Approx(100.0 / 6.0).epsilon(1e-14));
  CHECK(rates(0)[1] == 100.0);
  CHECK(rates(1)[0] == Approx(7.5 / 0.9).epsilon(1e-14));
  CHECK(rates(1)[1] == Approx(50.0).epsilon(1e-14));
  CHECK(rates(2) == std::vector<double>{10.0, 50.0});
  // A type that states no traffic uses its share; a gang's GPUs share what its steps move.
  data.traits.traffic_gb = {60.0, 0.0};
  data.jobs.gang = {4, 1}, data.jobs.gpu_milli = {1000, 500}, data.cluster.types[0].count = 4;
  CHECK(Scenario(data).BandwidthShare(0, 0) == 0.15);
  CHECK(Scenario(data).BandwidthShare(1, 0) == 0.1);
}

TEST_CASE("shared memory: a slice has its part of the bandwidth in GB/s") {
  // 80 GB a step at 20 steps/s are 1600 of 2000 GB/s; 3g.20gb has 4 of 8 memory slices, 1000 GB/s, so it runs
  // at 20 x 0.5 / 0.8 there, and then uses all of them. Rounded: 12.5 x 80 = 1000 exactly.
  ScenarioData data = test::TinyData({{"a100", 1}}, {{20.0}}, {{0, 100}});
  data.cluster.types[0].memory_gb = 40.0, data.cluster.types[0].bandwidth_gb_s = 2000.0;
  data.traits.utilization = {2.0 / 7.0}, data.traits.traffic_gb = {80.0};
  data.features = ParseFeatures("partitions(layout=3g.20gb+3g.20gb)");
  const Scenario scenario(data);
  int slice = 0;
  while (scenario.data().cluster.types[U(slice)].name != "a100.3g.20gb")
    REQUIRE(++slice < scenario.num_types());
  CHECK(scenario.data().cluster.types[U(slice)].bandwidth_gb_s == 1000.0);
  CHECK(scenario.Rate(0, slice) == Approx(12.5).epsilon(1e-14));
  CHECK(scenario.BandwidthShare(0, 0) == 0.8);
  CHECK(scenario.BandwidthShare(0, slice) == Approx(1.0).epsilon(1e-14));
  CHECK(Scenario(scenario.data()).Hash() == scenario.Hash());  // its own slices are no contradiction
}

TEST_CASE("shared memory: a step that moves more than there is bandwidth for contradicts its speed") {
  ScenarioData data = test::TinyData({{"a", 1}, {"b", 1}}, {{20.0, 15.0}}, {{0, 100}});
  data.cluster.types[0].bandwidth_gb_s = 2000.0, data.cluster.types[1].bandwidth_gb_s = 1200.0;
  data.traits.traffic_gb = {80.0};  // 1600 of 2000 GB/s, 1200 of 1200
  CHECK(test::ErrorOf(data).empty());
  data.traits.traffic_gb = {100.0};
  CHECK(test::Says(test::ErrorOf(data),
                   "job type 'job0' on b: traffic_gb 100 at 15 steps/s: expected at most "
                   "the bandwidth_gb_s 1200, found 1500 GB/s"));
  data.cluster.types[1].bandwidth_gb_s = 0.0;  // not stated: nothing to contradict
  CHECK(test::ErrorOf(data).empty());
  data.traits.traffic_gb = {-1.0};
  CHECK(test::Says(test::ErrorOf(data), "traffic_gb: expected a number >= 0"));
  data.traits.traffic_gb = {}, data.cluster.types[1].bandwidth_gb_s = -1.0;
  CHECK(test::Says(test::ErrorOf(data), "expected memory, bandwidth, power and price >= 0, found -1"));
}

TEST_CASE("shared memory: bandwidth is a share") {
  CHECK(test::Says(test::ErrorOf(On(40.0, 1, {{300, 30, 1.5}})), "bandwidth: expected a share"));
}

TEST_CASE("partitions: a type of one's own has the profiles of the product that it is like") {
  ScenarioData data = test::TinyData({{"mine", 1}}, {{1.0}}, {{0, 100}});
  data.features = ParseFeatures("partitions(like=mine:a100-80gb,layout=3g.40gb+3g.40gb)");
  const Scenario scenario(data);
  double best = 0.0;
  for (int g = 0; g < scenario.num_types(); ++g) {
    if (scenario.data().cluster.types[U(g)].name == "mine.3g.40gb") best = scenario.Rate(0, g);
  }
  CHECK(best == Approx(3.0 / 7.0).epsilon(1e-14));
  data.features = ParseFeatures("partitions(like=mine:a100-81gb)");
  CHECK(test::Says(test::ErrorOf(data), "did you mean 'a100-80gb'"));
  for (const char* wrong : {"partitions(like=mine)", "partitions(like=yours:h100-80gb)",
                            "partitions(like=mine:a100-80gb+mine:h100-80gb)"}) {
    CAPTURE(wrong);
    data.features = ParseFeatures(wrong);
    CHECK(test::Says(test::ErrorOf(data), "like: "));
  }
  data.features = ParseFeatures("partitions(like=mine)");
  CHECK(test::Says(test::ErrorOf(data), "expected TYPE:PRODUCT"));
  data.features = ParseFeatures("partitions");
  CHECK(test::Says(test::ErrorOf(data), "no GPU type that can be partitioned"));
}

}  // namespace berth
