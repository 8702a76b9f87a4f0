#include "baselines/gavel/job_classes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

// FNV-1a over words: a hash decides only where to look, never what is equal or what comes first.
struct Hash {
  std::uint64_t value = 14695981039346656037ULL;
  void Add(double number) {
    std::uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    value = (value ^ bits) * 1099511628211ULL;
    value ^= value >> 29;
  }
};

}  // namespace

void Classify(const Problem& problem, std::span<const double> worth,
              std::initializer_list<std::span<const double>> further, JobClasses& classes) {
  const int m = problem.jobs(), types = problem.types();
  const auto row = [&](int i) { return worth.subspan(problem.at(i, 0), U(types)); };
  std::size_t slots = 16;
  while (slots < 2 * U(m)) slots *= 2;
  std::vector<int> table(slots, -1);
  classes.of_job.resize(U(m));
  classes.first.clear();
  classes.members.clear();
  const auto alike = [&](int a, int b) {
    const auto equal = [&](std::span<const double> column) { return column[U(a)] == column[U(b)]; };
    return problem.gang[U(a)] == problem.gang[U(b)] && std::all_of(further.begin(), further.end(), equal) &&
           std::equal(row(a).begin(), row(a).end(), row(b).begin());
  };
  for (int i = 0; i < m; ++i) {
    Hash hash;
    hash.Add(problem.gang[U(i)]);
    for (const auto& column : further) hash.Add(column[U(i)]);
    for (double rate : row(i)) hash.Add(rate);
    std::size_t slot = hash.value & (slots - 1);
    while (table[slot] >= 0 && !alike(classes.first[U(table[slot])], i)) slot = (slot + 1) & (slots - 1);
    if (table[slot] < 0) {
      table[slot] = classes.size();
      classes.first.push_back(i);
      classes.members.push_back(0.0);
    }
    classes.of_job[U(i)] = table[slot];
    classes.members[U(table[slot])] += 1.0;
  }
}

Problem OneOfEach(const Problem& problem, const JobClasses& classes) {
  Problem one;
  one.workers = problem.workers;
  one.type_names = problem.type_names;
  one.tenants = problem.tenants;
  for (int job : classes.first) {
    one.key.push_back(problem.key[U(job)]);
    one.gang.push_back(problem.gang[U(job)]);
    one.weight.push_back(problem.weight[U(job)]);
    if (!problem.tenant.empty()) one.tenant.push_back(problem.tenant[U(job)]);
    const auto row = problem.throughput.begin() + static_cast<std::ptrdiff_t>(problem.at(job, 0));
    one.throughput.insert(one.throughput.end(), row, row + problem.types());
  }
  return one;
}

}  // namespace berth::gavel
