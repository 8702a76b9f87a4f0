// Feature partitions: the vendor's layouts counted by hand and by exhaustive search, changes of layout by
// hand and at random under both checkers; the schedulers of baselines/partitioning/.
#include <algorithm>
#include <functional>
#include <set>

#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/features/table.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/physical_gpus.hpp"
#include "env/sim/simulator.hpp"
#include "tests/audit.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::ErrorOf;

const MigProduct& ProductNamed(const std::string& name) {
  for (const MigProduct& product : MigProducts()) {
    if (product.name == name) return product;
  }
  FAIL("no product " << name);
  return MigProducts()[0];
}

// `gpus` A100s of 80 GB; job type t can use utilization[t] of one and makes 1 step/s on the whole.
ScenarioData Data(int gpus, const std::vector<test::TinyJob>& jobs, const std::vector<double>& utilization,
                  const std::string& features, const std::string& clock = "event") {
  ScenarioData data =
      test::TinyData({{"a100", gpus}}, std::vector<std::vector<double>>(utilization.size(), {1.0}), jobs,
                     Clock::Parse(clock));
  data.cluster.types[0].memory_gb = 80.0;
  data.cluster.types[0].idle_power_w = 50.0;
  data.cluster.types[0].peak_power_w = 400.0;
  data.traits.utilization = utilization;
  data.features = ParseFeatures(features);
  return data;
}

int TypeNamed(const Scenario& scenario, const std::string& name) {
  for (int g = 0; g < scenario.num_types(); ++g) {
    if (scenario.data().cluster.types[U(g)].name == name) return g;
  }
  FAIL("no type " << name);
  return -1;
}

int LayoutNamed(const Simulator& sim, const std::string& text) {
  const PartitionGroup& group = sim.state().features.Find<PartitionState>()->groups[0];
  for (std::size_t l = 0; l < group.layouts.size(); ++l) {
    if (ToString(*group.product, group.layouts[l]) == text) return static_cast<int>(l);
  }
  FAIL("no layout " << text);
  return -1;
}

// Every set of (profile, start) that is legal and cannot be extended, by trying all sets.
std::set<std::set<std::pair<int, int>>> AllMaximal(const MigProduct& product) {
  std::vector<std::pair<int, int>> all;
  for (int p = 0; p < static_cast<int>(product.profiles.size()); ++p) {
    for (int s = 0; s < static_cast<int>(product.profiles[U(p)].starts.size()); ++s) all.emplace_back(p, s);
  }
  std::set<std::set<std::pair<int, int>>> found;
  const auto legal = [&](unsigned set) {
    int compute = 0;
    std::vector<int> slots(U(product.memory), 0);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((set >> i & 1U) == 0) continue;
      const MigProfile& profile = product.profiles[U(all[i].first)];
      compute += profile.compute;
      for (int m = 0; m < profile.memory; ++m) {
        const auto slot = U(profile.starts[U(all[i].second)] + m);
        if (slot >= slots.size() || ++slots[slot] > 1) return false;
      }
    }
    return compute <= product.compute;
  };
  for (unsigned set = 1; set < 1U << all.size(); ++set) {
    if (!legal(set)) continue;
    bool maximal = true;
    for (std::size_t i = 0; i < all.size() && maximal; ++i)
      maximal = (set >> i & 1U) != 0 || !legal(set | 1U << i);
    if (!maximal) continue;
    std::set<std::pair<int, int>> slices;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((set >> i & 1U) != 0) slices.insert(all[i]);
    }
    found.insert(slices);
  }
  return found;
}

}  // namespace

