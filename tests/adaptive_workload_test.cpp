// The generator of jobs that choose their batch: requests as each published workload has them.
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "data/workloads.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

using Request = std::pair<int, int>;  // GPUs, samples a step

// How often each request of `application` was drawn.
std::map<Request, int> Drawn(const std::string& mix, const std::string& application, int jobs) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("t4=64/4");
  settings.clock = {ClockKind::kRounds, 60.0};
  const Scenario scenario =
      MakeWorkload("adaptive(rate=0,mix=" + mix + ")", settings)->Make(1, Split::kEvaluate, 0, 0, jobs);
  const ScenarioData& data = scenario.data();
  std::map<Request, int> counts;
  for (std::size_t j = 0; j < data.jobs.id.size(); ++j) {
    if (data.throughputs.job_types[static_cast<std::size_t>(data.jobs.job_type[j])] == application)
      ++counts[{data.jobs.gang[j], data.jobs.batch_size[j]}];
  }
  return counts;
}

}  // namespace

// Pollux' 1,280 jobs at load 1 have 26 of imagenet: 9 for (24, 3200), 9 for (32, 6400), 8 for (48, 6400). Sia's have
// (10, 1600), (12, 3200) and (14, 3200): its clusters have no 48 GPUs of one type. Each within five standard errors.
TEST_CASE("adaptive: imagenet asks for what it does in the published workload") {
  const std::set<Request> pollux = {{24, 3200}, {32, 6400}, {48, 6400}};
  const std::set<Request> sia = {{10, 1600}, {12, 3200}, {14, 3200}};
  constexpr int kJobs = 6000;
  for (const auto& [mix, share, requests] :
       {std::tuple("pollux", 0.020, pollux), std::tuple("newtrace", 0.008, sia), std::tuple("helios", 0.029, sia)}) {
    CAPTURE(mix);
    std::set<Request> seen;
    for (const auto& [request, count] : Drawn(mix, "imagenet", kJobs)) {
      seen.insert(request);
      CAPTURE(request.first, request.second, count);
      const double of_jobs = share / 3.0;
      CHECK(std::abs(count - of_jobs * kJobs) < 5.0 * std::sqrt(of_jobs * (1.0 - of_jobs) * kJobs));
    }
    CHECK(seen == requests);
  }
}

}  // namespace berth
