// Tabu search over the order of jobs and the type of each: tabu_search.hpp states neighbourhood, tenure and
// aspiration. Starts from the greedy plan and returns the best seen, so it is never worse than that; anytime:
// more iterations only help. Draws, needed where there are more neighbours than candidates, come from the
// scenario's seed.
#include "baselines/optimisation/tabu_search.hpp"

#include <algorithm>

#include "baselines/optimisation/planned.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kTabuSearchParams[] = {
    kTargetParam,
    {"iterations", "50", "moves made for a plan"},
    {"tenure", "7",
     "moves for which a job may not return to the type, or the place in a queue, that it left"},
    {"candidates", "100", "moves looked at before one is made: all, or that many drawn"},
    kHorizonParam,
    kReportParam,
};

struct Move {
  int job, type, place;  // where it goes
  int swapped;           // who takes its place, -1 = nobody: the others close up
};

using Queues = std::vector<std::vector<int>>;  // [G] jobs

class Search {
 public:
  Search(const Instance& instance, Target target, const TabuOptions& options)
      : instance_(instance), target_(target), options_(options) {
    left_type_.assign(instance.job.size() * U(instance.types()), 0);
    left_place_.assign(left_type_.size() * instance.job.size(), 0);
  }

  void Begin(const Assignment& plan) {
    queues_.assign(U(instance_.types()), {});
    for (int i : plan.order) queues_[U(plan.type[U(i)])].push_back(i);
    now_ = plan;
  }

  std::vector<Move> Neighbours() const {
    std::vector<Move> moves;
    for (int type = 0; type < instance_.types(); ++type) {
      const auto& queue = queues_[U(type)];
      for (int from = 0; from < Size(type); ++from) {
        const int job = queue[U(from)];
        for (int to = from + 1; to < Size(type); ++to) moves.push_back({job, type, to, queue[U(to)]});
        for (int other = 0; other < instance_.types(); ++other) {
          if (instance_.at(job, other) == kNever) continue;
          const int places = other == type ? Size(type) : Size(other) + 1;
          for (int to = 0; to < places; ++to) {
            const bool exchange = other == type && std::abs(to - from) <= 1;  // of neighbours, or nothing
            if (!exchange) moves.push_back({job, other, to, -1});
          }
        }
      }
    }
    return moves;
  }

  // The value that the move leads to; the plan itself stays.
  double Try(const Move& move) {
    tried_ = queues_;
    Carry(move, tried_);
    Write(tried_, next_);
    return schedule_.Value(instance_, next_, target_);
  }

  // The first iteration at which it is not forbidden.
  int FreeAgain(const Move& move) const {
    const int type = now_.type[U(move.job)];
    if (move.type != type) return left_type_[AtType(move.job, move.type)];
    const int own = left_place_[At(move.job, type, move.place)];
    if (move.swapped < 0) return own;
    return std::max(own, left_place_[At(move.swapped, type, PlaceOf(move.job))]);
  }

  TabuStep Make(const Move& move, int iteration, double value) {
    const int type = now_.type[U(move.job)], place = PlaceOf(move.job);
    const TabuStep step{
        move.job, type, place, move.type, move.place, move.swapped, FreeAgain(move) > iteration, value};
    const int until = iteration + options_.tenure + 1;
    if (move.type != type) {
      left_type_[AtType(move.job, type)] = until;
    } else {
      left_place_[At(move.job, type, place)] = until;
      if (move.swapped >= 0) left_place_[At(move.swapped, type, move.place)] = until;
    }
    Carry(move, queues_);
    Write(queues_, now_);
    return step;
  }

  const Assignment& plan() const { return now_; }

 private:
  std::size_t At(int job, int type, int place) const {
    return AtType(job, type) * instance_.job.size() + U(place);
  }
  std::size_t AtType(int job, int type) const { return U(job) * U(instance_.types()) + U(type); }
  int Size(int type) const { return static_cast<int>(queues_[U(type)].size()); }
  int PlaceOf(int job) const {
    const auto& queue = queues_[U(now_.type[U(job)])];
    return static_cast<int>(std::find(queue.begin(), queue.end(), job) - queue.begin());
  }