TEST_CASE("partitions: layouts are the vendor's, and all of them") {
  for (const MigProduct& product : MigProducts()) {
    INFO(product.name);
    const auto all = AllMaximal(product);
    const auto layouts = MaximalLayouts(product);
    CHECK(layouts.front().empty());
    CHECK(layouts.size() == all.size() + 1);
    for (std::size_t l = 1; l < layouts.size(); ++l) {
      std::set<std::pair<int, int>> slices;
      for (const MigSlice& slice : layouts[l]) slices.emplace(slice.profile, slice.start);
      CHECK(all.count(slices) == 1);
    }
  }
  // The guide's table of A100 instances (without the later 1g with double memory): 18 in slices, and whole;
  // MISO counts the same 18 (Li et al., SoCC 2022, Table 1). A30: 2+2, 2+1+1, 1+1+2, 1+1+1+1 and whole.
  for (const char* name : {"a100-40gb", "a100-80gb", "h100-80gb", "h200-141gb"}) {
    MigProduct product = ProductNamed(name);
    product.profiles.erase(product.profiles.begin() + 1);
    CHECK(MaximalLayouts(product).size() == 19);
  }
  CHECK(MaximalLayouts(ProductNamed("a30-24gb")).size() == 5);
}

TEST_CASE("partitions: types, rates and weights of slices by hand") {
  ScenarioData data = Data(2, {{0, 10}, {0, 10, 1}}, {1.0, 0.4}, "partitions(layout=3g.40gb+4g.40gb)");
  data.traits.memory_gb = {0.0, 30.0};
  data.throughputs.alone[0] = 7.0;  // job type 0, gang 1
  const Scenario scenario(data);
  CHECK(scenario.num_types() == 6);
  const int one = TypeNamed(scenario, "a100.1g.10gb"), four = TypeNamed(scenario, "a100.4g.40gb");
  CHECK(scenario.data().cluster.types[U(one)].count == 14);
  CHECK(scenario.data().cluster.types[U(four)].count == 2);
  CHECK(scenario.data().cluster.types[U(four)].peak_power_w == Approx(350.0 * 4 / 7));
  CHECK(scenario.Rate(0, one) == 1.0);   // 7 x 1/7
  CHECK(scenario.Rate(0, four) == 4.0);  // 7 x 4/7
  CHECK(scenario.Rate(1, one) == 0.0);   // 30 GB in 10
  CHECK(scenario.Rate(1, four) == 1.0);  // 4/7 is more than the 0.4 that it can use
  CHECK(WeightOf(scenario.data(), four).busy == Approx(4.0 / 7));
  CHECK(WeightOf(scenario.data(), 0).capacity == 1.0);
  const Simulator sim(scenario);
  CHECK(sim.state().types[0].count == 0);
  CHECK(sim.state().types[U(four)].count == 2);
  CHECK(sim.state().types[U(one)].count == 0);
  // Again, as from a file: nothing is added twice. Its own column is kept.
  ScenarioData again = scenario.data();
  again.throughputs.alone[U(four)] = 5.0;
  CHECK(Scenario(again).num_types() == 6);
  CHECK(Scenario(again).Rate(0, four) == 5.0);
}

TEST_CASE("partitions: a change waits for the GPU to be idle and takes its time") {
  // Job 0 runs whole over [0, 10). At 4 the GPU is told to become 3g + 3g: job 1, there since 4, may not
  // start; at 10 the change begins, 5 s later both halves are there. Job 1 can use 0.4, a half has 3/7: full
  // rate, over [15, 25).
  Simulator sim(
      Scenario(Data(1, {{0, 10}, {4, 10, 1}, {15, 20, 1}}, {1.0, 0.4}, "partitions(reconfig_s=5)")));
  const int layout = LayoutNamed(sim, "3g.40gb@0+3g.40gb@4");
  const int half = TypeNamed(sim.scenario(), "a100.3g.40gb");
  Auditor auditor;
  const auto decide = [&](double at, const std::function<void(Decision&)>& fill) {
    REQUIRE(sim.AdvanceToDecision());
    REQUIRE(sim.now() == at);
    REQUIRE(test::Observe(auditor, sim) == "");
    Decision decision;
    fill(decision);
    const ApplyResult applied = sim.Apply(decision);
    INFO(Explain(applied, decision, sim));
    REQUIRE(applied.ok());
    REQUIRE(test::Observe(auditor, sim) == "");
  };
  decide(0, [](Decision& d) { d.Start(0, 0); });
  decide(4, [&](Decision& d) { d.controls.push_back({kPartitionControl, 0, double(layout)}); });
  CHECK(sim.state().types[0].count == 0);
  decide(10, [](Decision&) {});
  CHECK(sim.state().features.Find<PartitionState>()->gpus[0].reconfiguring);
  decide(15, [&](Decision& d) { d.Start(1, half), d.Start(2, half); });
  CHECK(sim.state().types[U(half)].count == 2);
  decide(25, [](Decision&) {});
  CHECK_FALSE(sim.AdvanceToDecision());
  CHECK(sim.state().completion[1] == 25.0);
  CHECK(sim.state().completion[2] == 35.0);
  // Busy: the whole 10 s, 3/7 of it for 10 + 20 s; of one GPU over 35 s.
  CHECK(Measure(sim, {}).utilization == Approx((10.0 + 30.0 * 3 / 7) / 35.0));
  // Energy: 10 s at 400 W, 25 s idle at 50 W and 350 x 3/7 W for 30 s.
  CHECK(Measure(sim, {}).energy_kwh == Approx((4000.0 + 25 * 50.0 + 30 * 150.0) / 3.6e6));
}

