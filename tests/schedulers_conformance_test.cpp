// Every registered scheduler, walked from its table: a new row is tested because it exists.
#include <algorithm>
#include <map>
#include <memory>

#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/gym/observation.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/scheduler.hpp"
#include "policies/schedulers.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/bench/golden_suite.hpp"
#include "tools/scheduler_checks.hpp"

namespace berth {
namespace {

using bench::RandomScenario;

std::unique_ptr<Scheduler> Make(const std::string& spec) {
  const SchedulerTable tables[] = {BaselineSchedulers(), PolicySchedulers()};
  return MakeScheduler(spec, tables);
}

// Frozen policies with random weights, which decide badly but must decide legally: a preemptive one and one
// of semantics commit.
std::vector<std::string> PolicySpecs() {
  static const test::TemporaryFolder folder;
  static const std::vector<std::string> specs = [] {
    std::vector<std::string> made;
    for (const int num_actions : {6 * 2 + 1, 6 * 2}) {
      const std::string path = folder / Join("policy", num_actions, ".h5");
      SaveBundle(test::RandomBundle("pair_scorer(width=8)", ObservationV1::Layout(6, 2), num_actions, 3),
                 path);
      made.push_back("policy(file=" + path + ")");
    }
    return made;
  }();
  return specs;
}

// Every row by its name, and the rows whose parameters change what they are.
std::vector<std::string> Specs() {
  std::vector<std::string> specs;
  for (const SchedulerInfo& info : BaselineSchedulers()) specs.emplace_back(info.name);
  for (const char* objective : {"makespan", "finish_time_fairness"}) {
    specs.push_back(std::string("gavel(objective=") + objective + ")");
  }
  for (const char* spec :
       {"gavel(aware=false)", "gavel(solver=reference)", "gavel(objective=fifo,aware=false)",
        "gavel(objective=water_filling,solver=reference)",
        "gavel(objective=max_sum_throughput,solver=reference)",
        "gavel(objective=max_throughput_per_cost,slo=keep,solver=reference)"}) {
    specs.emplace_back(spec);
  }
  // The other packed ones run in packing_schedulers_test.cpp: seconds count.
  for (const char* objective : {"max_min", "finish_time_fairness", "max_throughput_per_cost", "fifo"}) {
    specs.push_back(std::string("gavel(packed=true,objective=") + objective + ")");
  }
  for (const char* spec :
       {"sjf(semantics=commit)", "fcfs(semantics=commit,backfill=easy)",
        "wfp3(semantics=commit,backfill=easy)", "unicep(backfill=easy)", "saf(backfill=conservative)",
        "smallest(overtake=true)", "queue(order=sjf,preemption=order)",
        "queue(order=expression,score=request-wait,backfill=easy,placement=best_fit)"}) {
    specs.emplace_back(spec);
  }
  specs.emplace_back("gavel(aware=false)");
  specs.emplace_back("priority(preemptive=true)");
  for (const std::string& spec : PolicySpecs()) specs.push_back(spec);
  return specs;
}

}  // namespace

TEST_CASE("schedulers: legal, repeatable, without hidden state, with the declared knowledge alone") {
  for (const std::string& spec : Specs()) {
    for (const SchedulerCheck& check : SchedulerChecks()) {
      DYNAMIC_SECTION(spec << " " << check.name) {
        check.run({[&] { return Make(spec); }, /*rejects=*/spec == "deadline_admission"});
      }
    }
  }
}

TEST_CASE("schedulers: what a check is for is what it finds") {
  // The fastest type with room, in order of arrival; and what is wrong of it.
  enum class Wrong { kNothing, kIllegal, kKeepsState, kSharesState, kRejects, kStalls, kTampers };
  static int shared = 0;
  struct Greedy : Scheduler {
    explicit Greedy(Wrong what) : wrong(what) {}
    Knowledge knowledge() const override { return Knowledge::kNone; }
    void Decide(const ClusterView& view, Decision& decision) override {
      std::vector<int> free(view.free_gpus().begin(), view.free_gpus().end());
      ++decisions, ++shared;
      // It makes a job that has ended faster than it was, in the scenario itself, which the replay of seed 6 then reads.
      if (wrong == Wrong::kTampers && view.seed() == 6 && !view.completed().empty() && !tampered) {
        const int job = view.completed().front();
        const_cast<double*>(view.Rates(job).data())[view.LastTypeOf(job)] *= 1.5;
        tampered = true;
      }
      // What it keeps turns its order of types about, by the bits of a hash: a shifted count is another order.
      const auto count = static_cast<std::uint32_t>(wrong == Wrong::kKeepsState    ? decisions
                                                    : wrong == Wrong::kSharesState ? shared
                                                                                   : 0);
      const bool backward = ((count * 2654435761U) >> 31U) != 0;
      for (const int job : view.waiting()) {
        if (wrong == Wrong::kRejects && job == 7) {
          decision.Reject(job);
          continue;
        }
        if (wrong == Wrong::kStalls && job == 7) continue;
        for (int i = 0; i < view.num_types(); ++i) {
          const int type = backward ? view.num_types() - 1 - i : i;
          if (view.Rate(job, type) <= 0.0 || (wrong != Wrong::kIllegal && free[static_cast<std::size_t>(type)] < view.Gang(job)))
            continue;
          decision.Start(job, type);
          free[static_cast<std::size_t>(type)] -= view.Gang(job);
          break;
        }
      }
    }
    Wrong wrong;
    int decisions = 0;
    bool tampered = false;
  };
  const std::vector<std::pair<Wrong, std::string>> found = {
      {Wrong::kNothing, ""},         {Wrong::kIllegal, "legality"}, {Wrong::kKeepsState, "repeats"},
      {Wrong::kSharesState, "repeats"}, {Wrong::kRejects, "legality"}, {Wrong::kStalls, "legality"},
      {Wrong::kTampers, "replay"}};
  for (const auto& [wrong, name] : found) {
    std::string first;
    for (const SchedulerCheck& check : SchedulerChecks()) {
      const std::string message =
          test::MessageOf([&, &its = wrong] { check.run({[&] { return std::make_unique<Greedy>(its); }}); });
      if (message != "(no error)" && first.empty()) first = check.name;
    }
    CAPTURE(static_cast<int>(wrong));
    CHECK(first == name);
  }
}

TEST_CASE("schedulers: those that reject run the others to their end, under every clock") {
  for (const char* spec :
       {"admission(limit=4)", "admission(by=wait,limit=60,inner=srpt)", "fcfs(queue_limit=3)",
        "token_bucket(rate_per_h=90,burst=2,action=reject)", "deadline_admission"}) {
    for (const Clock& clock : AllClocks()) {
      CAPTURE(spec, clock.ToString());
      ScenarioData data = RandomScenario(11, 40, clock).data();
      for (double arrival : data.jobs.arrival) data.jobs.deadline.push_back(arrival + 300.0);
      const CheckedRun trace = RunChecked(Scenario(std::move(data)), *Make(spec), /*rejects=*/true);
      CHECK(std::any_of(trace.events.begin(), trace.events.end(),
                        [](const Event& event) { return event.kind == EventKind::kReject; }));
    }
  }
}

TEST_CASE("schedulers: rows say what is true of them") {
  std::map<std::string, int> names;
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    DYNAMIC_SECTION(info.name) {
      CHECK(++names[info.name] == 1);
      CHECK(std::string(info.summary).size() > 5);
      // What a decision costs closes the summary: an order of growth, or that of what is inside.
      CHECK_THAT(info.summary, Catch::Matches(".*; [^;]*(O\\(|cost|LP|exponential)[^;]*"));
      CHECK(std::string(info.source).size() > 5);
      CHECK(Make(info.name)->knowledge() == info.knowledge);
      for (const ParamInfo& param : info.params) CHECK(std::string(param.help).size() > 3);
      if (info.preemptive) continue;
      for (std::uint64_t seed : {8, 9}) {
        const CheckedRun trace = RunChecked(RandomScenario(seed, 40, {ClockKind::kEvent}), *Make(info.name));
        for (const Event& event : trace.events) {
          CHECK(event.kind != EventKind::kStop);
          CHECK(event.kind != EventKind::kMove);
        }
      }
    }
  }
}

TEST_CASE("an unknown scheduler or parameter names the nearest right one") {
  CHECK_THROWS_WITH(Make("gavle"), Catch::Contains("did you mean 'gavel'"));
  CHECK_THROWS_WITH(Make("gavel(objectiv=max_min)"), Catch::Contains("did you mean 'objective'"));
  CHECK_THROWS_WITH(Make("gavel(objective=maxmin)"), Catch::Contains("did you mean 'max_min'"));
  CHECK_THROWS_AS(Make("fcfs(x=1)"), Error);
}

}  // namespace berth
