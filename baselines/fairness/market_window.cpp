#include "baselines/fairness/market_window.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "baselines/mip.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"

namespace berth {
namespace {

constexpr double kBases[] = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
constexpr double kOrigin = 1e-6;       // for which log(0) is taken
constexpr double kAlmostDone = 100.0;  // power of rho for jobs that end within a round
constexpr double kMostWeight = 1e6;    // more, and the solvers see nothing else
constexpr std::size_t kPieces = std::size(kBases) - 1;

double LogAt(double base) {
  return Log(std::max(base, kOrigin));
}
double Slope(std::size_t piece) {
  return (LogAt(kBases[piece + 1]) - LogAt(kBases[piece])) / (kBases[piece + 1] - kBases[piece]);
}

// A job on a type, for so many rounds.
struct Stay {
  int job, type, rounds;
};

// What both kinds of programs have of columns: 1 = the stay has the round.
using RoundColumns = std::vector<std::vector<int>>;  // [stays][R]

class Window {
 public:
  Window(const std::vector<WindowJob>& jobs, const std::vector<int>& room, const WindowOptions& options)
      : jobs_(jobs), room_(room), options_(options) {
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      for (std::size_t type = 0; type < room.size(); ++type) {
        if (jobs[j].pace[type] > 0.0 && jobs[j].gang <= room[type])
          stays_.push_back({static_cast<int>(j), static_cast<int>(type), options.rounds});
      }
    }
  }

  WindowPlan Plan() {
    WindowPlan plan;
    plan.type.assign(jobs_.size(), std::vector<int>(U(rounds()), -1));
    plan.weight.assign(jobs_.size(), 1.0);
    plan.fair =
        std::all_of(jobs_.begin(), jobs_.end(), [](const WindowJob& job) { return job.least <= 1.0; });
    plan.fair = plan.fair && ShareOut(plan);
    if (!plan.fair) {
      for (std::size_t j = 0; j < jobs_.size(); ++j) {
        if (jobs_[j].ratio <= options_.rho_max) continue;
        const bool almost = (1.0 - jobs_[j].done) * jobs_[j].seconds < options_.round_s;
        const double power = almost ? kAlmostDone : options_.power;
        plan.weight[j] = std::min(kMostWeight, Pow(jobs_[j].ratio, power));
      }
      ShareOut(plan);
    }
    plan.value = Value(plan);
    return plan;
  }

 private:
  int rounds() const { return options_.rounds; }

  // Who runs in which round. False where no counts are found, or a fair plan's not for single rounds.
  bool ShareOut(WindowPlan& plan) const {
    std::vector<Stay> stays, by_round;
    if (!Count(plan, stays)) return false;
    if (Rank(plan, stays)) return true;
    if (CountByRound(plan, by_round)) {
      stays.swap(by_round);
      if (Rank(plan, stays)) return true;
    } else if (plan.fair) {
      return false;
    }
    FillUp(plan, stays);
    return true;
  }

