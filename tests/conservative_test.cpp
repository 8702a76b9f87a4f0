// Conservative backfilling against a planner that knows nothing of profiles: one array of free devices for
// every second of the future, filled in queue order, made afresh every second. No recorded answers of
// others are known.
#include <algorithm>
#include <string>
#include <vector>

#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

struct Job {
  int arrival, gang, weight;
  std::vector<int> seconds, requested;  // on each type; the request is what is planned with
  int start = -1, type = -1;
};

constexpr int kHorizon = 4000;  // s: more than all jobs in a row

struct Planner {
  std::vector<int> devices;  // of each type
  bool by_weight = false;    // queue order: heaviest first instead of arrival

  // The first second >= now from which `gang` devices stay free for `seconds`.
  static int Earliest(const std::vector<int>& free, int now, int gang, int seconds) {
    for (int begin = now;; ++begin) {
      bool fits = true;
      for (int t = begin; t < begin + seconds; ++t) fits = fits && free.at(U(t)) >= gang;
      if (fits) return begin;
    }
  }

  void Run(std::vector<Job>& jobs) const {
    for (int now = 0; std::any_of(jobs.begin(), jobs.end(), [](const Job& j) { return j.start < 0; });
         ++now) {
      std::vector<std::vector<int>> free;
      for (int count : devices) free.emplace_back(kHorizon, count);
      std::vector<Job*> queue;
      for (Job& job : jobs) {
        if (job.arrival <= now && job.start < 0) queue.push_back(&job);
        const bool runs = job.start >= 0 && now < job.start + job.seconds[U(job.type)];
        if (!runs) continue;
        for (int t = now; t < job.start + job.requested[U(job.type)]; ++t)
          free[U(job.type)].at(U(t)) -= job.gang;
      }
      if (by_weight) {
        std::stable_sort(queue.begin(), queue.end(),
                         [](const Job* a, const Job* b) { return a->weight > b->weight; });
      }
      for (Job* job :
           queue) {  // the type on which it would finish first, then start first, then the first type
        int best = -1, best_start = 0;
        for (int type = 0; type < static_cast<int>(devices.size()); ++type) {
          if (job->gang > devices[U(type)]) continue;
          const int held = job->requested[U(type)];
          const int start = Earliest(free[U(type)], now, job->gang, held);
          const bool better = best < 0 || start + held < best_start + job->requested[U(best)] ||
                              (start + held == best_start + job->requested[U(best)] && start < best_start);
          if (better) best = type, best_start = start;
        }
        for (int t = best_start; t < best_start + job->requested[U(best)]; ++t)
          free[U(best)].at(U(t)) -= job->gang;
        if (best_start == now) job->start = now, job->type = best;
      }
    }
  }
};

// 30 jobs over 300 s on 5 devices of 1 step/s, or 4 of them and 3 of 2 steps/s; every second user asks for
// more than is needed, so that jobs end early and the plans move up.
struct Instance {
  std::vector<Job> jobs;
  ScenarioData data;
};
Instance Draw(std::uint64_t seed, bool two_types, bool requests) {
  Stream stream(seed, Purpose::kTest);
  std::vector<test::TinyJob> list;
  Instance instance;
  int now = 0;
  std::vector<double> weights, requested;
  for (int i = 0; i < 30; ++i) {
    now += static_cast<int>(stream.Below(20));
    const int half = 1 + static_cast<int>(stream.Below(40)), gang = 1 << stream.Below(3);
    const int asked =
        requests && stream.Below(2) == 0 ? 2 * half + static_cast<int>(stream.Below(60)) : 2 * half;
    Job job{
        now, gang, 1 + static_cast<int>(stream.Below(3)), {2 * half, half}, {asked, requests ? asked : half}};
    if (!two_types) job.seconds.pop_back(), job.requested.pop_back();
    instance.jobs.push_back(job);
    list.push_back({static_cast<double>(now), 2.0 * half, 0, gang});
    weights.push_back(job.weight);
    requested.push_back(asked);
  }
  instance.data = two_types ? test::TinyData({{"a", 4}, {"b", 3}}, {{1.0, 2.0}}, list)
                            : test::TinyData({{"a", 5}}, {{1.0}}, list);
  instance.data.jobs.weight = weights;
  if (requests) instance.data.jobs.requested_s = requested;
  return instance;
}

// First starts and types under `spec`.
std::vector<std::pair<int, int>> Starts(const Scenario& scenario, const std::string& spec) {
  std::vector<std::pair<int, int>> starts(U(scenario.num_jobs()));
  for (const Event& event : test::RunOf(spec, scenario).events) {
    if (event.kind == EventKind::kStart) starts[U(event.job)] = {static_cast<int>(event.time), event.type};
  }
  return starts;
}

}  // namespace

// Four GPUs. Jobs 0 and 1 have two each, by their requests until 10 and 20 s; job 2, which wants all four, is planned for 20, and job 3,
// of two for 10 s, between: at 10. Job 1 ends at 5 instead: job 2 moves up to 10, and job 3, behind it, back to 20.
TEST_CASE("conservative: plans are made anew, so a reservation may become later", "[baselines][conservative]") {
  for (const double seconds : {19.0, 4.0}) {
    CAPTURE(seconds);
    ScenarioData data =
        test::TinyData({{"a", 4}}, {{1.0}}, {{0, 10, 0, 2}, {1, seconds, 0, 2}, {2, 10, 0, 4}, {3, 10, 0, 2}});
    data.jobs.requested_s = {10, 19, 10, 10};
    const bool early = seconds < 19.0;
    CHECK(test::Ends("conservative", Scenario(std::move(data))) ==
          (early ? std::vector<double>{10, 5, 20, 30} : std::vector<double>{10, 20, 30, 20}));
  }
}

TEST_CASE("conservative: every start is the brute-force planner's", "[baselines][conservative]") {
  int overtakes = 0, early = 0, not_easy = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const bool two_types : {false, true}) {
      for (const bool requests : {false, true}) {
        for (const bool by_weight : {false, true}) {
          CAPTURE(seed, two_types, requests, by_weight);
          Instance instance = Draw(seed, two_types, requests);
          const Planner planner{two_types ? std::vector<int>{4, 3} : std::vector<int>{5}, by_weight};
          planner.Run(instance.jobs);
          const Scenario scenario(std::move(instance.data));
          const std::string rule = by_weight ? "priority(backfill=" : "fcfs(backfill=";
          const auto starts = Starts(scenario, rule + "conservative)");
          not_easy += starts != Starts(scenario, rule + "easy)");
          for (std::size_t i = 0; i < starts.size(); ++i) {
            CAPTURE(i);
            CHECK(starts[i].first == instance.jobs[i].start);
            CHECK(starts[i].second == instance.jobs[i].type);
            early += instance.jobs[i].requested != instance.jobs[i].seconds;
            for (std::size_t k = 0; k < i; ++k) overtakes += starts[i].first < starts[k].first;
          }
        }
      }
    }
  }
  // The instances are such that backfilling matters, which kind matters too, and jobs end before their
  // request.
  CHECK(overtakes > 500);
  CHECK(not_easy > 8);
  CHECK(early > 200);
}

}  // namespace berth
