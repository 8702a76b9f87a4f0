#include "baselines/gavel/gandiva.hpp"

#include <algorithm>
#include <numeric>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr double kLeastGain = 1.0;  // over all types together, as the reference sums it

}  // namespace

double PairingGain(const PackedProblem& problem, int a, int b) {
  const Problem& base = problem.base;
  double gain = 0.0;
  for (int j = 0; j < base.types(); ++j) {
    const double first = problem.Beside(a, b, j), second = problem.Beside(b, a, j);
    if (first <= 0.0 || second <= 0.0) continue;
    gain += first / base.throughput[base.at(a, j)] + second / base.throughput[base.at(b, j)];
  }
  return gain;
}

void GandivaPacking::Reset(std::uint64_t seed) {
  random_.emplace(seed, Purpose::kScheduler);
  partner_.clear();
}

bool GandivaPacking::Allocate(const PackedProblem& problem, PackedAllocation& x) {
  BERTH_CHECK(random_.has_value(), "Reset comes first");
  const Problem& base = problem.base;
  const int m = base.jobs();
  x = {IsolatedAllocation(base), {}, {}};
  const int wanted = std::accumulate(base.gang.begin(), base.gang.end(), 0);
  if (wanted <= std::accumulate(base.workers.begin(), base.workers.end(), 0)) return true;

  if (U(base.key.back()) >= partner_.size()) partner_.resize(U(base.key.back()) + 1, -1);
  std::vector<int> mate(U(m), -1), alone;  // positions in the problem
  for (int i = 0; i < m; ++i) {
    int& key = partner_[U(base.key[U(i)])];
    const auto at = std::lower_bound(base.key.begin(), base.key.end(), key);
    const int k = static_cast<int>(at - base.key.begin());
    // Theirs was another while one of the two could run nowhere.
    const bool here = key >= 0 && at != base.key.end() && *at == key && partner_[U(key)] == base.key[U(i)];
    if (here && PairingGain(problem, i, k) >= kLeastGain) {
      mate[U(i)] = k;
    } else {
      key = -1;
      alone.push_back(i);
    }
  }
  const int tries = static_cast<int>(alone.size());
  for (int t = 0; t < tries && alone.size() > 1; ++t) {
    const std::uint32_t n = static_cast<std::uint32_t>(alone.size());
    const std::uint32_t first = random_->Below(n);
    const std::uint32_t other = random_->Below(n - 1);
    const std::uint32_t second = other < first ? other : other + 1;
    const int a = alone[first], b = alone[second];
    if (PairingGain(problem, a, b) <= 0.0) continue;
    mate[U(a)] = b, mate[U(b)] = a;
    partner_[U(base.key[U(a)])] = base.key[U(b)];
    partner_[U(base.key[U(b)])] = base.key[U(a)];
    alone.erase(alone.begin() + std::max(first, second));
    alone.erase(alone.begin() + std::min(first, second));
  }

  // The isolated split with a combo in the place of a job.
  Problem split;
  split.workers = base.workers;
  for (int i = 0; i < m; ++i) {
    if (mate[U(i)] >= 0 && mate[U(i)] < i) continue;
    split.key.push_back(i);
    split.gang.push_back(base.gang[U(i)]);
  }
  const Allocation shares = IsolatedAllocation(split);
  std::fill(x.alone.begin(), x.alone.end(), 0.0);
  for (int c = 0; c < split.jobs(); ++c) {
    const int i = split.key[U(c)];
    const auto row = shares.begin() + static_cast<std::ptrdiff_t>(split.at(c, 0));
    if (mate[U(i)] < 0) {
      std::copy_n(row, base.types(), x.alone.begin() + static_cast<std::ptrdiff_t>(base.at(i, 0)));
    } else {
      x.pairs.push_back({i, mate[U(i)]});
      x.together.insert(x.together.end(), row, row + base.types());
    }
  }
  return true;
}

}  // namespace berth::gavel
