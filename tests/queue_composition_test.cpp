// Queue rules as compositions of order, backfilling, placement and preemption: the named ones are what they
// say, the new ones by hand, and scoring expressions.
#include <cmath>
#include <string>
#include <vector>

#include "baselines/queue/score_expression.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

using test::TinyData;
using Log = std::vector<std::string>;

std::unique_ptr<Scheduler> Make(const std::string& spec) {
  const SchedulerTable tables[] = {BaselineSchedulers()};
  return MakeScheduler(spec, tables);
}

std::uint64_t Signature(const std::string& spec, const Scenario& scenario) {
  return Run(scenario, *Make(spec), spec, {}).signature;
}

// "10:2" is job 2 started at 10 s, "20:1!" is job 1 stopped.
Log Moves(const std::string& spec, const Scenario& scenario) {
  Log log;
  for (const Event& event : Run(scenario, *Make(spec), spec, {{}, true, {}}).events) {
    if (event.kind == EventKind::kStart) log.push_back(Join(event.time, ":", event.job));
    if (event.kind == EventKind::kStop) log.push_back(Join(event.time, ":", event.job, "!"));
  }
  return log;
}

// The four GPUs of type a; `requested` seconds of each job, if given.
Scenario Four(const std::vector<test::TinyJob>& jobs, std::vector<double> requested = {}) {
  ScenarioData data = TinyData({{"a", 4}}, {{1.0}}, jobs);
  data.jobs.requested_s = std::move(requested);
  return Scenario(std::move(data));
}

double Value(const std::string& score) {
  Simulator simulator(Four({{0, 50, 0, 2}, {10, 40}}));
  REQUIRE((simulator.AdvanceToDecision() && simulator.Apply({}).ok() && simulator.AdvanceToDecision()));
  const ScoreRule rule = ParseScore(score);
  return rule.score(simulator.View(Knowledge::kOracle), 0);  // has waited 10 s
}

}  // namespace

TEST_CASE("queue: the named rules are compositions of it", "[baselines][queue]") {
  const std::vector<std::pair<std::string, std::string>> same = {
      {"fcfs", "queue"},
      {"sjf", "queue(order=sjf)"},
      {"ljf(overtake=true)", "queue(order=ljf,overtake=true)"},
      {"easy", "queue(backfill=easy)"},
      {"easy_sjf", "queue(order=sjf,backfill=easy)"},
      {"easy_sjf", "sjf(backfill=easy)"},
      {"conservative", "queue(order=fcfs,backfill=conservative)"},
      {"conservative(reserve=start)", "queue(backfill=conservative,reserve=start)"},
      {"priority(preemptive=true)", "queue(order=priority,preemption=order)"},
      {"fcfs(queue_limit=3)", "queue(queue_limit=3)"},
      {"unicep(place=roomiest)", "queue(order=unicep,placement=roomiest)"},
      {"largest(semantics=commit)", "queue(order=largest,semantics=commit)"},
      {"saf", "queue(order=expression,score=request*gang)"},
      {"lxf", "queue(order=expression,score=-(wait+request)/request)"},
      {"wfp3(backfill=easy)", "queue(order=expression,score=-(wait/request)^3*gang,backfill=easy)"},
      {"f2", "queue(order=expression,score=sqrt(request)*gang+25600*log10(max(arrival,0.1)))"},
  };
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Scenario scenario = test::RandomScenario(seed, 80, {});
    for (const auto& [named, composed] : same) {
      CAPTURE(named, composed, seed);
      CHECK(Signature(named, scenario) == Signature(composed, scenario));
    }
  }
}

TEST_CASE("queue: orders by hand", "[baselines][queue]") {
  // One GPU of four is enough for each; job 0 holds all until 10. By length: 5, 40, 20 s.
  const Scenario lengths = Four({{0, 10, 0, 4}, {1, 5, 0, 4}, {2, 40, 0, 4}, {3, 20, 0, 4}});
  CHECK(Moves("ljf", lengths) == Log{"0:0", "10:2", "50:3", "70:1"});
  CHECK(Moves("sjf", lengths) == Log{"0:0", "10:1", "15:3", "35:2"});
  // First fit decreasing of gangs 1, 2, 2, 4, 1 into four GPUs: {4}, {2, 2}, {1, 1}.
  const Scenario gangs = Four({{0, 10, 0, 1}, {0, 10, 0, 2}, {0, 10, 0, 2}, {0, 10, 0, 4}, {0, 10, 0, 1}});
  CHECK(Moves("largest(overtake=true)", gangs) == Log{"0:3", "10:1", "10:2", "20:0", "20:4"});
  CHECK(Moves("smallest", gangs) == Log{"0:0", "0:4", "0:1", "10:2", "20:3"});
  // Weight times wait. At 100 job 1 has 1 x 90 and job 2 4 x 20 = 80; at 150 only job 2 and job 3 are left:
  // 4 x 70 against 8 x 10.
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 100}, {10, 50}, {80, 50}, {140, 50}});
  data.jobs.weight = {1, 1, 4, 8};
  CHECK(Moves("ageing", Scenario(data)) == Log{"0:0", "100:1", "150:2", "200:3"});
  // With 5 in place of 4, 100 against 90: job 2 first; at 150 job 1 has 140, job 3 8 x 10.
  data.jobs.weight = {1, 1, 5, 8};
  CHECK(Moves("ageing", Scenario(data)) == Log{"0:0", "100:2", "150:1", "200:3"});
  CHECK(Moves("priority", Scenario(data)) == Log{"0:0", "100:2", "150:3", "200:1"});
}

