// Clock reference_rounds against a second simulator that walks every second (Gavel's Scheduler.simulate,
// scheduler.py): a round's jobs each do as many whole steps as fit into it, the round ends with the last of
// them, GPUs are given anew only then, and who does no step in five rounds running is dropped.
#include <algorithm>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/rule_run.hpp"
#include "tests/tick_simulator.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::TickJob;
using test::TickRule;

constexpr double kRound = 10.0;

// Rates 1/4 to 4 and steps in multiples of 4: 1/4 does 2 steps a round, in 8 s. Whatever a round leaves is a
// multiple of the rate, so every time is whole. 1/16 does no step in a round and is dropped; 1/8 does one.
Scenario WholeSeconds(std::uint64_t seed) {
  Stream stream(seed, Purpose::kTest, Split::kEvaluate, 3);
  constexpr double kRates[] = {4.0, 2.0, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.0};
  std::vector<std::vector<double>> rates(3, std::vector<double>(2));
  for (auto& row : rates) row = {kRates[stream.Below(7)], kRates[stream.Below(8)]};
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  for (int j = 0; j < 20; ++j) {
    now += stream.Below(8) == 0 ? 200.0 : stream.Below(12);  // now and then nothing is left to do
    jobs.push_back(
        {now, 4.0 * (1 + stream.Below(12)), static_cast<int>(stream.Below(3)), 1 << stream.Below(3)});
  }
  const int first = 4 + static_cast<int>(stream.Below(3));
  ScenarioData data =
      test::TinyData({{"a", first}, {"b", 3}}, rates, jobs, {ClockKind::kReferenceRounds, kRound});
  for (int j = 0; j < 20; ++j) data.jobs.weight.push_back(1.0 + stream.Below(3));
  if (seed % 2 == 1) data.costs = {2.0, 3.0, 50.0};
  return Scenario(std::move(data));
}

struct Job {
  TickJob face;
  double arrival, left;  // s, steps
  double held = 0;       // s of the coming round that its start costs
  int idle_rounds = 0;   // running without a step
  double end = -1;       // s; kNever = dropped
};

// Seconds that the job works in a round, to its last whole step.
double SecondsOfRound(const Job& job, double rate) {
  double steps = 0;
  while (steps < job.left && job.held + (steps + 1) / rate <= kRound) ++steps;
  return steps / rate;
}

struct Model {
  std::vector<double> completion, decided_at;
  int dropped = 0, short_rounds = 0;
};

Model Walk(const Scenario& scenario, TickRule rule) {
  const ScenarioData& data = scenario.data();
  std::vector<int> gpus;
  for (const GpuType& type : data.cluster.types) gpus.push_back(type.count);
  std::vector<Job> jobs;
  for (int j = 0; j < scenario.num_jobs(); ++j) {
    const auto u = static_cast<std::size_t>(j);
    const std::vector<double> rates(scenario.Rates(j).begin(), scenario.Rates(j).end());
    jobs.push_back({{j, data.jobs.gang[u], -1, -1, data.jobs.weight[u], rates},
                    data.jobs.arrival[u],
                    data.jobs.total_steps[u]});
  }
  const auto all_ended = [&] {
    return std::all_of(jobs.begin(), jobs.end(), [](const Job& j) { return j.end >= 0; });
  };
  Model model;
  bool ran = false;
  for (double now = 0; !all_ended();) {
    // A boundary: who has arrived is seen, all GPUs are given anew.
    std::vector<TickJob> present;
    for (const Job& job : jobs) {
      if (job.arrival <= now && job.end < 0) present.push_back(job.face);
    }
    if (!present.empty() || ran)
      model.decided_at.push_back(now);  // a round's end is one though nobody is left
    ran = !present.empty();
    if (!ran) {  // to the next arrival
      ++now;
      continue;
    }
    const std::map<int, int> plan = test::Plan(rule, present, gpus);
    double longest = 0;
    for (const TickJob& face : present) {
      Job& job = jobs[static_cast<std::size_t>(face.index)];
      const auto put = plan.find(face.index);
      const int type = put == plan.end() ? -1 : put->second;
      job.held =
          type >= 0 && type != face.on && face.last >= 0 ? data.costs.checkpoint_s + data.costs.restore_s : 0;
      job.face.on = type;
      if (type < 0) continue;
      job.face.last = type;
      const double rate = job.face.rates[static_cast<std::size_t>(type)];
      const double seconds = SecondsOfRound(job, rate);
      if (seconds > 0) job.idle_rounds = 0;
      if (seconds == 0 && job.held == 0) ++job.idle_rounds;  // not its fault while it is being restored
      longest = std::max(longest, job.held + seconds);
      double worked = 0;
      for (double second = now; worked < seconds; ++second) {  // walks the seconds of its share
        if (second < now + job.held) continue;
        job.left -= rate;
        ++worked;
        if (job.left <= 0) job.end = second + 1;
      }
      BERTH_CHECK(worked == seconds && job.left >= 0, "job ", face.index, " ends within a second");
    }
    for (Job& job : jobs) {
      if (job.end < 0 && job.idle_rounds == 5) job.end = kNever, ++model.dropped;
    }
    model.short_rounds += longest < kRound;
    now += longest;
  }
  for (const Job& job : jobs) model.completion.push_back(job.end);
  return model;
}

}  // namespace

TEST_CASE("model: under clock reference_rounds the simulator and a brute-force one complete every job alike",
          "[checker]") {
  for (TickRule rule : {TickRule::kStrict, TickRule::kOvertaking, TickRule::kPreemptive}) {
    int stops = 0, dropped = 0, short_rounds = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      CAPTURE(static_cast<int>(rule), seed);
      const Scenario scenario = WholeSeconds(seed);
      const Model expected = Walk(scenario, rule);
      const test::RuleRun found = test::RunByRule(scenario, rule);
      REQUIRE(found.completion == expected.completion);
      REQUIRE(found.decided_at == expected.decided_at);
      stops += found.stops, dropped += expected.dropped, short_rounds += expected.short_rounds;
    }
    CHECK((stops > 0) == (rule == TickRule::kPreemptive));  // what the comparison covers
    CHECK(dropped > 0);
    CHECK(short_rounds > 0);
  }
}

TEST_CASE("model: the brute-force rounds of the reference, by hand", "[checker]") {
  // 1/4 step/s: two steps in the 8 s to 8; the third and fourth in the 8 s to 16. Job 1 arrives at 1, waits
  // for the first boundary, 8, then for its GPU, 16; 12 steps at 1/4 are 48 s in rounds of 8.
  ScenarioData data =
      test::TinyData({{"a", 1}}, {{0.25}}, {{0, 4}, {1, 12}}, {ClockKind::kReferenceRounds, kRound});
  data.jobs.weight = {1, 1};
  const Model model = Walk(Scenario(data), TickRule::kStrict);
  CHECK(model.completion == std::vector<double>{16, 64});
  CHECK(model.decided_at == std::vector<double>{0, 8, 16, 24, 32, 40, 48, 56});
  // A job that does no step of 16 s is dropped after five empty rounds, all at once; the other begins then.
  data.throughputs.alone = {0.0625, 0.0625, 0.0625, 1, 1, 1};
  data.throughputs.job_types = {"slow", "quick"};
  data.jobs.job_type = {0, 1};
  const Model dropping = Walk(Scenario(data), TickRule::kStrict);
  CHECK(dropping.completion == std::vector<double>{kNever, 13});  // arrives at 1; 10 s, then 2 s
  CHECK(dropping.dropped == 1);
}

}  // namespace berth