  void Carry(const Move& move, Queues& queues) const {
    auto& from = queues[U(now_.type[U(move.job)])];
    const int place = PlaceOf(move.job);
    if (move.swapped >= 0) {
      std::swap(from[U(place)], from[U(move.place)]);
      return;
    }
    from.erase(from.begin() + place);
    auto& to = queues[U(move.type)];
    to.insert(to.begin() + move.place, move.job);
  }

  void Write(const Queues& queues, Assignment& plan) const {
    plan.order.clear();
    plan.type.resize(instance_.job.size());
    for (std::size_t type = 0; type < queues.size(); ++type) {
      for (int i : queues[type]) plan.order.push_back(i), plan.type[U(i)] = static_cast<int>(type);
    }
  }

  const Instance& instance_;
  const Target target_;
  const TabuOptions options_;
  Queues queues_, tried_;
  Assignment now_, next_;
  // The first iteration at which a job may be there again, 0 = it never left: [n, G] and [n, G, place].
  std::vector<int> left_type_, left_place_;
  ListSchedule schedule_;
};

}  // namespace

double TabuSearch(const Instance& instance, Target target, const TabuOptions& options,
                  const std::function<int(int)>& draw, Assignment& plan,
                  const std::function<void(const TabuStep&)>& watch) {
  Search search(instance, target, options);
  search.Begin(plan);
  double best = ListSchedule().Value(instance, plan, target);
  for (int iteration = 1; iteration <= options.iterations; ++iteration) {
    std::vector<Move> moves = search.Neighbours();
    if (moves.empty()) break;
    std::size_t looked_at = moves.size();
    if (looked_at > U(options.candidates)) {
      looked_at = U(options.candidates);
      for (std::size_t k = 0; k < looked_at; ++k) {
        std::swap(moves[k], moves[k + U(draw(static_cast<int>(moves.size() - k)))]);
      }
    }
    // The best of those that are allowed; else the one that is free soonest.
    int chosen = -1, soonest = -1, soonest_free = 0;
    double least = kNever, its_value = 0.0;
    for (std::size_t k = 0; k < looked_at; ++k) {
      const double value = search.Try(moves[k]);
      const int free_again = search.FreeAgain(moves[k]);
      const bool allowed = free_again <= iteration || value < best;
      if (allowed && value < least) least = value, chosen = static_cast<int>(k);
      if (soonest < 0 || free_again < soonest_free) {
        soonest = static_cast<int>(k), soonest_free = free_again, its_value = value;
      }
    }
    if (chosen < 0) chosen = soonest, least = its_value;
    const TabuStep step = search.Make(moves[U(chosen)], iteration, least);
    if (watch) watch(step);
    if (least < best) best = least, plan = search.plan();
  }
  return best;
}

namespace {

class TabuSolver final : public SeededSolver {
 public:
  TabuSolver(Target target, const TabuOptions& options) : SeededSolver(target), options_(options) {}

  Solution Solve(const Instance& instance, bool bounded) override {
    Solution best;
    best.assignment = Greedy(instance, target_, best.value);
    if (bounded) best.bound = QuickBound(instance, target_);
    best.value = TabuSearch(
        instance, target_, options_, [this](int n) { return Draw(n); }, best.assignment);
    return best;
  }

 private:
  TabuOptions options_;
};

}  // namespace

SchedulerInfo TabuSearchInfo() {
  return {"tabu_search",
          "plans by tabu search over orders and types; O(iterations candidates n GPUs) an arrival",
          "Glover 1989 and 1990, ORSA Journal on Computing 1(3) and 2(1)",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kTabuSearchParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const Target target = ReadTarget(params);
            TabuOptions options;
            options.iterations = static_cast<int>(params.Integer("iterations", 0, 1000000000));
            options.tenure = static_cast<int>(params.Integer("tenure", 0, 1000000));
            options.candidates = static_cast<int>(params.Integer("candidates", 1, 1000000000));
            return MakePlanned("tabu_search", std::make_unique<TabuSolver>(target, options), params);
          }};
}

}  // namespace berth