  // The columns of progress and makespan, and of how many rounds each stay has; [stays] the latter.
  std::vector<int> Build(const WindowPlan& plan, LpModel& model) const {
    const double each = 1.0 / (static_cast<double>(jobs_.size()) * rounds());
    model.maximize = true;
    std::vector<int> count;
    for (std::size_t s = 0; s < stays_.size(); ++s) {
      count.push_back(model.AddColumn(0.0, 0.0, rounds()));
      model.integer.push_back(count.back());
    }
    std::vector<int> piece(jobs_.size());  // the first of its kPieces
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      for (std::size_t p = 0; p < kPieces; ++p) {
        const double width = kBases[p + 1] - kBases[p];
        const double had = std::clamp(jobs_[j].done - kBases[p], 0.0, width);
        const int column = model.AddColumn(plan.weight[j] * Slope(p) * each, had, width);
        if (p == 0) piece[j] = column;
      }
    }
    // In rounds, as seconds would differ from the rest by many orders of magnitude.
    const int longest = model.AddColumn(-options_.makespan * options_.round_s, 0.0, kLpInfinity);
    for (std::size_t j = 0, s = 0; j < jobs_.size(); ++j) {
      const auto progress = [&](double coefficient) {
        for (std::size_t p = 0; p < kPieces; ++p) {
          model.AddEntry(piece[j] + static_cast<int>(p), coefficient);
        }
      };
      const std::size_t first = s;
      while (s < stays_.size() && stays_[s].job == static_cast<int>(j)) ++s;
      progress(1.0);
      for (std::size_t k = first; k < s; ++k) {
        model.AddEntry(count[k], -jobs_[j].pace[U(stays_[k].type)]);
      }
      model.EndRow(-kLpInfinity, jobs_[j].done);
      if (s > first + 1) {
        for (std::size_t k = first; k < s; ++k) model.AddEntry(count[k], 1.0);
        model.EndRow(0.0, rounds());
      }
      const double long_s = jobs_[j].seconds / options_.round_s;
      model.AddEntry(longest, 1.0);
      progress(long_s);
      model.EndRow(long_s, kLpInfinity);
      if (plan.fair && jobs_[j].least > jobs_[j].done) {
        progress(1.0);
        model.EndRow(jobs_[j].least, kLpInfinity);
      }
    }
    return count;
  }

  bool Solve(const LpModel& model, const std::vector<int>& count, std::vector<Stay>& stays) const {
    const MipAnswer answer = SolveMip(model, {.gap = options_.gap, .nodes = options_.nodes});
    stays.clear();
    for (std::size_t s = 0; answer.found && s < stays_.size(); ++s) {
      const auto its = static_cast<int>(std::lround(answer.x[U(count[s])]));
      if (its > 0) stays.push_back({stays_[s].job, stays_[s].type, its});
    }
    return answer.found;
  }

  bool Count(const WindowPlan& plan, std::vector<Stay>& stays) const {
    LpModel model;
    const std::vector<int> count = Build(plan, model);
    // A round has room for so many gangs of g, and a larger one takes the room of several. With g = 1 these
    // are the GPUs; the others cut off counts that cannot be shared out over the rounds, though not all of
    // those.
    std::vector<int> sizes = {1};
    for (const WindowJob& job : jobs_) sizes.push_back(job.gang);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    for (std::size_t type = 0; type < room_.size(); ++type) {
      for (int size : sizes) {
        for (std::size_t s = 0; s < stays_.size(); ++s) {
          const int gang = jobs_[U(stays_[s].job)].gang;
          if (stays_[s].type == static_cast<int>(type) && gang >= size) model.AddEntry(count[s], gang / size);
        }
        model.EndRow(0.0, static_cast<double>(rounds()) * (room_[type] / size));
      }
    }
    return Solve(model, count, stays);
  }

  bool CountByRound(const WindowPlan& plan, std::vector<Stay>& stays) const {
    LpModel model;
    const std::vector<int> count = Build(plan, model);
    const RoundColumns column = AddRounds(stays_, model);
    for (std::size_t s = 0; s < stays_.size(); ++s) {
      for (int its : column[s]) model.AddEntry(its, 1.0);
      model.AddEntry(count[s], -1.0);
      model.EndRow(0.0, 0.0);
    }
    return Solve(model, count, stays);
  }

  // A whole column for each stay and round; in every round the GPUs suffice and no job is twice there.
  RoundColumns AddRounds(const std::vector<Stay>& stays, LpModel& model) const {
    RoundColumns column(stays.size());
    for (auto& its : column) {
      for (int r = 0; r < rounds(); ++r) {
        its.push_back(model.AddColumn(0.0, 0.0, 1.0));
        model.integer.push_back(its.back());
      }
    }
    for (std::size_t r = 0; r < U(rounds()); ++r) {
      for (std::size_t type = 0; type < room_.size(); ++type) {
        for (std::size_t s = 0; s < stays.size(); ++s) {
          if (stays[s].type == static_cast<int>(type))
            model.AddEntry(column[s][r], jobs_[U(stays[s].job)].gang);
        }
        model.EndRow(0.0, room_[type]);
      }
      for (std::size_t s = 0; s < stays.size();) {
        std::size_t end = s + 1;
        while (end < stays.size() && stays[end].job == stays[s].job) ++end;
        if (end > s + 1) {
          for (std::size_t k = s; k < end; ++k) model.AddEntry(column[k][r], 1.0);
          model.EndRow(0.0, 1.0);
        }
        s = end;
      }
    }
    return column;
  }

