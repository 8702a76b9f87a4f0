// Themis: the partial allocation auction by hand and against trying out every allocation, leases against a
// loop of the test's own, widths by hand, and its sharing incentive.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "baselines/fairness/partial_allocation.hpp"
#include "data/workloads.hpp"
#include "env/base/rng.hpp"
#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using Apps = std::vector<std::vector<AuctionBid>>;

// The greatest product of 1 / rho over every allocation, app `out` left aside; and the allocation.
double TryAll(const Apps& apps, const std::vector<int>& room, int out, std::vector<int>& best) {
  double most = -1.0;
  std::vector<int> now(apps.size(), 0);
  std::vector<int> left = room;
  const std::function<void(std::size_t, double)> go = [&](std::size_t i, double product) {
    if (i == apps.size()) {
      if (product > most) most = product, best = now;
      return;
    }
    for (std::size_t b = 0; b < apps[i].size(); ++b) {
      const AuctionBid& bid = apps[i][b];
      if (static_cast<int>(i) == out && b > 0) break;
      if (bid.gpus > 0 && bid.gpus > left[static_cast<std::size_t>(bid.type)]) continue;
      if (bid.gpus > 0) left[static_cast<std::size_t>(bid.type)] -= bid.gpus;
      now[i] = static_cast<int>(b);
      go(i + 1, static_cast<int>(i) == out ? product : product / bid.rho);
      if (bid.gpus > 0) left[static_cast<std::size_t>(bid.type)] += bid.gpus;
    }
  };
  go(0, 1.0);
  return most;
}

// GPUs in units of `unit`; rho falls with the number, not always.
Apps DrawApps(Stream& draw, int apps, int types, int unit) {
  Apps drawn;
  for (int i = 0; i < apps; ++i) {
    std::vector<AuctionBid> bids = {{-1, 0, draw.Uniform(1.0, 4.0)}};
    for (int type = 0; type < types; ++type) {
      const double speed = draw.Uniform(0.5, 3.0);
      for (int gpus = 1; gpus <= 3; ++gpus) {
        if (draw.Below(4) > 0) bids.push_back({type, gpus * unit, bids[0].rho / (1.0 + speed * gpus)});
      }
    }
    drawn.push_back(std::move(bids));
  }
  return drawn;
}

void CheckAgainstAll(const Apps& apps, const std::vector<int>& room) {
  const AuctionResult result = PartialAllocation(apps, room);
  std::vector<int> best, ignored, left = room;
  const double most = TryAll(apps, room, -1, best);
  double product = 1.0;
  for (std::size_t i = 0; i < apps.size(); ++i) {
    const AuctionBid& bid = apps[i][static_cast<std::size_t>(result.chosen[i])];
    product /= bid.rho;
    if (bid.gpus > 0) left[static_cast<std::size_t>(bid.type)] -= bid.gpus;
    const double without = TryAll(apps, room, static_cast<int>(i), ignored);
    if (bid.gpus > 0) CHECK(result.kept[i] == Approx(most * bid.rho / without).epsilon(1e-9));
    CHECK((result.kept[i] > 0.0 && result.kept[i] <= 1.0));
    if (bid.gpus == 0) CHECK(result.kept[i] == 1.0);
  }
  CHECK(product == Approx(most).epsilon(1e-9));
  CHECK(*std::min_element(left.begin(), left.end()) >= 0);
}

Scenario Elastic(int gpus, const std::vector<test::TinyJob>& jobs) {
  return test::With(test::TinyData({{"a", gpus}}, {{1.0}}, jobs),
                    "elasticity(min_factor=0,max_factor=8,measured=false,scaling=linear,resize_s=0)");
}

}  // namespace

// Two GPUs. A has rho 4, 2, 1 with none, one, both; B 6, 2, 1.5. The products of 1 / rho: both to A
// 1/1 x 1/6, one each 1/2 x 1/2, both to B 1/4 x 1/1.5 = 1/6. So one each. Without A, B would have both: A keeps
// (1/2) / (1/1.5) = 3/4. Without B, A would have both: B keeps (1/2) / (1/1) = 1/2.
TEST_CASE("themis: an auction by hand") {
  const Apps apps = {{{-1, 0, 4.0}, {0, 1, 2.0}, {0, 2, 1.0}}, {{-1, 0, 6.0}, {0, 1, 2.0}, {0, 2, 1.5}}};
  const int room[] = {2};
  const AuctionResult result = PartialAllocation(apps, room);
  CHECK(result.chosen == std::vector<int>{1, 1});
  CHECK(result.kept[0] == Approx(0.75).epsilon(1e-12));
  CHECK(result.kept[1] == Approx(0.5).epsilon(1e-12));
  // Nobody pays where nobody is in another's way, and who gets nothing does not either.
  const int plenty[] = {4};
  CHECK(PartialAllocation(apps, plenty).kept == std::vector<double>{1.0, 1.0});
  const int none[] = {0};
  CHECK(PartialAllocation(apps, none).chosen == std::vector<int>{0, 0});
}