TEST_CASE("queue: backfilling with run times that are over- and under-estimated", "[baselines][queue]") {
  // Job 0 holds two GPUs over [0, 100), job 1 wants all four from 10 on, job 2 two from 20 on, for 150 s.
  const std::vector<test::TinyJob> jobs = {{0, 100, 0, 2}, {10, 50, 0, 4}, {20, 150, 0, 2}};
  for (const std::string spec : {"easy", "conservative"}) {
    CAPTURE(spec);
    // Exact: job 2 would end at 170, after the reserved 100, and job 1 leaves no GPU.
    CHECK(Moves(spec, Four(jobs)) == Log{"0:0", "100:1", "150:2"});
    CHECK(Moves(spec, Four(jobs, {100, 50, 150})) == Log{"0:0", "100:1", "150:2"});
    // Job 0 asks for twice what it needs: job 2 ends before 200 and starts; when job 0 ends at 100 the head
    // has to wait for job 2 until 170.
    CHECK(Moves(spec, Four(jobs, {200, 50, 150})) == Log{"0:0", "20:2", "170:1"});
    // Job 0 asks for half: job 2 asks for 30 s and may end at the reserved 50. From there on job 0 is overdue
    // and may end at any moment: job 3, of 10 s at 60, would delay the head and waits for it.
    CHECK(Moves(spec, Four({{0, 100, 0, 2}, {10, 50, 0, 4}, {20, 30, 0, 2}, {60, 10, 0, 2}},
                           {50, 50, 30, 10})) == Log{"0:0", "20:2", "100:1", "150:3"});
  }
  // Under-estimated by the job that backfills: it asks for 30 s, takes 130 and holds the head up until 150.
  CHECK(Moves("easy", Four({{0, 100, 0, 2}, {10, 50, 0, 4}, {20, 130, 0, 2}}, {100, 50, 30})) ==
        Log{"0:0", "20:2", "150:1"});
  // Exact: jobs 0 and 1 hold three GPUs until 100, job 2 waits for all four, jobs 3 and 4 of one GPU come
  // at 20. By arrival job 3 passes job 2, which starts at 100; job 4 would have ended too late at 80.
  const Scenario two =
      Four({{0, 100, 0, 2}, {0, 100, 0, 1}, {10, 200, 0, 4}, {20, 60, 0, 1}, {20, 50, 0, 1}});
  CHECK(Moves("easy", two) == Log{"0:0", "0:1", "20:3", "100:2", "300:4"});
  // By length job 4 is the head at 20 and job 3 next; at 70 that one starts. Job 2 is the last and waits.
  CHECK(Moves("easy_sjf", two) == Log{"0:0", "0:1", "20:4", "70:3", "130:2"});
}

TEST_CASE("queue: placement and preemption", "[baselines][queue]") {
  // A gang of two, with 4 GPUs of type a and 2 of type b free, b the faster one.
  const auto type = [](const std::string& spec) {
    const Scenario scenario(TinyData({{"a", 4}, {"b", 2}}, {{1.0, 2.0}}, {{0, 10, 0, 2}}));
    for (const Event& event : Run(scenario, *Make(spec), spec, {{}, true, {}}).events) {
      if (event.kind == EventKind::kStart) return static_cast<int>(event.type);
    }
    return -1;
  };
  CHECK(type("queue") == 1);
  CHECK(type("queue(placement=first)") == 0);
  CHECK(type("queue(placement=roomiest)") == 0);
  CHECK(type("queue(placement=best_fit)") == 1);
  // One GPU, 100 s and, from 20 on, 10 s: the shorter stops the longer, which has 80 s left.
  const Scenario one(TinyData({{"a", 1}}, {{1.0}}, {{0, 100}, {20, 10}}));
  CHECK(Moves("queue(order=sjf,preemption=order)", one) == Log{"0:0", "20:0!", "20:1", "30:0"});
  CHECK(Moves("queue(order=ljf,preemption=order)", one) == Log{"0:0", "100:1"});
}

TEST_CASE("queue: parameters that contradict each other are named, both", "[baselines][queue]") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> bad = {
      {"order=sjf,score=wait", {"order=sjf", "score=wait"}},
      {"order=expression", {"order=expression", "score"}},
      {"backfill=easy,overtake=true", {"backfill=easy", "overtake=true"}},
      {"backfill=easy,reserve=start", {"backfill=easy", "reserve=start"}},
      {"preemption=order,backfill=conservative", {"preemption=order", "backfill=conservative"}},
      {"preemption=order,semantics=commit", {"preemption=order", "semantics=commit"}},
      {"preemption=order,queue_limit=2", {"preemption=order", "queue_limit=2"}},
      {"order=sjff", {"did you mean 'sjf'"}},
  };
  for (const auto& [params, parts] : bad) {
    CAPTURE(params);
    std::string message;
    try {
      Make("queue(" + params + ")");
    } catch (const Error& error) {
      message = error.what();
    }
    for (const std::string& part : parts) CHECK_THAT(message, Catch::Contains(part));
  }
  CHECK_THROWS_WITH(Make("priority(preemptive=true,backfill=easy)"),
                    Catch::Contains("preemptive=true and backfill=easy"));
}

