#include "baselines/adaptive/sia_program.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "baselines/adaptive/sia_branch.hpp"
#include "baselines/adaptive/sia_choice.hpp"
#include "baselines/adaptive/sia_core.hpp"
#include "baselines/adaptive/sia_prices.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"

namespace berth::sia {
namespace {

constexpr std::int64_t kFine = 16;                       // prices are whole sixteenths of the last tie level
constexpr double kLargest = 1152921504606846976.0;       // 2^60: sums of costs stay below
constexpr double kHundredth = 0.01, kContinuous = 1e-9;  // steps of costs
constexpr double kPulls[] = {1.0 / 16,
                             0.0};  // of what states differ in: one finds answers where the other fails
constexpr std::size_t kWidths[] = {64, 1024, 16384, 1000000000};

int PreviousOf(const Program& program, int job) {
  return program.previous.empty() ? -1 : program.previous[U(job)];
}
int ForcedOf(const Program& program, int job) {
  return program.forced.empty() ? -1 : program.forced[U(job)];
}
double CostOf(const Program& program, int job, int configuration) {
  if (configuration < 0) return program.unallocated;
  return program.cost[U(job) * program.configurations.size() + U(configuration)];
}

void Check(const Program& program) {
  const auto types = static_cast<int>(program.capacity.size());
  const auto configurations = static_cast<int>(program.configurations.size());
  if (program.jobs < 0) throw Error(Join("sia: jobs: expected at least 0, found ", program.jobs));
  for (int type = 0; type < types; ++type) {
    if (program.capacity[U(type)] < 0)
      throw Error(Join("sia: capacity of type ", type, ": expected at least 0 GPUs, found ",
                       program.capacity[U(type)]));
  }
  for (int k = 0; k < configurations; ++k) {
    const Configuration& its = program.configurations[U(k)];
    if (its.type < 0 || its.type >= types)
      throw Error(Join("sia: configuration ", k, ": expected a type below ", types, ", found ", its.type));
    if (its.gpus < 1 || its.nodes < 1 || its.nodes > its.gpus)
      throw Error(Join("sia: configuration ", k, ": expected 1 <= nodes <= GPUs, found ",
                       Counted(its.nodes, "node"), " and ", Counted(its.gpus, "GPU")));
  }
  const std::size_t entries = U(program.jobs) * U(configurations);
  if (program.cost.size() != entries)
    throw Error(Join("sia: cost: expected jobs x configurations = ", entries, " entries, found ",
                     program.cost.size()));
  for (std::size_t i = 0; i < entries; ++i) {
    if (std::isnan(program.cost[i]) || program.cost[i] == -std::numeric_limits<double>::infinity())
      throw Error(Join("sia: cost of job ", i / U(configurations), ", configuration ", i % U(configurations),
                       ": expected a number, found ", program.cost[i]));
  }
  if (!std::isfinite(program.unallocated))
    throw Error(Join("sia: unallocated: expected a finite cost, found ", program.unallocated));
  const auto check_rows = [&](const std::vector<int>& rows, const char* name) {
    if (!rows.empty() && rows.size() != U(program.jobs))
      throw Error(Join("sia: ", name, ": expected an entry for each of ", program.jobs, " jobs, found ",
                       rows.size()));
    for (std::size_t job = 0; job < rows.size(); ++job) {
      if (rows[job] < -1 || rows[job] >= configurations)
        throw Error(Join("sia: ", name, " of job ", job, ": expected a configuration below ", configurations,
                         " or -1, found ", rows[job]));
    }
  };
  check_rows(program.previous, "previous"), check_rows(program.forced, "forced");
}

// What forced jobs leave of the GPUs.
std::vector<int> LeftByForced(const Program& program) {
  std::vector<int> left = program.capacity;
  for (int job = 0; job < program.jobs; ++job) {
    const int k = ForcedOf(program, job);
    if (k < 0) continue;
    const Configuration& its = program.configurations[U(k)];
    if (!std::isfinite(CostOf(program, job, k)))
      throw Error(Join("sia: job ", job, " is forced to configuration ", k, ", whose cost is infinite"));
    if (its.gpus > left[U(its.type)])
      throw Error(Join("sia: job ", job, " is forced to configuration ", k, " of ", Counted(its.gpus, "GPU"),
                       " of type ", its.type, ", where ", left[U(its.type)], " are left"));
    left[U(its.type)] -= its.gpus;
  }
  return left;
}

// Costs in whole steps, and what the levels of the tie rule weigh: one changed job more than all GPUs, one
// step of cost more than all changed jobs.
struct Units {
  double step = kHundredth;
  std::int64_t cost = 1, change = 0, gpu = 0;
  bool ties = true;
};

Units UnitsOf(const Program& program, const std::vector<int>& left) {
  Units units;
  double largest = 0.0;  // sum of the largest costs in question
  std::int64_t held = 0, gpus = 0;
  for (int count : left) gpus += count;
  for (int job = 0; job < program.jobs; ++job) {
    if (ForcedOf(program, job) >= 0) continue;
    held += PreviousOf(program, job) >= 0;
    double its = std::abs(program.unallocated);
    for (int k = -1; k < static_cast<int>(program.configurations.size()); ++k) {
      const double cost = CostOf(program, job, k);
      if (cost > program.unallocated) continue;  // nobody takes it
      its = std::max(its, std::abs(cost));
      const double steps = cost / kHundredth;
      if (std::abs(steps - std::nearbyint(steps)) > 1e-7) units.step = kContinuous;
    }
    largest += its;
  }
  if (largest / units.step > 0.25 * kLargest) units.step = largest / (0.25 * kLargest);
  units.gpu = kFine, units.change = kFine * (gpus + 1), units.cost = units.change * (held + 1);
  if ((largest / units.step + program.jobs) * static_cast<double>(units.cost) > kLargest) {
    units.ties = false;
    units.gpu = units.change = 0, units.cost = 1;
  }
  return units;
}

// The options of a job that may be in the best answer: the cheapest for each number of GPUs of a type, where
// fewer do not cost as little.
std::vector<Option> OptionsOf(const Program& program, int job, const std::vector<int>& left,
                              const Units& units) {
  const int previous = PreviousOf(program, job);
  const auto weigh = [&](int k, int gpus) {
    const auto steps = std::llround(CostOf(program, job, k) / units.step);
    return steps * units.cost + (previous >= 0 && k != previous ? units.change : 0) + gpus * units.gpu;
  };
  std::vector<Option> options{{weigh(-1, 0), -1, 0, -1}}, all;
  for (int k = 0; k < static_cast<int>(program.configurations.size()); ++k) {
    const Configuration& its = program.configurations[U(k)];
    if (its.gpus > left[U(its.type)] || !(CostOf(program, job, k) <= program.unallocated)) continue;
    all.push_back({weigh(k, its.gpus), its.type, its.gpus, k});
  }
  std::stable_sort(all.begin(), all.end(), [](const Option& a, const Option& b) {
    if (a.type != b.type) return a.type < b.type;
    return a.gpus != b.gpus ? a.gpus < b.gpus : a.cost < b.cost;
  });
  int type = -1;
  std::int64_t least = 0;
  for (const Option& option : all) {
    if (option.type != type) type = option.type, least = options[0].cost;
    if (option.cost >= least) continue;
    least = option.cost;
    options.push_back(option);
  }
  return options;
}

// The smallest multiple of the step that is no less.
std::int64_t StepsUp(std::int64_t cost, std::int64_t step) {
  return cost >= 0 ? (cost + step - 1) / step : -(-cost / step);
}
std::int64_t StepsDown(std::int64_t cost, std::int64_t step) {
  return -StepsUp(-cost, step);
}

// Jobs that are alike in all that counts may swap what they get: the first of them gets the cheapest.
void OrderAlike(const Program& program, std::vector<int>& chosen) {
  std::vector<int> jobs;
  for (int job = 0; job < program.jobs; ++job) {
    if (ForcedOf(program, job) < 0) jobs.push_back(job);
  }
  const std::size_t configurations = program.configurations.size();
  const auto row = [&](int job) {
    return program.cost.begin() + static_cast<std::ptrdiff_t>(U(job) * configurations);
  };
  const auto end = [&](int job) { return row(job) + static_cast<std::ptrdiff_t>(configurations); };
  std::stable_sort(jobs.begin(), jobs.end(), [&](int a, int b) {
    if (PreviousOf(program, a) != PreviousOf(program, b))
      return PreviousOf(program, a) < PreviousOf(program, b);
    return std::lexicographical_compare(row(a), end(a), row(b), end(b));
  });
  std::vector<int> theirs;
  for (std::size_t from = 0, to = 0; from < jobs.size(); from = to) {
    theirs.clear();
    for (to = from; to < jobs.size(); ++to) {
      if (PreviousOf(program, jobs[to]) != PreviousOf(program, jobs[from])) break;
      if (!std::equal(row(jobs[to]), end(jobs[to]), row(jobs[from]))) break;
      theirs.push_back(chosen[U(jobs[to])]);
    }
    std::sort(theirs.begin(), theirs.end(), [&](int a, int b) {
      const double cost_a = CostOf(program, jobs[from], a), cost_b = CostOf(program, jobs[from], b);
      return cost_a != cost_b ? cost_a < cost_b : a < b;
    });
    for (std::size_t i = 0; i < theirs.size(); ++i) chosen[U(jobs[from + i])] = theirs[i];
  }
}

// What the search came to, in whole steps of cost.
struct Proof {
  bool objective = false, ties = false;
  std::int64_t bound = 0;
};

Proof Search(const Choice& choice, const Units& units, const Effort& effort, Core& core, std::int64_t bound) {
  // Within ever larger distances of the bound, until there is an answer; then wider and wider: better answers
  // leave less for the next.
  std::int64_t distance = std::max<std::int64_t>(units.cost / 4, 1);
  for (; core.cost() > bound + distance; distance *= 2) {
    for (const double pull : kPulls) {
      if (core.cost() > bound + distance) core.Search(bound + distance, {kWidths[0], effort.tie_steps, pull});
    }
  }
  Proof proof;
  for (std::size_t i = 0; i < std::size(kWidths) && !proof.ties && core.steps() <= effort.tie_steps; ++i)
    proof.ties = core.Search(core.cost(), {kWidths[i], effort.tie_steps, kPulls[0]});
  // The tie rule was too dear: is there anything a whole step of cost below the best?
  const auto steps = [&] { return StepsDown(core.cost(), units.cost); };
  const auto below = [&] { return steps() * units.cost - 1; };
  proof.objective = proof.ties || below() < bound;
  for (std::size_t i = 0; i < std::size(kWidths) && !proof.objective && core.steps() <= effort.steps; ++i) {
    const std::int64_t cost = core.cost();
    proof.objective = core.Search(below(), {kWidths[i], effort.steps, kPulls[0]});
    proof.ties = proof.objective && core.cost() < cost;  // the least of those below: the best by the rule too
    proof.objective = proof.objective || below() < bound;
  }
  proof.bound = proof.objective ? steps() : StepsUp(bound - (units.cost - 1), units.cost);
  if (proof.objective || effort.nodes <= 0) return proof;
  // In hundredths, so that HiGHS' tolerances mean the same for all programs.
  const double scale = units.step / kHundredth;
  std::vector<double> cost;
  for (const Option& option : choice.option)
    cost.push_back(scale * static_cast<double>(StepsDown(option.cost, units.cost)));
  const std::int64_t before = steps();
  const Branched branched = Branch(choice, cost, core.Open(below()), core.found(), effort.nodes);
  if (!branched.chosen.empty()) core.Offer(branched.chosen);
  // What is not open costs at least what the best did before.
  const double tolerance = 1e-4;
  const auto its = static_cast<std::int64_t>(std::ceil((branched.bound - tolerance) / scale));
  proof.bound = std::max(proof.bound, std::min(its, before));
  proof.objective = static_cast<double>(steps() - proof.bound) * scale <= 2 * tolerance;
  return proof;
}

}  // namespace

Answer Solve(const Program& program, const Effort& effort) {
  Check(program);
  const std::vector<int> left = LeftByForced(program);
  const Units units = UnitsOf(program, left);
  Choice choice;
  choice.capacity = left;
  std::vector<int> jobs;  // [classes]
  for (int job = 0; job < program.jobs; ++job) {
    if (ForcedOf(program, job) >= 0) continue;
    const auto options = OptionsOf(program, job, left, units);
    choice.option.insert(choice.option.end(), options.begin(), options.end());
    choice.begin.push_back(static_cast<int>(choice.option.size()));
    jobs.push_back(job);
  }
  const Prices prices = FindPrices(choice);
  Core core(choice, prices);
  const Proof proof = Search(choice, units, effort, core, prices.bound);
  Answer answer;
  answer.chosen.assign(U(program.jobs), -1);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    answer.chosen[U(jobs[i])] = choice.option[U(core.found()[i])].configuration;
  OrderAlike(program, answer.chosen);
  for (int job = 0; job < program.jobs; ++job) {
    const int k = ForcedOf(program, job);
    if (k >= 0) answer.chosen[U(job)] = k;
    answer.objective += CostOf(program, job, answer.chosen[U(job)]);
  }
  answer.proven = proof.objective;
  answer.ties_proven = proof.ties && units.ties;
  answer.steps = core.steps();
  // Costs are rounded to steps twice: those of the answer and those of what it is compared with.
  const double rounding = units.step == kHundredth ? 0.0 : units.step * program.jobs;
  const std::int64_t open = StepsDown(core.cost(), units.cost) - proof.bound;
  answer.bound = answer.objective - units.step * static_cast<double>(open) - rounding;
  return answer;
}

}  // namespace berth::sia