TEST_CASE("themis: no allocation has a greater product, payments by trying out all") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Stream draw(seed, Purpose::kTest);
    const Apps apps = DrawApps(draw, 1 + static_cast<int>(draw.Below(5)), 2, 1);
    CheckAgainstAll(apps, {static_cast<int>(draw.Below(4)), static_cast<int>(draw.Below(5))});
  }
  // Too many GPUs of too many types for a table: by integer programs.
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    Stream draw(seed, Purpose::kTest);
    const Apps apps = DrawApps(draw, 5, 3, 40);
    CheckAgainstAll(apps, {4 * 40, 3 * 40 + 10, 5 * 40 + 10});
  }
}

// Any of 64 types for either of two apps: 2^64 ways to offer them, none at all in 64 bits. App 0 has the least rho on
// type 7, app 1 on type 50; neither is in the other's way.
TEST_CASE("themis: an auction of 64 types") {
  Apps apps(2, {{-1, 0, 4.0}});
  for (int type = 0; type < 64; ++type) {
    apps[0].push_back({type, 1, type == 7 ? 1.0 : 2.0});
    apps[1].push_back({type, 1, type == 50 ? 1.0 : 2.0});
  }
  const AuctionResult result = PartialAllocation(apps, std::vector<int>(64, 1));
  CHECK(result.chosen == std::vector<int>{8, 51});
  CHECK(result.kept[0] == Approx(1.0));
  CHECK(result.kept[1] == Approx(1.0));
}

// One GPU for rigid jobs. Then the auction is one at second price: of those who may bid the GPU goes to the
// greatest rho(none) / rho(GPU), for the lease over the second greatest such ratio. Without a GPU a job counts
// on one in a lease's time. The loop knows nothing else of the scheduler.
TEST_CASE("themis: leases of one GPU against a loop of its own") {
  constexpr double kLease = 100.0;
  for (const double f : {0.0, 0.5}) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(f, seed);
      Stream draw(seed, Purpose::kTest);
      std::vector<test::TinyJob> jobs;
      double arrival = 0.0;
      for (int i = 0; i < 8; ++i) {
        jobs.push_back({arrival, draw.Uniform(50.0, 900.0)});
        arrival += draw.Uniform(10.0, 300.0);
      }
      std::vector<double> left, ends(8, 0.0), counted(8, 0.0);  // counted: the sum of N over time
      for (const test::TinyJob& job : jobs) left.push_back(job.steps);
      double now = 0.0, until = 0.0;
      int holder = -1;
      for (int done = 0; done < 8;) {
        const auto here = [&](std::size_t i) { return jobs[i].arrival <= now + 1e-9 && left[i] > 1e-9; };
        int count = 0;
        for (std::size_t i = 0; i < 8; ++i) count += here(i);
        if (holder < 0 || until <= now + 1e-9) {
          holder = -1;
          struct Bidder {
            double none, ratio;
            std::size_t job;
          };
          std::vector<Bidder> bidders;
          for (std::size_t i = 0; i < 8; ++i) {
            if (!here(i)) continue;
            const double since = now - jobs[i].arrival;
            const double alone = jobs[i].steps * (since > 1e-9 ? counted[i] / since : count);
            const double none = (since + kLease + left[i]) / alone, with = (since + left[i]) / alone;
            bidders.push_back({none, none / with, i});
          }
          std::stable_sort(bidders.begin(), bidders.end(),
                           [](const Bidder& a, const Bidder& b) { return a.none > b.none; });
          bidders.resize(static_cast<std::size_t>(
              std::ceil((1.0 - f) * static_cast<double>(bidders.size()) - 1e-9)));
          double best = 0.0, second = 1.0;
          for (const Bidder& bidder : bidders) {
            if (bidder.ratio > best) {
              second = std::max(1.0, best);
              best = bidder.ratio, holder = static_cast<int>(bidder.job);
            } else {
              second = std::max(second, bidder.ratio);
            }
          }
          until = now + kLease / second;
        }
        double next = std::numeric_limits<double>::infinity();
        for (const test::TinyJob& job : jobs) {
          if (job.arrival > now + 1e-9) next = std::min(next, job.arrival);
        }
        if (holder >= 0) next = std::min({next, until, now + left[static_cast<std::size_t>(holder)]});
        for (std::size_t i = 0; i < 8; ++i) counted[i] += here(i) ? count * (next - now) : 0.0;
        if (holder >= 0) {
          const auto h = static_cast<std::size_t>(holder);
          left[h] -= next - now;
          if (left[h] <= 1e-6) left[h] = 0.0, ends[h] = next, holder = -1, ++done;
        }
        now = next;
      }
      const std::string spec = "themis(lease=100,f=" + std::to_string(f) + ")";
      const std::vector<double> got = test::Ends(spec, test::Tiny({{"a", 1}}, {{1.0}}, jobs));
      for (std::size_t i = 0; i < 8; ++i) CHECK(got[i] == Approx(ends[i]).epsilon(1e-9));
    }
  }
}