TEST_CASE("partitions: what a control may not") {
  Simulator sim(Scenario(Data(2, {{0, 10}, {0, 10}}, {1.0}, "partitions(reconfig_s=5)")));
  REQUIRE(sim.AdvanceToDecision());
  const auto rule = [&](int gpu, double layout, bool start) {
    Simulator copy = sim;
    Decision decision;
    decision.controls.push_back({kPartitionControl, gpu, layout});
    if (start) decision.Start(0, 0, std::vector<int>{0});
    return copy.Apply(decision).rule;
  };
  CHECK(rule(0, 1, false) == Rule::kNone);
  CHECK(rule(2, 1, false) == Rule::kControl);
  CHECK(rule(0, 1000, false) == Rule::kControl);
  CHECK(rule(0, 1.5, false) == Rule::kControl);
  CHECK(rule(1, 1, true) == Rule::kNone);
  CHECK(rule(0, 1, true) == Rule::kDeviceBusy);  // its GPU is being taken away
  Decision both;  // one of the two GPUs is taken away, and two jobs want one each
  both.controls.push_back({kPartitionControl, 0, 1.0});
  both.Start(0, 0), both.Start(1, 0);
  CHECK(sim.Apply(both).rule == Rule::kNoRoom);
  Simulator fixed(Scenario(Data(1, {{0, 10}}, {1.0}, "partitions(fixed=true)")));
  REQUIRE(fixed.AdvanceToDecision());
  Decision decision;
  decision.controls.push_back({kPartitionControl, 0, 1.0});
  CHECK(fixed.Apply(decision).rule == Rule::kControl);
}

TEST_CASE("partitions: bad input is one clear line") {
  const auto error = [](const std::string& features, double memory = 0.0) {
    ScenarioData data = Data(1, {{0, 10}}, {1.0}, features);
    data.traits.memory_gb = {memory};
    return ErrorOf(data);
  };
  CHECK(error("partitions(layout=4g.40gb+4g.40gb)").find("does not fit on one a100-80gb") !=
        std::string::npos);
  CHECK(error("partitions(layout=3g.40gb+3g.40gb+1g.10gb)").find("does not fit") != std::string::npos);
  CHECK(error("partitions(layout=3g.40g)").find("did you mean '3g.40gb'") != std::string::npos);
  CHECK(error("partitions(type=v100)").find("the cluster has no 'v100'") != std::string::npos);
  CHECK(error("partitions(layout=1g.10gb,fixed=true)", 20.0).find("fits no slice of the fixed layout") !=
        std::string::npos);
  CHECK(error("partitions(layout=2g.20gb,fixed=true)", 20.0) == "");
  ScenarioData other = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 1}});
  other.features = ParseFeatures("partitions");
  CHECK(ErrorOf(other).find("no GPU type that can be partitioned") != std::string::npos);
}