TEST_CASE("score expressions: values", "[baselines][queue]") {
  CHECK(Value("1 + 2*3 - 8/4") == 5.0);
  CHECK(Value("-2^2") == -4.0);
  CHECK(Value("2^3^2") == 512.0);
  CHECK(Value("2^-1") == Approx(0.5).epsilon(1e-15));
  CHECK(Value("(-3)^3") == -27.0);
  CHECK(Value("(-2)^-1") == Approx(-0.5).epsilon(1e-15));
  CHECK(Value("(-2)^-2") == Approx(0.25).epsilon(1e-15));
  CHECK(Value("(-2)^17") == Approx(-131072.0).epsilon(1e-14));
  CHECK(Value("(-2)^18") == Approx(262144.0).epsilon(1e-14));
  CHECK(Value("(-2)^0.5") == kNever);
  CHECK(Value("2 - 3 - 4") == -5.0);
  CHECK(Value("16 / 4 / 2") == 2.0);
  CHECK(Value("min(3, 1 + 1) + max(4,5) + abs(-6) + sqrt(9)") == 16.0);
  CHECK(Value("exp(log(7)) + log2(8) + log10(1e3)") == Approx(13.0).epsilon(1e-14));
  CHECK(Value("\"wait * gang\"") == 20.0);  // 10 s, two GPUs
  CHECK(Value("arrival + now + weight + request + remaining") == 0 + 10 + 1 + 50 + 50);
  CHECK(Value("deadline") == kNever);
  CHECK(Value("0/0") == kNever);  // no number: last
  CHECK(Value("sqrt(-1)") == kNever);
  for (const char* one : {"min(1, 0/0)", "min(0/0, 1)", "max(1, 0/0)", "max(0/0, 1)"}) CHECK(Value(one) == kNever);
  CHECK(ParseScore("wait*gang").knowledge == Knowledge::kNone);
  CHECK(ParseScore("wait*gang").moves);
  CHECK(ParseScore("request").knowledge == Knowledge::kEstimate);
  CHECK_FALSE(ParseScore("request-arrival").moves);
}

TEST_CASE("score expressions: an error points at its column", "[baselines][queue]") {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"wait/requst", "column 6: expected one of wait, arrival"},
      {"wait/requst", "(did you mean 'request'?)"},
      {"(wait", "column 6: expected ')', found the end"},
      {"wait +", "column 7: expected a number, a variable, a function or '(', found the end"},
      {"wait gang", "column 6: expected an operator or the end, found 'g'"},
      {"2 ** 3", "column 4: expected a number, a variable, a function or '(', found '*'"},
      {"min(wait)", "column 9: expected ',': min takes 2 values, found ')'"},
      {"sqrt wait", "column 6: expected '(' after sqrt, found 'w'"},
      {"1.2.3", "column 4: expected an operator or the end, found '.'"},
      {"", "column 1: expected a number"},
      {std::string(500, '('), "nested"},
      {std::string(500, '-'), "nested"},
  };
  for (const auto& [score, message] : bad) {
    CAPTURE(score);
    CHECK_THROWS_WITH(ParseScore(score), Catch::Contains(message));
  }
  CHECK_THROWS_WITH(Make("queue(order=expression,score=wait*)"), Catch::Contains("column 6"));
}

// `srpt` sees the truth that the scenario grants; rules that ask for the users' limits see no more than those.
TEST_CASE("queue: who goes by requests knows no more than estimates, where every job has a request") {
  ScenarioData data = test::TinyData({{"v100", 4}}, {{1.0}}, {{0, 10}, {0, 20}});
  const auto used = [&](const char* spec) { return UsedKnowledge(*Make(spec), data); };
  const std::vector<const char*> by_requests = {"easy", "sjf", "conservative", "easy_sjbf", "slurm",
                                                "queue(order=expression,score=request*gang)"};
  for (const char* spec : by_requests) {
    CAPTURE(spec);
    data.jobs.requested_s = {};
    CHECK(used(spec) == Knowledge::kOracle);
    data.jobs.requested_s = {15.0, NAN};  // the second job's own time is read
    CHECK(used(spec) == Knowledge::kOracle);
    data.jobs.requested_s = {15.0, 30.0};
    CHECK(used(spec) == Knowledge::kEstimate);
  }
  CHECK(used("srpt") == Knowledge::kOracle);
  CHECK(used("queue(order=expression,score=remaining)") == Knowledge::kOracle);
  CHECK(used("queue(order=fcfs,backfill=none)") == Knowledge::kNone);
}

}  // namespace berth
