// Preemptive rules beside GPUs that are about to go (a notice of feature failures): nobody else may have them, so who runs there stops
// nobody, and is not stopped for nothing.
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

}  // namespace berth
