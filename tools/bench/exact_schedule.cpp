#include "tools/bench/exact_schedule.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::bench {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Both aims are regular: no job ever gains by starting later than it could. So some optimal schedule starts
// every job as early as the jobs that start before it allow, and the search is over sequences of (job, type)
// in order of start. Starting in that order, a job takes the GPUs of its type that were free first; all that
// are free when it starts are alike to those that follow, so no other choice need be tried. A branch in which
// a job would start before its predecessor is cut: another sequence has the two in order.
class Search {
 public:
  Search(const ExactProblem& problem, Aim aim) : problem_(problem), aim_(aim) {
    for (int g = 0; g < problem.types(); ++g) free_.emplace_back(U(problem.gpus[U(g)]), 0.0);
    now_.type.assign(U(problem.jobs()), -1);
    now_.start.assign(U(problem.jobs()), 0.0);
    best_.value = kInfinite;
  }

  ExactSchedule Solve() {
    Extend(/*placed=*/0, /*last_start=*/0.0, /*value=*/0.0);
    BERTH_CHECK(best_.value < kInfinite, "a job can run nowhere");
    best_.nodes = nodes_;
    return best_;
  }

 private:
  // free_[g] is ascending: when `gang` GPUs of the type are free together.
  double EarliestStart(int job, int type, double last_start) const {
    const std::vector<double>& free = free_[U(type)];
    const int gang = problem_.gang[U(job)];
    if (gang > static_cast<int>(free.size()) || problem_.seconds[U(job)][U(type)] == kInfinite)
      return kInfinite;
    return std::max({problem_.arrival[U(job)], free[U(gang - 1)], last_start});
  }

  double Add(double value, double completion) const {
    return aim_ == Aim::kMakespan ? std::max(value, completion) : value + completion;
  }

  // No job that is left completes before it would if it were next.
  double Bound(double last_start, double value) const {
    for (int job = 0; job < problem_.jobs(); ++job) {
      if (now_.type[U(job)] >= 0) continue;
      double earliest = kInfinite;
      for (int g = 0; g < problem_.types(); ++g) {
        earliest = std::min(earliest, EarliestStart(job, g, last_start) + problem_.seconds[U(job)][U(g)]);
      }
      value = Add(value, earliest);
    }
    return value;
  }

  void Extend(int placed, double last_start, double value) {
    ++nodes_;
    if (placed == problem_.jobs()) {
      if (value < best_.value) best_ = now_, best_.value = value;
      return;
    }
    if (Bound(last_start, value) >= best_.value) return;
    struct Choice {
      double completion, start;
      int job, type;
    };
    std::vector<Choice> choices;
    for (int job = 0; job < problem_.jobs(); ++job) {
      if (now_.type[U(job)] >= 0) continue;
      for (int g = 0; g < problem_.types(); ++g) {
        // as early as its own type allows: were that before the last start, an earlier place is its own
        const double start = EarliestStart(job, g, -kInfinite);
        if (start == kInfinite || start < last_start) continue;
        choices.push_back({start + problem_.seconds[U(job)][U(g)], start, job, g});
      }
    }
    // good schedules first, so that the bound bites
    std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
      return a.completion != b.completion ? a.completion < b.completion
                                          : (a.job != b.job ? a.job < b.job : a.type < b.type);
    });
    for (const Choice& choice : choices) {
      std::vector<double>& free = free_[U(choice.type)];
      const std::vector<double> before = free;
      std::fill_n(free.begin(), problem_.gang[U(choice.job)], choice.completion);
      std::sort(free.begin(), free.end());
      now_.type[U(choice.job)] = choice.type;
      now_.start[U(choice.job)] = choice.start;
      Extend(placed + 1, choice.start, Add(value, choice.completion));
      now_.type[U(choice.job)] = -1;
      free = before;
    }
  }

  const ExactProblem& problem_;
  const Aim aim_;
  std::vector<std::vector<double>> free_;  // [G][gpus] when each becomes free, ascending
  ExactSchedule now_, best_;
  long nodes_ = 0;
};

}  // namespace

ExactSchedule SolveExactly(const ExactProblem& problem, Aim aim) {
  return Search(problem, aim).Solve();
}

}  // namespace berth::bench