TEST_CASE("partitions: books hold under random changes, with parts of slices too") {
  Stream random(17, Purpose::kTest);
  for (int trial = 0; trial < 8; ++trial) {
    std::vector<test::TinyJob> jobs;
    double at = 0.0;
    for (int j = 0; j < 30; ++j) {
      at += std::floor(random.Exponential(5.0));
      jobs.push_back(
          {at, 5.0 + random.Below(60), static_cast<int>(random.Below(2)), random.Below(8) == 0 ? 2 : 1});
    }
    const bool rounds = trial % 2 == 1, parts = trial % 4 >= 2;
    ScenarioData data = Data(2, jobs, {1.0, 0.3},
                             Join("partitions(reconfig_s=3,layout=3g.40gb+2g.20gb)", parts ? ";sharing" : "",
                                  rounds ? "" : ";failures(mtbf_h=2,repair_h=0.01)"),
                             rounds ? "rounds(7)" : "event");
    for (const test::TinyJob& job : jobs)
      data.jobs.gpu_milli.push_back(parts && job.gang == 1 ? 250 * (1 + static_cast<int>(random.Below(4)))
                                                           : 1000);
    Simulator sim{Scenario(data)};
    Auditor auditor;
    int decisions = 0, changes = 0;
    while (decisions < 4000 && sim.AdvanceToDecision()) {
      ++decisions;
      if (!rounds) REQUIRE(test::Observe(auditor, sim) == "");
      const bool wild = decisions < 300;  // then all GPUs are made whole, so that gangs get their turn too
      for (int attempt = 0; attempt < 12; ++attempt) {
        Decision decision;
        const auto pick = [&](const JobList& list) {
          return *(list.begin() + random.Below(static_cast<std::uint32_t>(list.size())));
        };
        const auto types = static_cast<std::uint32_t>(sim.scenario().num_types());
        const int type = wild && random.Below(2) == 0 ? static_cast<int>(random.Below(types)) : 0;
        if (sim.state().waiting.size() > 0) {
          int job = wild ? pick(sim.state().waiting) : *sim.state().waiting.begin();
          decision.Start(job, type);
        }
        if (wild && sim.state().running.size() > 0 && random.Below(20) == 0)
          decision.Stop(pick(sim.state().running));
        const auto layouts =
            static_cast<std::uint32_t>(sim.state().features.Find<PartitionState>()->groups[0].layouts.size());
        if (random.Below(wild ? 6 : 2) == 0) {
          if (random.Below(2) == 0) decision.Clear();  // beside a start or stop, and alone
          const double layout = wild ? random.Below(layouts) : 0.0;
          decision.controls.push_back({kPartitionControl, static_cast<int>(random.Below(2)), layout});
        }
        const bool ok = sim.Apply(decision).ok();
        changes += ok && !decision.controls.empty();
        REQUIRE(CheckInvariants(sim) == "");
      }
      if (!rounds) REQUIRE(test::Observe(auditor, sim) == "");
      CHECK(Measure(sim, {}).utilization <= 1.0 + 1e-9);
      if (sim.state().running.size() == 0 && sim.state().waiting.size() > 0) {  // so that it goes on
        Decision decision;
        decision.wake_at = sim.now() + 10.0;
        (void)sim.Apply(decision);
      }
    }
    CHECK(changes > 10);
    CHECK(sim.finished());
  }
}

