// Schedulers that keep what they know from one decision to the next must decide as if they looked at
// everybody afresh: whether they are made to forget, miss decisions, or nothing of the kind.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "baselines/queue/job_tree.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/rng.hpp"
#include "env/sim/job_list.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

std::unique_ptr<Scheduler> Make(const std::string& spec) {
  const SchedulerTable tables[] = {BaselineSchedulers()};
  return MakeScheduler(spec, tables);
}

// Forgets everything before every decision.
class Forgetful final : public Scheduler {
 public:
  explicit Forgetful(const std::string& spec) : inner_(Make(spec)) {}
  Knowledge knowledge() const override { return inner_->knowledge(); }
  void Decide(const ClusterView& view, Decision& decision) override {
    inner_->Reset(view);
    inner_->Decide(view, decision);
  }

 private:
  std::unique_ptr<Scheduler> inner_;
};

// Two of a kind in irregular turns, so that each misses decisions.
class Turns final : public Scheduler {
 public:
  explicit Turns(const std::string& spec) : one_(Make(spec)), other_(Make(spec)) {}
  Knowledge knowledge() const override { return one_->knowledge(); }
  void Reset(const ClusterView& view) override { one_->Reset(view), other_->Reset(view), turn_ = 0; }
  void Decide(const ClusterView& view, Decision& decision) override {
    (turn_++ % 5 < 3 ? one_ : other_)->Decide(view, decision);
  }

 private:
  std::unique_ptr<Scheduler> one_, other_;
  int turn_ = 0;
};

// Requests that are too long and too short, costs, and estimates that are off, by turns.
std::vector<Scenario> Scenarios(const Clock& clock) {
  std::vector<Scenario> scenarios;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Scenario plain = test::RandomScenario(seed, 80, clock);
    scenarios.push_back(plain);
    scenarios.push_back(WithCosts(plain, {5.0, 10.0, 20.0}));
    scenarios.push_back(WithKnowledge(plain, Knowledge::kEstimate, 0.7));
    ScenarioData data = plain.data();
    Stream stream(seed, Purpose::kTest);
    data.jobs.requested_s.clear();
    for (int job = 0; job < plain.num_jobs(); ++job) {
      const auto j = static_cast<std::size_t>(job);
      const double seconds = data.jobs.total_steps[j] / plain.BestRate(job);
      const bool asks = stream.Below(4) != 0;
      data.jobs.requested_s.push_back(asks ? seconds * (0.25 + 0.25 * stream.Below(12)) : std::nan(""));
    }
    scenarios.emplace_back(std::move(data));
  }
  return scenarios;
}

}  // namespace

TEST_CASE("kept state: every rule decides as if it looked afresh each time", "[baselines][queue]") {
  for (const char* spec :
       {"fcfs", "easy", "conservative", "easy_sjf", "sjf(overtake=true)", "largest(backfill=easy)",
        "saf(backfill=easy,place=best_fit)", "wfp3(backfill=easy)", "lxf(overtake=true)", "ageing", "srpt",
        "las", "queue(order=expression,score=request*gang-wait,backfill=easy)",
        "queue(order=sjf,preemption=order)"}) {
    for (const Clock& clock : test::AllClocks()) {
      int at = 0;
      for (const Scenario& scenario : Scenarios(clock)) {
        CAPTURE(spec, clock.ToString(), at++);
        const std::uint64_t kept = Run(scenario, *Make(spec), spec, {}).signature;
        Forgetful forgetful(spec);
        CHECK(Run(scenario, forgetful, spec, {}).signature == kept);
        Turns turns(spec);
        CHECK(Run(scenario, turns, spec, {}).signature == kept);
      }
    }
  }
}

