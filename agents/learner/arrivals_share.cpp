#include "agents/learner/arrivals_share.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void SumOver(const Ranks& ranks, std::span<double> values) {
  if (ranks.many()) ranks.group().Sum(values);
}

// In units of tau, for discount = exp(-time).
std::vector<double> Times(std::span<const float> discount) {
  std::vector<double> times(discount.size());
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (discount[k] > 0.0F && discount[k] < 1.0F) times[k] = -std::log(static_cast<double>(discount[k]));
  }
  return times;
}

// What came, less what comes on average in as much time.
std::vector<float> Surprise(std::span<const float> came, const std::vector<double>& times,
                            const Ranks& ranks) {
  std::array<double, 2> all = {std::accumulate(came.begin(), came.end(), 0.0),
                               std::accumulate(times.begin(), times.end(), 0.0)};
  SumOver(ranks, all);
  const double rate = all[1] > 0.0 ? all[0] / all[1] : 0.0;
  std::vector<float> surprise(came.size());
  for (std::size_t k = 0; k < came.size(); ++k) surprise[k] = static_cast<float>(came[k] - rate * times[k]);
  return surprise;
}

// As an advantage sums up temporal differences, values being 0.
std::vector<float> Summed(GaeInput input, double lambda, double within, std::span<const float> terms) {
  const std::vector<float> zeros(terms.size());
  std::vector<float> sums(terms.size()), returns(terms.size());
  input.reward = terms;
  input.value = input.final_value = zeros;
  input.last_value = std::span(zeros).first(U(input.envs));
  Gae(input, lambda, within, sums, returns);
  return sums;
}

using Columns = std::array<std::span<const float>, 3>;

// [i][j], j <= i. All of them in one pass: it is part of every update.
std::array<std::array<double, 3>, 3> Covariances(const Columns& columns, const Ranks& ranks) {
  const std::size_t rows = columns[0].size();
  std::array<double, 4> mean{0.0, 0.0, 0.0, static_cast<double>(rows)};
  for (std::size_t k = 0; k < rows; ++k) {
    for (std::size_t i = 0; i < 3; ++i) mean[i] += columns[i][k];
  }
  SumOver(ranks, mean);
  const double n = mean[3];
  for (double& m : mean) m /= n;
  std::array<std::array<double, 3>, 3> sums{};
  for (std::size_t k = 0; k < rows; ++k) {
    std::array<double, 3> off;
    for (std::size_t i = 0; i < 3; ++i) off[i] = columns[i][k] - mean[i];
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j <= i; ++j) sums[i][j] += off[i] * off[j];
    }
  }
  for (auto& row : sums) {
    SumOver(ranks, row);
    for (double& sum : row) sum /= n;
  }
  return sums;
}

}  // namespace

double ArrivalsShare(const GaeInput& input, double lambda, double lambda_within_instant,
                     const NewJobs& arrived, std::span<const float> advantage, const Ranks& ranks) {
  BERTH_CHECK(arrived.jobs.size() == advantage.size() && arrived.work.size() == advantage.size(),
              advantage.size());
  const std::vector<double> times = Times(input.discount);
  const auto summed = [&](std::span<const float> came) {
    return Summed(input, lambda, lambda_within_instant, Surprise(came, times, ranks));
  };
  const std::vector<float> jobs = summed(arrived.jobs), work = summed(arrived.work);
  const auto c = Covariances({advantage, jobs, work}, ranks);
  const double all = c[0][0], jj = c[1][1], ww = c[2][2], jw = c[2][1], aj = c[1][0], aw = c[2][0];
  if (!(all > 0.0) || !(jj > 0.0)) return kNaN;
  const double determinant = jj * ww - jw * jw;
  // Jobs of one size: their work says what their number does.
  if (!(determinant > 1e-9 * jj * ww)) return std::min(aj * aj / (jj * all), 1.0);
  const double explained = (aj * aj * ww - 2.0 * aj * aw * jw + aw * aw * jj) / determinant;
  return std::min(explained / all, 1.0);
}

}  // namespace berth
