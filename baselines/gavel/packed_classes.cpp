#include "baselines/gavel/packed_classes.hpp"

#include "env/base/index.hpp"

namespace berth::gavel {
PackedClasses ClassesOf(const PackedProblem& problem) {
  const Problem& base = problem.base;
  PackedClasses classes;
  const std::vector<double> kind(problem.kind.begin(), problem.kind.end());
  Classify(base, base.throughput, {kind, base.weight}, classes.jobs);
  const int n = classes.jobs.size();
  std::vector<int> another = classes.jobs.first;  // a second job of the class, where there is one
  for (int i = 0; i < base.jobs(); ++i) another[U(classes.jobs.of_job[U(i)])] = i;
  classes.one.base = OneOfEach(base, classes.jobs);
  classes.one.members = classes.jobs.members;
  classes.one.beside.resize(U(n) * U(n) * base.workers.size());
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      const int job = classes.jobs.first[U(a)], other = a == b ? another[U(b)] : classes.jobs.first[U(b)];
      for (int j = 0; j < base.types(); ++j) {
        classes.one.beside[base.at(a * n + b, j)] = job == other ? 0.0 : problem.Beside(job, other, j);
      }
    }
  }
  return classes;
}

PackedAllocation Spread(const PackedClasses& classes, const PackedAllocation& x) {
  const int m = static_cast<int>(classes.jobs.of_job.size()), n = classes.jobs.size();
  const std::size_t types = classes.one.base.workers.size();
  const auto copy = [types](const Allocation& from, std::size_t row, Allocation& to) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row * types);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(types));
  };
  PackedAllocation all;
  all.alone.reserve(U(m) * types);
  for (int its : classes.jobs.of_job) copy(x.alone, U(its), all.alone);
  std::vector<int> row_of(U(n) * U(n), -1);  // of a pair of classes in x
  for (std::size_t p = 0; p < x.pairs.size(); ++p) {
    const auto [a, b] = x.pairs[p];
    row_of[U(a * n + b)] = row_of[U(b * n + a)] = static_cast<int>(p);
  }
  for (int i = 0; i < m; ++i) {
    for (int k = i + 1; k < m; ++k) {
      const int row = row_of[U(classes.jobs.of_job[U(i)] * n + classes.jobs.of_job[U(k)])];
      if (row < 0) continue;
      all.pairs.push_back({i, k});
      copy(x.together, U(row), all.together);
    }
  }
  return all;
}

}  // namespace berth::gavel
