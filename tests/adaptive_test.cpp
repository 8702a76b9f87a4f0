// What `adaptive` does to the memory of the schedulers that it switches between, by hand.
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {

// Two long jobs on one GPU, turns of 10 s: alone, round_robin changes them at 10, 20, 30, ... Under adaptive
// with the same scheduler as both arms a choice is due every 15 s, and each is a switch: at 15 the second arm
// has not been tried; at 30 the means are equal (two jobs in the system in every epoch), and so are the
// counts, so the first. Who is switched to begins afresh, with the jobs in order of arrival: job 0's turn
// begins at 15 and at 30, when job 1 has had 5 s of its own.
TEST_CASE("adaptive: an arm that is switched to knows the jobs, not its own past", "[composition]") {
  const Scenario scenario = test::Tiny({{"a", 1}}, {{1.0}}, {{0, 1000}, {0, 1000}});
  const auto first = [&](const char* spec) {
    const test::Log log = test::Decisions(spec, scenario);
    return test::Log(log.begin(), log.begin() + 9);
  };
  CHECK(first("round_robin(quantum=10)") == test::Log{"0 start 0@0", "10 stop 0", "10 start 1@0", "20 stop 1",
                                                      "20 start 0@0", "30 stop 0", "30 start 1@0",
                                                      "40 stop 1", "40 start 0@0"});
  CHECK(first("adaptive(arms=round_robin(quantum=10)|round_robin(quantum=10),epoch=15)") ==
        test::Log{"0 start 0@0", "10 stop 0", "10 start 1@0", "15 stop 1", "15 start 0@0", "25 stop 0",
                  "25 start 1@0", "30 stop 1", "30 start 0@0"});
}

// Job 0 ends at 10; from then to 200 nobody is there, and the only GPU is out from 100 to 300: at 200 an epoch ends
// without jobs, at 201 one with a job, neither with a GPU. Jobs 1 and 2 run in turn from 300 on.
TEST_CASE("adaptive: an epoch with nobody there, and one without a GPU, have rewards too", "[composition]") {
  const Scenario scenario = test::With(test::TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {200, 10}, {201, 20}}),
                                       "failures(mtbf_h=0,events=100:300:gpu:a/0)");
  CHECK(test::Ends("adaptive(arms=fcfs|srpt,epoch=1)", scenario) == std::vector<double>{10, 310, 330});
}

// Bursts of jobs with idle time between: an epoch's mean counts the jobs as long as they are there, whoever asks.
TEST_CASE("adaptive: in a part that is the whole cluster it is adaptive", "[composition]") {
  const std::string adaptive = "adaptive(arms=fcfs|srpt,epoch=30)";
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    Stream draw(seed, Purpose::kTest);
    std::vector<test::TinyJob> jobs;
    for (int burst = 0; burst < 40; ++burst) {
      const double at = 200.0 * burst;
      const int many = 1 + static_cast<int>(draw.Below(5));
      for (int i = 0; i < many; ++i) jobs.push_back({at + i, draw.Uniform(1.0, 30.0)});
    }
    const Scenario scenario = test::Tiny({{"a", 1}}, {{1.0}}, jobs);
    CHECK(test::Ends("pools(pools=one:*,inner=" + adaptive + ")", scenario) == test::Ends(adaptive, scenario));
  }
}

}  // namespace berth