// Equal jobs of linear speed-up on four GPUs. Two that bid get two each; alone one would get all four, twice
// as fast: each keeps 1/2 of its two. With f = 0.5 one of them bids, and there is nobody to pay for. Of three
// with f = 0.4 two bid, and the third has the two GPUs that they leave.
TEST_CASE("themis: elastic jobs by hand") {
  const auto equal = [](int n) {
    return Elastic(4, std::vector<test::TinyJob>(static_cast<std::size_t>(n), {0.0, 4000.0}));
  };
  CHECK(test::FirstWidths("themis(f=0)", equal(2)) == std::vector<int>{1, 1});
  CHECK(test::FirstWidths("themis(f=0.5)", equal(2)) == std::vector<int>{4, 0});
  CHECK(test::FirstWidths("themis(f=0.4)", equal(3)) == std::vector<int>{1, 1, 2});
}

// A gang bids for its GPUs as a whole: of four GPUs a gang of 4 and two single jobs of its length. As gangs'
// rates here are those of single jobs, all have the same bids but for their GPUs: both single jobs are worth
// more than the gang. Each keeps 1 / (what the gang is worth): the other single job has room without it, so
// it pays nothing. The two GPUs left are too few.
TEST_CASE("themis: rigid gangs by hand") {
  const Scenario scenario =
      test::Tiny({{"a", 4}}, {{1.0}}, {{0.0, 1000.0, 0, 4}, {0.0, 1000.0}, {0.0, 1000.0}});
  CHECK(test::FirstWidths("themis(f=0)", scenario) == std::vector<int>{0, 1, 1});
  // With f = 0.9 one bids, the first of equals, and has all GPUs.
  CHECK(test::FirstWidths("themis(f=0.9)", scenario) == std::vector<int>{4, 0, 0});
}

// Sharing incentive: nobody finishes later than on a cluster of his own of 1/N of the GPUs, N the mean number
// of jobs while he was there. The paper promises it as f nears 1 and leases are short beside the jobs.
TEST_CASE("themis: sharing incentive of elastic jobs") {
  const auto worst = [](const std::string& spec) {
    double rho = 0.0;
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
      Stream draw(seed, Purpose::kTest);
      std::vector<test::TinyJob> jobs;
      for (int i = 0; i < 10; ++i) jobs.push_back({draw.Uniform(0.0, 4000.0), draw.Uniform(4000.0, 16000.0)});
      std::sort(jobs.begin(), jobs.end(),
                [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
      const std::vector<double> ends = test::Ends(spec, Elastic(8, jobs));
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        double jobs_time = 0.0;
        for (std::size_t k = 0; k < jobs.size(); ++k) {
          jobs_time +=
              std::max(0.0, std::min(ends[i], ends[k]) - std::max(jobs[i].arrival, jobs[k].arrival));
        }
        const double shared = ends[i] - jobs[i].arrival;
        rho = std::max(rho, shared / (jobs[i].steps / 8.0 * jobs_time / shared));
      }
    }
    return rho;
  };
  CHECK(worst("themis(f=0.9,lease=20)") <= 1.05);
  CHECK(worst("fcfs") > 2.0);
}

// On spot nodes a gang whose lease of some GPUs has ended is widened again to the width that it runs on, of which one GPU is about to go.
// The next width would take that one anew: there was one GPU fewer than it planned with.
TEST_CASE("themis: who is widened to where it runs on GPUs about to go gets no more") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("t4=64/4");
  settings.clock = {ClockKind::kRounds, 60.0};
  settings.features = ParseFeatures("failures(mtbf_h=0,spot_types=t4,spot_mtbf_h=8);checkpoints(interval=600)");
  const Scenario scenario = MakeWorkload("adaptive(mix=pollux)", settings)->Make(1004, Split::kEvaluate, 0, 0);
  const std::unique_ptr<Scheduler> scheduler = test::Make("themis");
  RunOptions options;
  options.max_time_s = 10500.0;  // illegal at 10380
  CHECK(Run(scenario, *scheduler, "themis", options).metrics.preemptions_per_job > 0.0);
}

}  // namespace berth
