// Preemptive rules beside GPUs that are about to go (a notice of feature failures): nobody else may have them, so who runs there stops
// nobody, and is not stopped for nothing.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using test::Ends;
using test::TinyData;
using test::With;

constexpr const char* kWhole[] = {"anticipate",
                                  "deadline_admission",
                                  "edf",
                                  "elastic_srpt",
                                  "equal_share",
                                  "evacuate",
                                  "fcfs",
                                  "gandiva",
                                  "gang_scheduling",
                                  "gavel",
                                  "gavel(objective=fifo)",
                                  "gavel_tuned",
                                  "gittins",
                                  "guard",
                                  "hierarchical",
                                  "las",
                                  "least_laxity",
                                  "matching",
                                  "nash_welfare",
                                  "optimus",
                                  "optimus_tuned",
                                  "pools(inner=srpt)",
                                  "predicted",
                                  "preempt_migrate",
                                  "priority(preemptive=true)",
                                  "proportional_fairness",
                                  "queue(order=sjf,preemption=order)",
                                  "round_robin",
                                  "shockwave",
                                  "srpt",
                                  "themis",
                                  "tiresias",
                                  "tuned",
                                  "tuned_blind",
                                  "weighted_round_robin"};
// Of a gang whose type has fewer GPUs now than it asks for, and which stays all the same.
constexpr const char* kGangs[] = {"edf",
                                  "elastic_srpt",
                                  "equal_share",
                                  "fcfs",
                                  "gang_scheduling",
                                  "gittins",
                                  "hierarchical",
                                  "las",
                                  "least_laxity",
                                  "matching",
                                  "nash_welfare",
                                  "optimus",
                                  "optimus_tuned",
                                  "pools(inner=srpt)",
                                  "preempt_migrate",
                                  "priority(preemptive=true)",
                                  "round_robin",
                                  "srpt",
                                  "tiresias",
                                  "tuned"};

}  // namespace

// Each job has a GPU of its own and would end before either goes, at 20,000 s, of which is told at 100 s. From then on one GPU is in
// service: the job there took the other one's place.
TEST_CASE("leaving GPUs: who stays there takes no room of those that stay", "[schedulers]") {
  for (const char* spec : kWhole) {
    for (const char* gpu : {"0", "1"}) {
      CAPTURE(spec, gpu);
      const std::vector<double> ends = Ends(spec, With(TinyData({{"v100", 2}}, {{1.0}}, {{0, 5000}, {0, 3000}}),
                                                       Join("failures(mtbf_h=0,events=20000:30000:gpu:v100/", gpu, ":19900)")));
      CHECK(ends[0] == Approx(5000.0));
      CHECK(ends[1] == Approx(3000.0));
    }
  }
}

// It would leave three GPUs to others, who are not there, and find three.
TEST_CASE("leaving GPUs: a gang that runs on one of them runs on", "[schedulers]") {
  for (const char* spec : kGangs) {
    CAPTURE(spec);
    CHECK(Ends(spec, With(TinyData({{"a", 4}}, {{1.0}}, {{0, 1000, 0, 4}}), "failures(mtbf_h=0,events=20000:30000:gpu:a/0:19900)"))[0] ==
          Approx(1000.0));
  }
}

// Two GPUs; that of the longest job is to go at 500,000 s, which is told at 50 s. To stop it for the job of 10 s that comes at 100 s frees
// nothing: the other one gives way.
TEST_CASE("leaving GPUs: preempt_migrate stops nobody whose leaving frees nothing", "[schedulers]") {
  const std::vector<double> ends = Ends("preempt_migrate", With(TinyData({{"a", 2}}, {{1.0}}, {{0, 400000}, {0, 100000}, {100, 10}}),
                                                                "failures(mtbf_h=0,events=500000:500001:gpu:a/0:499950)"));
  CHECK(ends == std::vector<double>{400000, 100010, 110});
}

// Of two GPUs at 2 steps/s (a) one is about to go: that of the job of 100 s, or that of 10,000 s. The job of 1,000 steps that comes at 10 s
// takes the GPU at 1 step/s (b) in the first case, for none of a is free before 10,000 s, and ends at 1,010 s; in the second it has that
// of a at 100 s, and ends at 600 s.
TEST_CASE("leaving GPUs: nobody waits for one that goes with its job", "[schedulers]") {
  for (const char* spec : {"conservative", "critical_path", "milp", "annealing", "genetic"}) {
    std::vector<double> ends;
    for (const char* gpu : {"0", "1"}) {
      CAPTURE(spec, gpu);
      const ScenarioData data = TinyData({{"a", 2}, {"b", 1}}, {{2.0, 1.0}}, {{0, 200}, {0, 20000}, {10, 1000}});
      ends.push_back(Ends(spec, With(data, Join("failures(mtbf_h=0,events=1000:1e9:gpu:a/", gpu, ":995)")))[2]);
    }
    CAPTURE(spec, ends[0], ends[1]);
    CHECK(std::min(ends[0], ends[1]) == Approx(600.0));
    CHECK(std::max(ends[0], ends[1]) == Approx(1010.0));
  }
}

// Three GPUs, of which that of the job of 100 s is about to go. The head of the queue wants two, which are free at 300 s, not at 100: so
// the job of 200 s passes it at 20 s.
TEST_CASE("leaving GPUs: easy reserves none that goes with its job", "[schedulers]") {
  const std::vector<double> ends = Ends("easy", With(TinyData({{"a", 3}}, {{1.0}}, {{0, 100}, {0, 300}, {10, 50, 0, 2}, {20, 200}}),
                                                     "failures(mtbf_h=0,events=1000:1e9:gpu:a/0:995)"));
  CHECK(ends == std::vector<double>{100, 300, 350, 220});
}

}  // namespace berth