  // Which rounds each stay has, of those that weigh most the first. False where they cannot be shared out so.
  bool Rank(WindowPlan& plan, const std::vector<Stay>& stays) const {
    plan.type.assign(jobs_.size(), std::vector<int>(U(rounds()), -1));
    if (std::all_of(stays.begin(), stays.end(), [&](const Stay& stay) { return stay.rounds == rounds(); })) {
      for (const Stay& stay : stays) plan.type[U(stay.job)].assign(U(rounds()), stay.type);
      return true;
    }
    LpModel model;
    const RoundColumns column = AddRounds(stays, model);
    std::vector<int> total(jobs_.size(), 0);
    for (const Stay& stay : stays) total[U(stay.job)] += stay.rounds;
    for (std::size_t s = 0; s < stays.size(); ++s) {
      const auto job = U(stays[s].job);
      for (int r = 0; r < rounds(); ++r) model.cost[U(column[s][U(r)])] = plan.weight[job] * r / total[job];
      for (int its : column[s]) model.AddEntry(its, 1.0);
      model.EndRow(stays[s].rounds, stays[s].rounds);
    }
    const MipAnswer answer = SolveMip(model, {.gap = options_.gap, .nodes = options_.nodes});
    for (std::size_t s = 0; answer.found && s < stays.size(); ++s) {
      for (std::size_t r = 0; r < U(rounds()); ++r) {
        if (answer.x[U(column[s][r])] > 0.5) plan.type[U(stays[s].job)][r] = stays[s].type;
      }
    }
    return answer.found;
  }

  // By weight, each into the first rounds that have room, as many as it was to have.
  void FillUp(WindowPlan& plan, std::vector<Stay>& stays) const {
    std::stable_sort(stays.begin(), stays.end(), [&](const Stay& a, const Stay& b) {
      return plan.weight[U(a.job)] > plan.weight[U(b.job)];
    });
    std::vector<std::vector<int>> left(U(rounds()), room_);
    for (const Stay& stay : stays) {
      int more = stay.rounds;
      for (std::size_t r = 0; r < U(rounds()) && more > 0; ++r) {
        int& room = left[r][U(stay.type)];
        if (plan.type[U(stay.job)][r] >= 0 || room < jobs_[U(stay.job)].gang) continue;
        plan.type[U(stay.job)][r] = stay.type;
        room -= jobs_[U(stay.job)].gang, --more;
      }
    }
  }

  double Value(const WindowPlan& plan) const {
    double sum = 0.0, longest = 0.0;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      double progress = jobs_[j].done;
      for (int type : plan.type[j]) progress += type < 0 ? 0.0 : jobs_[j].pace[U(type)];
      progress = std::min(1.0, progress);
      sum += plan.weight[j] * WindowUtility(progress);
      longest = std::max(longest, (1.0 - progress) * jobs_[j].seconds);
    }
    return sum / (static_cast<double>(jobs_.size()) * rounds()) - options_.makespan * longest;
  }

  const std::vector<WindowJob>& jobs_;
  const std::vector<int>& room_;
  const WindowOptions& options_;
  std::vector<Stay> stays_;  // all that there could be, by job
};

}  // namespace

double WindowUtility(double progress) {
  std::size_t piece = 0;
  while (piece + 1 < kPieces && progress > kBases[piece + 1]) ++piece;
  return LogAt(kBases[piece]) + Slope(piece) * (progress - kBases[piece]);
}

WindowPlan PlanWindow(const std::vector<WindowJob>& jobs, const std::vector<int>& room,
                      const WindowOptions& options) {
  return Window(jobs, room, options).Plan();
}

}  // namespace berth
