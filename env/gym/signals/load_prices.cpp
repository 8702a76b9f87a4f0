#include "env/gym/signals/load_prices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "env/base/portable_math.hpp"

namespace berth {
namespace {

constexpr int kSteps = 200;

// Which type's GPUs it uses.
std::size_t Whole(std::span<const TypePart> parts, std::size_t type) {
  return parts.empty() || parts[type].whole < 0 ? type : static_cast<std::size_t>(parts[type].whole);
}

// So that they are worth 1 in all.
void Normalize(std::span<const double> gpus, std::span<const TypePart> parts, LoadPrices& prices) {
  double all = 0.0;
  for (std::size_t g = 0; g < gpus.size(); ++g) all += Whole(parts, g) == g ? gpus[g] * prices.price[g] : 0.0;
  for (const double own : prices.own) all += own;
  for (double& price : prices.price) price /= all;
  for (double& own : prices.own) own /= all;
}

// The type on which the job costs least, and what.
std::pair<std::size_t, double> Cheapest(const TypedWork& job, std::span<const double> price, double own) {
  std::pair<std::size_t, double> best = {0, std::numeric_limits<double>::infinity()};
  for (std::size_t g = 0; g < price.size(); ++g) {
    const double cost = job.work * price[g] + job.alone * own;
    if (job.speed[g] > 0.0 && cost / job.speed[g] < best.second) best = {g, cost / job.speed[g]};
  }
  return best;
}

}  // namespace

LoadPrices FindLoadPrices(std::span<const TypedWork> jobs, std::span<const double> gpus,
                          std::span<const TypePart> parts) {
  LoadPrices best, now;
  now.price.assign(gpus.size(), 1.0);
  for (std::size_t g = 0; g < parts.size(); ++g) now.price[g] = parts[g].fraction();
  for (const TypedWork& job : jobs)
    now.own.push_back(job.alone > 0.0 ? 1.0 / static_cast<double>(jobs.size()) : 0.0);
  std::vector<double> used(gpus.size()), busy(jobs.size());
  for (int step = 0; step < kSteps; ++step) {
    Normalize(gpus, parts, now);
    std::fill(used.begin(), used.end(), 0.0);
    now.load = 0.0;
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      const auto [type, cost] = Cheapest(jobs[k], now.price, now.own[k]);
      now.load += cost;
      const double part = parts.empty() ? 1.0 : parts[type].fraction();
      const std::size_t whole = Whole(parts, type);
      used[whole] += part * jobs[k].work / jobs[k].speed[type] / gpus[whole];
      busy[k] = jobs[k].alone / jobs[k].speed[type];
    }
    if (step == 0 || now.load > best.load) best = now;
    double most = 0.0;
    for (const double share : used) most = std::max(most, share);
    for (const double time : busy) most = std::max(most, time);
    if (!(most > 0.0)) break;
    const double rate = 1.0 / most / std::sqrt(4.0 + step);
    for (std::size_t g = 0; g < used.size(); ++g) now.price[g] *= Exp(rate * used[Whole(parts, g)]);
    for (std::size_t k = 0; k < busy.size(); ++k) now.own[k] *= Exp(rate * busy[k]);
  }
  return best;
}

}  // namespace berth