TEST_CASE("kept state: the view tells who changed, and when something was missed", "[simulator]") {
  const Scenario scenario = test::RandomScenario(7, 60, {});
  Simulator simulator(scenario);
  const std::unique_ptr<Scheduler> scheduler = Make("srpt");  // starts, stops and moves
  Decision decision;
  std::uint64_t mark = 0, late = 0;
  std::vector<JobPhase> phase;
  std::vector<std::int8_t> type;
  for (int decisions = 0; simulator.AdvanceToDecision(); ++decisions) {
    const ClusterView view = simulator.View(Knowledge::kOracle);
    CHECK(view.Follows(mark) == (decisions > 0));
    if (decisions % 3 == 0) CHECK_FALSE(view.Follows(late));  // two decisions were missed
    const SimState& state = simulator.state();
    for (std::size_t job = 0; job < phase.size(); ++job) {
      if (phase[job] == state.phase[job] && type[job] == state.on_type[job]) continue;
      CHECK(std::count(view.changed().begin(), view.changed().end(), static_cast<int>(job)) > 0);
    }
    phase = state.phase, type = state.on_type;
    decision.Clear();
    if (decisions == 0) scheduler->Reset(simulator.View(scheduler->knowledge()));
    scheduler->Decide(simulator.View(scheduler->knowledge()), decision);
    REQUIRE(simulator.Apply(decision).ok());
  }
  // Of two copies that part ways only one can be followed.
  Simulator one(scenario);
  REQUIRE(one.AdvanceToDecision());
  std::uint64_t first = 0;
  CHECK_FALSE(one.View(Knowledge::kNone).Follows(first));
  Simulator other = one;
  decision.Clear();
  decision.Reject(one.state().waiting[0]);
  REQUIRE(one.Apply(decision).ok());
  decision.Clear();
  REQUIRE(other.Apply(decision).ok());
  REQUIRE((one.AdvanceToDecision() && other.AdvanceToDecision()));
  CHECK(one.View(Knowledge::kNone).Follows(first));  // which is now at `one`
  CHECK_FALSE(other.View(Knowledge::kNone).Follows(first));
  // Also where they differ in nothing but in which of two equal jobs has run.
  Simulator left(test::Tiny({{"a", 1}}, {{1.0}}, {{0, 10}, {0, 10}, {0, 10}}));
  REQUIRE(left.AdvanceToDecision());
  std::uint64_t mine = 0;
  CHECK_FALSE(left.View(Knowledge::kNone).Follows(mine));
  Simulator right = left;
  const auto run = [&](Simulator& its, int job) {
    decision.Clear();
    decision.Start(job, 0);
    REQUIRE(its.Apply(decision).ok());
    REQUIRE(its.AdvanceToDecision());
  };
  run(left, 0), run(right, 1);
  CHECK(left.View(Knowledge::kNone).Follows(mine));  // at 10, when one of them is done
  std::uint64_t same = mine;
  run(left, 2), run(right, 2);
  CHECK(left.View(Knowledge::kNone).Follows(mine));
  CHECK_FALSE(right.View(Knowledge::kNone).Follows(same));
  CHECK(left.signature() != right.signature());
}

TEST_CASE("kept state: a tree of jobs finds what a sorted list does", "[baselines][queue]") {
  struct Item {
    JobTree::Entry entry;
    std::vector<double> lanes;
  };
  Stream stream(3, Purpose::kTest);
  JobTree tree(2);
  std::vector<Item> list;
  for (int step = 0; step < 4000; ++step) {
    if (list.empty() || stream.Below(5) > 1) {  // few keys, so that jobs decide
      const Item item{{1.0 * stream.Below(20), step}, {1.0 * stream.Below(50), 1.0 * stream.Below(50)}};
      tree.Insert(item.entry, item.lanes);
      list.insert(std::upper_bound(list.begin(), list.end(), item,
                                   [](const Item& a, const Item& b) { return a.entry < b.entry; }),
                  item);
    } else {
      const std::uint32_t at = stream.Below(static_cast<std::uint32_t>(list.size()));
      tree.Erase(list[at].entry);
      list.erase(list.begin() + at);
    }
    REQUIRE(tree.size() == static_cast<int>(list.size()));
    const JobTree::Entry after{1.0 * stream.Below(20), static_cast<int>(stream.Below(4000))};
    const double a = stream.Below(12), b = stream.Below(12);
    const auto accept = [&](std::span<const double> lanes) { return lanes[0] <= a || lanes[1] <= b; };
    const auto expected = std::find_if(
        list.begin(), list.end(), [&](const Item& item) { return after < item.entry && accept(item.lanes); });
    REQUIRE(tree.First(&after, accept).job == (expected == list.end() ? -1 : expected->entry.job));
    REQUIRE(tree.First().job == (list.empty() ? -1 : list.front().entry.job));
  }
}

TEST_CASE("kept state: a list of jobs is the set of them in order, however long", "[simulator]") {
  Stream stream(4, Purpose::kTest);
  JobList list;
  list.Reset(20000);
  std::set<int> expected;
  for (int step = 0; step < 30000; ++step) {
    const int job = static_cast<int>(stream.Below(20000));
    if (expected.insert(job).second) {
      list.Insert(job);
    } else {
      list.Erase(job), expected.erase(job);
    }
    if (step % 97 != 0) continue;  // some changes come while it is stale
    REQUIRE(list.size() == static_cast<int>(expected.size()));
    REQUIRE(std::equal(expected.begin(), expected.end(), list.begin(), list.end()));
  }
  CHECK(list.size() > 5000);  // longer than what is moved at once
}

}  // namespace berth
