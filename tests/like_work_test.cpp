// `like`: what a fitted model draws is as much work as the log has.
#include <algorithm>
#include <cmath>
#include <vector>

#include "data/like/model.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"

namespace berth {

// Few jobs and long tails: straight lines between quantiles' logarithms lie below the mean of 30 run times that grow by a
// half each, even with the largest in its place, and above that of 7 short jobs and 9 long ones. Longer limits are used more,
// so that the mean limit times the mean part of it is less than the mean run time; or every one is used up.
TEST_CASE("like: a model has the log's GPU-seconds", "[like]") {
  std::vector<test::TinyJob> jobs;
  for (int i = 0; i < 30; ++i) jobs.push_back({60.0 * i, 10.0 * std::pow(1.5, i), 0, 1});
  for (int i = 0; i < 16; ++i) jobs.push_back({2000.0 + i, i < 7 ? 1.0 : 1000.0, 0, 2});
  for (int i = 0; i < 3; ++i) jobs.push_back({3000.0 + i, i < 2 ? 5.0 : 9000.0, 0, 4});
  const ScenarioData plain = test::TinyData({{"v100", 4}}, {{2.0}}, jobs);
  ScenarioData limited = plain, used_up = plain;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    limited.jobs.requested_s.push_back(4100.0 + 80.0 * static_cast<double>(job));  // all within a factor of two
    used_up.jobs.requested_s.push_back(0.5 * plain.jobs.total_steps[job]);
    limited.jobs.total_steps[job] = limited.jobs.requested_s[job] * 0.04 * static_cast<double>(job + 1);
  }
  for (const ScenarioData& data : {plain, limited, used_up}) {
    const LikeModel model = FitLike(Scenario(data));
    for (const LikeClass& of : model.classes) {
      CAPTURE(of.gpus, of.jobs);
      double work = 0.0, most = 0.0, drawn = of.run_s.values.empty() ? of.limit_s.Mean() * of.limit_used.Mean() : of.run_s.Mean();
      for (std::size_t job = 0; job < jobs.size(); ++job) {
        if (data.jobs.gang[job] != of.gpus) continue;
        const double run_s = LikeRunSeconds(data, job);
        work += run_s * of.gpus;
        most = std::max(most, data.jobs.requested_s.empty() ? run_s : run_s / data.jobs.requested_s[job]);
      }
      CHECK(of.jobs * of.gpus * drawn == Approx(work).epsilon(2e-5));  // six digits of each value
      const LikeQuantiles& values = of.run_s.values.empty() ? of.limit_used : of.run_s;
      CHECK(values.values.back() <= most * (1.0 + 5e-6));  // nothing is beyond what the log has
      CHECK(std::is_sorted(values.values.begin(), values.values.end()));
    }
  }
}

}  // namespace berth