TEST_CASE("mig: an idle GPU gets the layout in which the waiting jobs run fastest, by exhaustive search") {
  Stream random(23, Purpose::kTest);
  for (int trial = 0; trial < 15; ++trial) {
    std::vector<test::TinyJob> jobs;
    std::vector<double> utilization, memory;
    const int count = 1 + static_cast<int>(random.Below(5));
    for (int j = 0; j < count; ++j) {
      jobs.push_back({0, 50, j});
      utilization.push_back(0.1 * (1 + random.Below(10)));
      memory.push_back(5.0 * random.Below(10));
    }
    ScenarioData data = Data(1, jobs, utilization, "partitions");
    data.traits.memory_gb = memory;
    Simulator sim{Scenario(data)};
    REQUIRE(sim.AdvanceToDecision());
    // Every way to give jobs to slices, layout by layout.
    const PartitionGroup& group = sim.state().features.Find<PartitionState>()->groups[0];
    double best = 0.0, whole = 0.0;
    std::vector<double> value(group.layouts.size(), 0.0);
    for (std::size_t l = 0; l < group.layouts.size(); ++l) {
      std::vector<int> types;
      if (l == 0) types.push_back(group.type);
      for (const MigSlice& slice : group.layouts[l]) types.push_back(group.slice_type[U(slice.profile)]);
      const std::function<double(std::size_t, unsigned)> search = [&](std::size_t slice,
                                                                      unsigned used) -> double {
        if (slice == types.size()) return 0.0;
        double most = search(slice + 1, used);
        for (int j = 0; j < count; ++j) {
          if ((used >> j & 1U) != 0) continue;
          most = std::max(most, sim.scenario().Rate(j, types[slice]) + search(slice + 1, used | 1U << j));
        }
        return most;
      };
      value[l] = search(0, 0);  // every job's best rate is 1
      best = std::max(best, value[l]);
      if (l == 0) whole = value[l];
    }
    const SchedulerTable table = BaselineSchedulers();
    const auto scheduler = MakeScheduler("mig(gain=0)", std::span<const SchedulerTable>(&table, 1));
    const ClusterView view = sim.View(Knowledge::kNone);
    scheduler->Reset(view);
    Decision decision;
    scheduler->Decide(view, decision);
    CAPTURE(trial, best, whole);
    if (best <= whole + 1e-9) {
      CHECK(decision.controls.empty());
      CHECK(decision.commands.size() == 1);
    } else {
      REQUIRE(decision.controls.size() == 1);
      CHECK(value[static_cast<std::size_t>(decision.controls[0].value)] == Approx(best));
      CHECK(decision.commands.empty());
    }
    REQUIRE(sim.Apply(decision).ok());
  }
}

TEST_CASE("mig: three jobs that a whole GPU would idle under, by hand") {
  // Jobs that can use 2/7 run at full rate on a 2g. Whole: one after the other, 10 s each: 10, 20, 30. Under
  // mig: 4 s for the change to slices of which three have two sevenths or more, then all three: 14.
  const ScenarioData data = Data(1, {{0, 10}, {0, 10}, {0, 10}}, {2.0 / 7.0}, "partitions(reconfig_s=4)");
  const SchedulerTable table = BaselineSchedulers();
  for (const auto& [spec, last] : {std::pair{"mig", 14.0}, std::pair{"mig(repartition=false)", 30.0}}) {
    const auto scheduler = MakeScheduler(spec, std::span<const SchedulerTable>(&table, 1));
    const RunResult result = Run(Scenario(data), *scheduler, spec, {});
    CHECK(result.metrics.makespan_s == Approx(last));
  }
}

TEST_CASE("mig: a gang that comes to partitioned GPUs gets whole ones, by hand") {
  // Two GPUs in halves, a job of one GPU over [0, 10) on a half of the first (it can use 3/7), and a gang of
  // two that comes at 1: the second is made whole at once (4 s), the first from 10 to 14; it runs [14, 24). A
  // job that comes at 2 does not overtake it.
  ScenarioData data = Data(2, {{0, 10}, {1, 10, 1, 2}, {2, 5}}, {3.0 / 7.0, 1.0},
                           "partitions(layout=3g.40gb+3g.40gb,reconfig_s=4)");
  const SchedulerTable table = BaselineSchedulers();
  const auto scheduler = MakeScheduler("mig", std::span<const SchedulerTable>(&table, 1));
  const RunResult result = Run(Scenario(data), *scheduler, "mig", {});
  CHECK(result.jct_s[0] == Approx(10.0));
  CHECK(result.jct_s[1] == Approx(23.0));
  CHECK(result.jct_s[2] >= 24.0 - 2.0 + 5.0 - 1e-9);
}

