// EASY with shortest job backfilled first, against a planner that knows nothing of spare GPUs: it asks of
// every job whether the head's first start, found by trying every release in turn, is later with it running.
#include <algorithm>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

using test::Decisions;
using test::Ends;
using test::TinyData;
using Log = std::vector<std::string>;

struct Job {
  double arrival;
  int gang;
  double seconds[2];  // on each type
  double start = kNever, end = kNever;
  int type = -1;
  bool RunsAt(double t) const { return start <= t && t < end; }
};

const int kGpus[2] = {4, 3};

int FreeAt(const std::vector<Job>& jobs, int type, double t) {
  int free = kGpus[type];
  for (const Job& job : jobs) free -= job.type == type && job.RunsAt(t) ? job.gang : 0;
  return free;
}

// The first moment from `now` on at which what runs then leaves room for `head` on `type`.
double FirstStart(const std::vector<Job>& jobs, const Job& head, int type, double now) {
  if (head.gang > kGpus[type]) return kNever;
  std::vector<double> moments = {now};
  for (const Job& job : jobs) {
    if (job.RunsAt(now)) moments.push_back(job.end);
  }
  std::sort(moments.begin(), moments.end());
  for (double t : moments) {
    if (FreeAt(jobs, type, t) >= head.gang) return t;
  }
  return kNever;
}

void Start(Job& job, int type, double now) {
  job.start = now, job.end = now + job.seconds[type], job.type = type;
}

int Faster(const Job& job) {  // of those large enough
  return job.gang <= kGpus[1] && job.seconds[1] < job.seconds[0] ? 1 : 0;
}

// What one decision point starts: in order of arrival while the first fits, then, shortest first, who does
// not delay the first that does not.
void Decide(std::vector<Job>& jobs, double now) {
  std::vector<int> waiting;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].arrival <= now && jobs[i].type < 0) waiting.push_back(static_cast<int>(i));
  }
  const auto at = [&](int i) -> Job& { return jobs[static_cast<std::size_t>(i)]; };
  while (!waiting.empty()) {
    Job& first = at(waiting.front());
    int type = Faster(first);
    if (FreeAt(jobs, type, now) < first.gang) type = 1 - type;
    if (FreeAt(jobs, type, now) < first.gang) break;
    Start(first, type, now);
    waiting.erase(waiting.begin());
  }
  if (waiting.empty()) return;
  const Job head = at(waiting.front());
  waiting.erase(waiting.begin());
  int reserved = Faster(head);
  if (FirstStart(jobs, head, 1 - reserved, now) < FirstStart(jobs, head, reserved, now))
    reserved = 1 - reserved;
  const double promised = FirstStart(jobs, head, reserved, now);
  std::stable_sort(waiting.begin(), waiting.end(),
                   [&](int a, int b) { return at(a).seconds[Faster(at(a))] < at(b).seconds[Faster(at(b))]; });
  for (int i : waiting) {
    for (int type : {Faster(at(i)), 1 - Faster(at(i))}) {
      if (FreeAt(jobs, type, now) < at(i).gang) continue;
      const Job before = at(i);
      Start(at(i), type, now);
      if (FirstStart(jobs, head, reserved, now) <= promised) break;
      at(i) = before;
    }
  }
}

std::vector<double> PlannedEnds(std::vector<Job> jobs) {
  double now = -1.0;
  while (true) {
    double next = kNever;  // the next arrival or end
    for (const Job& job : jobs) {
      if (job.arrival > now) next = std::min(next, job.arrival);
      if (job.end > now) next = std::min(next, job.end);
    }
    if (next == kNever) break;
    Decide(jobs, now = next);
  }
  std::vector<double> ends;
  for (const Job& job : jobs) ends.push_back(job.end);
  return ends;
}

}  // namespace

TEST_CASE("easy_sjbf: as a planner that tries every start", "[baselines][queue]") {
  int differ = 0;  // from easy
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Stream stream(seed, Purpose::kTest);
    std::vector<Job> jobs;
    std::vector<test::TinyJob> tiny;
    std::vector<std::vector<double>> rates;
    double now = 0.0;
    for (int i = 0; i < 40; ++i) {
      now += stream.Exponential(20.0);
      const int gang = 1 << stream.Below(3);
      const double speed = stream.Uniform(0.5, 2.0), seconds = stream.Uniform(10.0, 200.0);
      jobs.push_back({now, gang, {seconds, seconds / speed}});
      tiny.push_back({now, seconds, i, gang});
      rates.push_back({1.0, speed});
    }
    const Scenario scenario(TinyData({{"a", kGpus[0]}, {"b", kGpus[1]}}, rates, tiny));
    const std::vector<double> expected = PlannedEnds(jobs), found = Ends("easy_sjbf", scenario);
    // Both add up the same starts and lengths, in another order.
    for (std::size_t i = 0; i < jobs.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-12));
    differ += found != Ends("easy", scenario);
  }
  CHECK(differ > 15);
}

TEST_CASE("easy_sjbf: by hand, and as a composition", "[baselines][queue]") {
  // Jobs 0 and 1 hold three of four GPUs until 100, job 2 wants all four from 10 on. At 20 jobs 3 (60 s) and
  // 4 (50 s) come: job 4 is shorter, passes, and ends at 70; job 3 would end at 130 and waits for job 2. With
  // EASY job 3 passes, with the order of length throughout job 2 is last (queue_composition_test).
  const Scenario two(
      TinyData({{"a", 4}}, {{1.0}},
               {{0, 100, 0, 2}, {0, 100, 0, 1}, {10, 200, 0, 4}, {20, 60, 0, 1}, {20, 50, 0, 1}}));
  CHECK(Decisions("easy_sjbf", two) ==
        Log{"0 start 0@0", "0 start 1@0", "20 start 4@0", "100 start 2@0", "300 start 3@0"});
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Scenario scenario = test::RandomScenario(seed, 80, {});
    const auto signature = [&](const char* spec) { return test::RunOf(spec, scenario).signature; };
    CHECK(signature("easy_sjbf") == signature("queue(order=fcfs,backfill=easy,backfill_order=sjf)"));
    CHECK(signature("easy") == signature("queue(backfill=easy,backfill_order=fcfs)"));
    CHECK(signature("easy_sjf") == signature("queue(order=sjf,backfill=easy,backfill_order=sjf)"));
    // As an expression that moves with time, which takes another way through the queue.
    CHECK(signature("queue(order=lxf,backfill=easy)") ==
          signature("queue(order=lxf,backfill=easy,backfill_order=lxf)"));
  }
  CHECK_THROWS_WITH(test::Make("queue(backfill_order=sjf)"),
                    Catch::Contains("backfill_order and backfill=none contradict each other"));
  CHECK_THROWS_WITH(test::Make("queue(backfill=easy,semantics=commit,backfill_order=sjf)"),
                    Catch::Contains("backfill_order and semantics=commit"));
  CHECK_THROWS_WITH(test::Make("queue(backfill=easy,backfill_order=sjff)"),
                    Catch::Contains("'backfill_order'") && Catch::Contains("did you mean 'sjf'"));
}

}  // namespace berth
