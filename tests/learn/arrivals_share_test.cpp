// The share of the advantage's variance that arrivals explain, on advantages made of known parts.
#include "agents/learner/arrivals_share.hpp"

#include <cmath>
#include <vector>

#include "env/base/rng.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

// One environment whose steps all last as long; arrivals one in two steps, each of work 1 to 9.
struct Steps {
  explicit Steps(int t) : zero(t), one(1), flags(t), discount(t, 0.9F) {
    Stream draw(4, Purpose::kTest);
    for (int k = 0; k < t; ++k) {
      jobs.push_back(static_cast<float>(draw.Below(2)));
      work.push_back(jobs.back() * (1.0F + static_cast<float>(draw.Below(9))));
      noise.push_back(static_cast<float>(draw.Normal()));
    }
  }
  double Share(const std::vector<float>& advantage, double lambda) const {
    const GaeInput input{static_cast<int>(zero.size()), 1, zero, discount, zero, flags, flags, zero, one};
    return ArrivalsShare(input, lambda, 1.0, {jobs, work}, advantage);
  }
  std::vector<float> zero, one;
  std::vector<std::uint8_t> flags;
  std::vector<float> discount, jobs, work, noise;
};

double Variance(const std::vector<float>& x) {
  double sum = 0.0, squares = 0.0;
  for (const float v : x) sum += v, squares += static_cast<double>(v) * v;
  const auto n = static_cast<double>(x.size());
  return squares / n - sum / n * sum / n;
}

}  // namespace

TEST_CASE("arrivals explain all of an advantage made of them, none of one made of others, half of half") {
  const Steps steps(4000);
  std::vector<float> made, half;
  for (std::size_t k = 0; k < steps.jobs.size(); ++k)
    made.push_back(-2.0F * steps.jobs[k] - 3.0F * steps.work[k]);
  // With lambda 0 the sums are the steps' own, and the average of equal times is a constant.
  CHECK(steps.Share(made, 0.0) == Approx(1.0));
  CHECK(steps.Share(steps.jobs, 0.0) == Approx(1.0));
  // 4,000 draws: R^2 of two unrelated columns is about 2 / 4000.
  CHECK(steps.Share(steps.noise, 0.0) < 0.005);
  const auto scale = static_cast<float>(std::sqrt(Variance(made) / Variance(steps.noise)));
  for (std::size_t k = 0; k < made.size(); ++k) half.push_back(made[k] + scale * steps.noise[k]);
  CHECK(steps.Share(half, 0.0) == Approx(0.5).margin(0.04));  // 3 deviations of a correlation of 4,000 draws
}

TEST_CASE("arrivals later in the rollout count as the advantage counts them") {
  // A_t = sum over l of (0.9 * 0.5)^l times the step's own: what Gae makes of it with values of 0. One
  // arrival at the end of eight steps, of which the average a step is taken off: the regression has the very
  // column.
  const Steps steps(4000);
  std::vector<float> sum(steps.work.size());
  double later = 0.0, mean = 0.0;
  for (const float w : steps.work) mean += w / static_cast<double>(steps.work.size());
  for (std::size_t k = sum.size(); k-- > 0;) {
    later = steps.work[k] - mean + 0.45 * later;
    sum[k] = static_cast<float>(later);
  }
  CHECK(steps.Share(sum, 0.5) == Approx(1.0));
  CHECK(steps.Share(sum, 0.0) < 0.9);
}

TEST_CASE("no share where nothing arrives, or nothing is said") {
  Steps steps(100);
  const std::vector<float> noise = steps.noise, none(noise.size());
  CHECK(std::isnan(steps.Share(none, 0.9)));
  steps.jobs = steps.work = none;
  CHECK(std::isnan(steps.Share(noise, 0.9)));
}

TEST_CASE("jobs of one size: their work says what their number does") {
  Steps steps(500);
  steps.work = steps.jobs;
  CHECK(steps.Share(steps.jobs, 0.0) == Approx(1.0));
}

}  // namespace berth
