// Node pools: a pool is a cluster of its own, to the last bit; how pools are written and which nodes they
// get; routing by hand.
#include <algorithm>
#include <map>

#include "baselines/composition/pool_list.hpp"
#include "env/base/check.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"
#include "tools/bench/golden_suite.hpp"

namespace berth {
namespace {

using test::Decisions;
using test::Ends;
using test::TinyData;
using Log = std::vector<std::string>;

// The jobs of one tenant on the types from `begin` to before `end` alone; `ids` are where they came from.
Scenario Alone(const Scenario& whole, int tenant, std::size_t begin, std::size_t end,
               std::vector<std::size_t>& ids) {
  ScenarioData data = whole.data(), part = data;
  part.jobs = {};
  part.throughputs.pairs.clear();
  const auto types = data.cluster.types.size();
  part.cluster.types.assign(data.cluster.types.begin() + static_cast<std::ptrdiff_t>(begin),
                            data.cluster.types.begin() + static_cast<std::ptrdiff_t>(end));
  part.throughputs.alone.clear();
  for (std::size_t i = 0; i < data.throughputs.alone.size(); ++i) {
    if (i % types >= begin && i % types < end) part.throughputs.alone.push_back(data.throughputs.alone[i]);
  }
  ids.clear();
  for (std::size_t job = 0; job < data.jobs.arrival.size(); ++job) {
    if (data.jobs.tenant[job] != tenant) continue;
    ids.push_back(job);
    part.jobs.id.push_back(data.jobs.id[job]);
    part.jobs.arrival.push_back(data.jobs.arrival[job]);
    part.jobs.job_type.push_back(data.jobs.job_type[job]);
    part.jobs.gang.push_back(data.jobs.gang[job]);
    part.jobs.total_steps.push_back(data.jobs.total_steps[job]);
    part.jobs.weight.push_back(data.jobs.weight[job]);
  }
  return Scenario(std::move(part));
}

// RandomScenario's jobs, of tenants `big` (v100 and p100) and `small` (k80, where jobs of kind 2 cannot run).
Scenario TwoTenants(std::uint64_t seed, Clock clock) {
  ScenarioData data = test::RandomScenario(seed, 60, clock).data();
  data.tenants = {{"big"}, {"small"}};
  for (std::size_t job = 0; job < data.jobs.arrival.size(); ++job)
    data.jobs.tenant.push_back(data.jobs.job_type[job] == 2 || job % 3 != 0 ? 0 : 1);
  return Scenario(std::move(data));
}

}  // namespace

TEST_CASE("pools: each pool is a cluster of its own", "[composition]") {
  // Two simulations that know nothing of each other, against one with pools. Under clock event alone: pools
  // share the decision points, at which a rule that looks afresh may see more than its own events.
  for (const char* inner : {"fcfs", "easy", "sjf", "conservative", "best_fit", "least_loaded", "edf"}) {
    for (std::uint64_t seed : {51, 52}) {
      CAPTURE(inner, seed);
      const Scenario scenario = TwoTenants(seed, {});
      const std::vector<double> ends =
          Ends(Join("pools(pools=big:v100+p100|small:k80,route=tenant,inner=", inner, ")"), scenario);
      for (const auto& [tenant, begin, end] : {std::tuple{0, 0, 2}, std::tuple{1, 2, 3}}) {
        std::vector<std::size_t> ids;
        const Scenario alone =
            Alone(scenario, tenant, static_cast<std::size_t>(begin), static_cast<std::size_t>(end), ids);
        REQUIRE(ids.size() > 10);
        const std::vector<double> expected = Ends(inner, alone);
        for (std::size_t i = 0; i < ids.size(); ++i)
          CHECK(ends[ids[i]] == Approx(expected[i]).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("pools: one pool of everything is its scheduler; a queue for each type is shortest_queue",
          "[composition]") {
  for (const Clock& clock : test::AllClocks()) {
    CAPTURE(clock.ToString());
    const Scenario scenario = bench::TenantScenario(53, 40, clock);
    for (const char* inner : {"fcfs", "easy", "srpt", "las", "round_robin", "fair_share", "gavel"}) {
      CAPTURE(inner);
      CHECK(Ends(Join("pools(pools=all:*:", inner, ")"), scenario) == Ends(inner, scenario));
    }
    CHECK(Ends("pools(pools=types,route=load,inner=fcfs)", scenario) == Ends("shortest_queue", scenario));
  }
}

TEST_CASE("pools: whole nodes, in the order of the pools", "[composition]") {
  // 10 GPUs of a on nodes of 4: 3 nodes, the last of 2. b: 6 on nodes of 1.
  std::vector<GpuType> types(2);
  types[0].name = "a", types[0].count = 10, types[0].gpus_per_node = 4;
  types[1].name = "b", types[1].count = 6;
  using Bounds = std::vector<std::vector<int>>;
  const auto bounds = [&](const char* text) { return PoolBounds(ParsePools(text, "fcfs"), types); };
  CHECK(bounds("x:a|y:b") == Bounds{{0, 0}, {10, 0}, {10, 6}});
  CHECK(bounds("x:*/0.5|y:*") == Bounds{{0, 0}, {4, 3}, {10, 6}});  // 1 of 3 nodes, 3 of 6
  CHECK(bounds("x:*/0.34|y:b/0.5+a/0.33|z:a") == Bounds{{0, 0}, {4, 2}, {8, 5}, {10, 5}});
  CHECK(bounds("x:a/0.3333333333333|y:a/0.3333333333333|z:a/0.3333333333334") ==
        Bounds{{0, 0}, {4, 0}, {8, 0}, {10, 0}});
  CHECK(PoolBounds(PoolPerType(types, "fcfs"), types) == Bounds{{0, 0}, {10, 0}, {10, 6}});
  const std::vector<std::pair<const char*, const char*>> bad = {
      {"x:a/0.6|y:a/0.5", "add up to at most 1, found 1.1"},
      {"x:a|y:*", "'x' and 'y' both have the rest of a"},
      {"x:aa", "expected a GPU type of the cluster or *, found 'aa' (did you mean 'a'?)"},
      {"x:a/0", "a share of nodes above 0"},
      {"x:a/half", "the share in 'a/half'"},
      {"x:a|x:b", "two pools are named 'x'"},
      {"x", "found 'x'"},
      {"x:a:fcfs:easy", "expected types, or NAME:GPUS"},
  };
  for (const auto& [text, message] : bad) {
    CAPTURE(text);
    CHECK_THROWS_WITH(bounds(text), Catch::Contains(message));
  }
  CHECK_THROWS_WITH(test::Make("pools(pools=x:*:fcsf)"),
                    Catch::Contains("parameter 'pools': ") && Catch::Contains("did you mean 'fcfs'"));
  CHECK_THROWS_WITH(test::Make("pools(pools=x:*,inner=fcsf)"), Catch::Contains("parameter 'inner': "));
  CHECK_THROWS_WITH(test::Make("pools(inner=fcsf)"), Catch::Contains("parameter 'inner': "));
}

TEST_CASE("pools: routes by hand", "[composition]") {
  // a: 2 GPUs at 2 steps/s, b: 2 at 1. All of 10 steps, at the same time.
  const std::vector<test::TinyJob> jobs = {{0, 10}, {0, 10}, {0, 10}, {0, 10, 0, 2}, {0, 10}};
  ScenarioData data = TinyData({{"a", 2}, {"b", 2}}, {{2.0, 1.0}}, jobs);
  data.tenants = {{"y"}, {"x"}, {"z"}};
  data.jobs.tenant = {0, 1, 0, 1, 2};
  const Scenario scenario(data);
  // By load: 0 to a (equal, faster), 1 to b, 2 to a, 3 (two GPUs) to b (1 of 2 against 2 of 2), 4 to a (2 of
  // 2 against 3 of 2). Each pool first come, first served: on b 3 waits for 1, on a 4 for 0.
  CHECK(Decisions("pools(inner=fcfs)", scenario) ==
        Log{"0 start 0@0", "0 start 2@0", "0 start 1@1", "5 start 4@0", "10 start 3@1"});
  // By speed all go to a.
  CHECK(Decisions("pools(inner=fcfs,route=speed)", scenario) ==
        Log{"0 start 0@0", "0 start 1@0", "5 start 2@0", "10 start 3@0", "15 start 4@0"});
  // By tenant y to pool y (b), x to pool x (a), z, which has none, by load: a has 1 + 2 of 2, b 2 of 2.
  CHECK(Decisions("pools(pools=x:a|y:b,inner=fcfs,route=tenant)", scenario) ==
        Log{"0 start 1@0", "0 start 0@1", "0 start 2@1", "5 start 3@0", "10 start 4@1"});
  // By gang: up to 1 GPU to b, more to a.
  CHECK(Decisions("pools(pools=one:b|more:a,inner=fcfs,route=gang,cuts=1)", scenario) ==
        Log{"0 start 0@1", "0 start 1@1", "0 start 3@0", "10 start 2@1", "10 start 4@1"});
  // A pool that cannot run the job passes it on to the next: a/0.5 is one GPU, the gang goes to b.
  CHECK(Decisions("pools(pools=x:a/0.5|y:b,inner=fcfs,route=gang,cuts=9)", scenario) ==
        Log{"0 start 0@0", "0 start 3@1", "5 start 1@0", "10 start 2@0", "15 start 4@0"});
  // And where none can, that is said.
  CHECK_THROWS_WITH(Decisions("pools(pools=x:a/0.5|y:b/0.5,inner=fcfs)", scenario),
                    Catch::Contains("job 3 of gang 2"));
  CHECK_THROWS_WITH(Decisions("pools(route=gang,cuts=1|2)", scenario), Catch::Contains("expected 1 of them"));
  CHECK_THROWS_WITH(test::Make("pools(pools=x:a|y:b,route=gang)"), Catch::Contains("'cuts'"));
  CHECK_THROWS_WITH(test::Make("pools(route=load,cuts=1)"), Catch::Contains("contradict"));
  CHECK_THROWS_WITH(test::Make("pools(pools=x:a|y:b|z:*,route=gang,cuts=4|1)"), Catch::Contains("rising"));
}

// On nodes of 4 Sia gives 1, 2 or 4 GPUs, and AlloX one: neither runs the gang of 3, which goes elsewhere, or is refused when it comes.
TEST_CASE("pools: a scheduler is asked about the jobs of its pool alone", "[composition]") {
  ScenarioData data = TinyData({{"a", 4}, {"b", 4}}, {{2.0, 1.0}}, {{0, 10}, {0, 10, 0, 3}});
  data.throughputs.gang_sizes = {1, 3, 4};
  data.cluster.types[0].gpus_per_node = data.cluster.types[1].gpus_per_node = 4;
  const Scenario scenario(data);
  for (const std::string inner : {"sia", "gavel(objective=allox)"}) {
    CAPTURE(inner);
    const auto pools = [&](const std::string& one, const std::string& more) {
      return Join("pools(pools=one:a:", one, "|more:b:", more, ",route=gang,cuts=1)");
    };
    CHECK(Decisions(pools(inner, "fcfs"), scenario) == Log{"0 start 0@0", "0 start 1@1"});
    CHECK_THROWS_WITH(Decisions(pools("fcfs", inner), scenario), Catch::Contains("found a gang of 3"));
    // Where all pools have it, somebody is asked about each job: that is said before the run.
    CHECK_THROWS_WITH(CheckRunnable(scenario, *test::Make("pools(inner=" + inner + ")"), "pools"), Catch::Contains("found a gang of 3"));
  }
}

TEST_CASE("pools: devices of their own, under every clock", "[composition]") {
  // Of 4, 5 and 4 GPUs x has one each, y 3, 4 and 3: gangs of 4 fit p100 alone.
  const std::string spec = "pools(pools=x:*/0.25:srpt|y:*:easy,route=gang,cuts=1)";
  for (const Clock& clock : test::AllClocks()) {
    CAPTURE(clock.ToString());
    const Scenario scenario = bench::TenantScenario(54, 40, clock);
    std::map<int, bool> pool;  // of a job: x, by the devices that it started on
    for (const Event& event : test::RunOf(spec, scenario).events) {
      if (event.kind != EventKind::kStart && event.kind != EventKind::kMove) continue;
      const int gang = scenario.data().jobs.gang[static_cast<std::size_t>(event.job)];
      const int at = event.device - scenario.first_device(event.type);
      CHECK((gang == 1) == (at == 0));
      CHECK(pool.emplace(event.job, at == 0).first->second == (at == 0));
    }
    CHECK(pool.size() == 40);
  }
}

}  // namespace berth