TEST_CASE("gpu_shares: fits by hand, and fgd by the formula") {
  // Four GPUs with 1000, 500, 300 and 1000 left; 300 more are asked for.
  const auto device = [](const std::string& spec) {
    ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}}, {{0, 99}, {0, 99}, {1, 99}});
    data.jobs.gpu_milli = {500, 700, 300};
    data.features = ParseFeatures("sharing");
    Simulator sim{Scenario(data)};
    REQUIRE(sim.AdvanceToDecision());
    Decision decision;
    decision.Start(0, 0, std::vector<int>{1}), decision.Start(1, 0, std::vector<int>{2});
    REQUIRE(sim.Apply(decision).ok());
    const SchedulerTable table = BaselineSchedulers();
    const auto scheduler = MakeScheduler(spec, std::span<const SchedulerTable>(&table, 1));
    scheduler->Reset(sim.View(Knowledge::kNone));
    REQUIRE(sim.AdvanceToDecision());
    decision.Clear();
    scheduler->Decide(sim.View(Knowledge::kNone), decision);
    REQUIRE(sim.Apply(decision).ok());
    return sim.state().Devices(2).front();
  };
  CHECK(device("gpu_shares") == 2);
  CHECK(device("gpu_shares(fit=worst)") == 0);
  CHECK(device("gpu_shares(fit=first)") == 0);
  // Only the job of 300 has been seen: typical. GPU 1: 500 are usable before, after it 200 are not: 200. GPU
  // 2: nothing is left: 0. An idle one: 700 are left and usable: 0. The lowest-numbered of equals.
  CHECK(device("gpu_shares(fit=fgd)") == 0);
}

// Six GPUs, a node of four and one of two, and three gangs of four that have come and gone. 300 of a GPU of the first
// node would leave them 3 x 3700 that they cannot use, where all was usable. On the second they can use nothing anyway:
// 3 x 300 less is left of it.
TEST_CASE("gpu_shares: fgd looks at idle nodes of every size") {
  ScenarioData data =
      test::TinyData({{"a", 6}}, {{1.0}}, {{0, 10, 0, 4}, {20, 10, 0, 4}, {40, 10, 0, 4}, {60, 10}});
  data.cluster.types[0].gpus_per_node = 4;
  data.jobs.gpu_milli = {1000, 1000, 1000, 300};
  data.features = ParseFeatures("sharing");
  Simulator sim{Scenario(data)};
  const SchedulerTable table = BaselineSchedulers();
  const auto scheduler = MakeScheduler("gpu_shares(fit=fgd)", std::span<const SchedulerTable>(&table, 1));
  scheduler->Reset(sim.View(Knowledge::kNone));
  while (sim.state().phase[3] != JobPhase::kRunning) {
    REQUIRE(sim.AdvanceToDecision());
    Decision decision;
    scheduler->Decide(sim.View(Knowledge::kNone), decision);
    REQUIRE(sim.Apply(decision).ok());
  }
  CHECK(sim.state().Devices(3).front() == 4);
}

TEST_CASE("gpu_shares: the order of the queue") {
  // One GPU, on which any one of them runs alone: first the one that came first, or the shortest.
  const auto first = [](const std::string& spec) {
    ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 99}, {0, 5}, {0, 7}});
    data.jobs.gpu_milli = {1000, 600, 600};
    data.features = ParseFeatures("sharing");
    Simulator sim{Scenario(data)};
    const SchedulerTable table = BaselineSchedulers();
    const auto scheduler = MakeScheduler(spec, std::span<const SchedulerTable>(&table, 1));
    scheduler->Reset(sim.View(scheduler->knowledge()));
    REQUIRE(sim.AdvanceToDecision());
    Decision decision;
    scheduler->Decide(sim.View(scheduler->knowledge()), decision);
    REQUIRE(sim.Apply(decision).ok());
    return sim.state().running[0];
  };
  CHECK(first("gpu_shares") == 0);
  CHECK(first("gpu_shares(order=sjf)") == 1);
  // Once the longest runs: it is stopped for the shortest, beside which no other fits.
  {
    ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 99}, {1, 5}, {1, 7}});
    data.jobs.gpu_milli = {1000, 600, 600};
    data.features = ParseFeatures("sharing(share_suffices=true)");
    const RunResult result = test::RunOf("gpu_shares(order=sjf,preemptive=true,overtake=true)", Scenario(data));
    CHECK(result.jct_s == std::vector<double>{111.0, 5.0, 12.0});
  }
  const SchedulerTable table = BaselineSchedulers();
  CHECK_THROWS_WITH(MakeScheduler("gpu_shares(order=sjff)", std::span<const SchedulerTable>(&table, 1)),
                    Catch::Matchers::Contains("sjf"));
}

}  // namespace berth
