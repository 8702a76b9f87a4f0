// Pollux's choice of GPUs: the objective by hand, what a repair leaves, ranks and crowding by hand, and both
// searches against trying every allocation.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "baselines/adaptive/pareto.hpp"
#include "baselines/adaptive/pollux_bound.hpp"
#include "baselines/adaptive/pollux_genetic.hpp"
#include "baselines/adaptive/pollux_packing.hpp"
#include "baselines/adaptive/pollux_search.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"

namespace berth::pollux {
namespace {

std::vector<int> InOrder(int n) {
  std::vector<int> order(U(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Allocation Rows(const std::vector<std::vector<int>>& rows) {
  Allocation made(static_cast<int>(rows.size()), static_cast<int>(rows[0].size()));
  for (std::size_t j = 0; j < rows.size(); ++j)
    for (std::size_t n = 0; n < rows[j].size(); ++n)
      made.row(static_cast<int>(j))[n] = static_cast<std::uint8_t>(rows[j][n]);
  return made;
}

// Jobs that gain from GPUs, less from several nodes; some are there, some were moved often.
Problem DrawnProblem(Stream& draw, int jobs, std::vector<int> node_gpus, int most) {
  const int nodes = static_cast<int>(node_gpus.size());
  Problem problem{std::move(node_gpus), {}, Allocation(jobs, nodes)};
  for (int j = 0; j < jobs; ++j) {
    Job job;
    job.node_rows = 1 + static_cast<int>(draw.Below(3));
    job.max_replicas = 1 + static_cast<int>(draw.Below(static_cast<std::uint32_t>(most)));
    job.min_replicas = draw.Below(4) == 0 ? std::min(job.max_replicas, 2) : 0;
    job.age = draw.Uniform(0.0, 1000.0);
    job.restarts = static_cast<int>(draw.Below(4));
    const double power = draw.Uniform(0.3, 1.0), scale = draw.Uniform(0.5, 2.0);
    job.speedup = SpeedupTable(job.node_rows, job.max_replicas, 1, [&](int k, int r) {
      return scale * std::pow(r, power) / (1.0 + 0.2 * (k - 1)) * draw.Uniform(0.9, 1.0);
    });
    problem.jobs.push_back(job);
    for (int n = 0; n < nodes; ++n) problem.present.row(j)[U(n)] = static_cast<std::uint8_t>(draw.Below(2));
  }
  Objective(problem).Repair(problem.present, InOrder);
  return problem;
}

// The fittest of all allocations, job by job.
double FittestOfAll(const Objective& objective) {
  const Problem& problem = objective.problem();
  Allocation state(objective.jobs(), objective.nodes());
  double best = 0.0;
  const std::function<void(int, int)> fill = [&](int j, int n) {
    if (j == objective.jobs()) {
      if (objective.Legal(state)) best = std::max(best, objective.Fitness(state));
    } else if (n == objective.nodes()) {
      fill(j + 1, 0);
    } else {
      int used = 0;
      for (int i = 0; i < j; ++i) used += state.row(i)[U(n)];
      for (int g = 0; g + used <= problem.node_gpus[U(n)]; ++g) {
        state.row(j)[U(n)] = static_cast<std::uint8_t>(g);
        fill(j, n + 1);
      }
      state.row(j)[U(n)] = 0;
    }
  };
  fill(0, 0);
  return best;
}

std::vector<std::int64_t> Ids(int jobs) {
  std::vector<std::int64_t> ids(U(jobs));
  std::iota(ids.begin(), ids.end(), 100);
  return ids;
}

}  // namespace

TEST_CASE("fitness is the harmonic mean of speedups over fair shares, less restarts") {
  CHECK(FairReplicas(64, 10) == 7);
  CHECK(FairReplicas(64, 64) == 1);
  CHECK(FairReplicas(64, 65) == 1);
  CHECK(LinearSpeedups(3, 2) == std::vector<double>{0.0, 0.5, 1.0, 1.5});
  // goodput 10 r on one node, 6 r on two; fair: 2 on one node, 20
  const std::vector<double> table =
      SpeedupTable(2, 4, 2, [](int k, int r) { return k == 1 ? 10.0 * r : 6.0 * r; });
  CHECK(table == std::vector<double>{0, 0.5, 1, 1.5, 2, 0, 0, 0.6, 6.0 * 3 / 20, 1.2});
  Problem problem{{4, 4}, {}, Rows({{2, 0}, {0, 0}})};
  problem.jobs.push_back({table, 2, 0, 4, 300.0, 2});
  problem.jobs.push_back({table, 2, 0, 4, 60.0, 0});
  const Objective objective(problem);
  // speedup 1 x 2 nodes / 8 GPUs = 0.25; no GPUs: 0.001
  CHECK(objective.Fitness(problem.present) == Approx(2.0 / (1 / 0.251 + 1 / 0.001)).epsilon(1e-14));
  // The first moves to four on two nodes: 1.2 / 4 x (300 - 60) / 330. The second starts: 0.5 / 4 x 60 / 90.
  const Allocation moved = Rows({{2, 2}, {0, 1}});
  CHECK(objective.Fitness(moved) ==
        Approx(2.0 / (1 / (0.3 * 240 / 330 + 0.001) + 1 / (0.125 * 60 / 90 + 0.001))).epsilon(1e-14));
  CHECK(objective.Utility(moved) == Approx((1.2 + 0.5) / 8).epsilon(1e-15));
  CHECK(objective.Utility(problem.present) == 0.25);  // of the one node in use
  CHECK(objective.Utility(Rows({{0, 0}, {0, 0}})) == 0.0);
  // one who was moved more often than it is old in delays of 30 s gains nothing elsewhere, but loses nothing here
  problem.jobs[0].restarts = 11;
  CHECK(Objective(problem).MovedCost(0, 1, 4) == 1000.0);
  CHECK(Objective(problem).KeptCost(0) == Approx(1 / 0.251).epsilon(1e-14));
  // other means
  problem.power = 1.0;
  CHECK(Objective(problem).Fitness(problem.present) == Approx((0.251 + 0.001) / 2).epsilon(1e-14));
  problem.power = 0.0;
  CHECK(Objective(problem).Fitness(problem.present) == Approx(std::sqrt(0.25 * 0.001)).epsilon(1e-14));
}

TEST_CASE("a repair takes away, and leaves what is legal") {
  const std::vector<double> linear = LinearSpeedups(6, 1);
  Problem problem{{4, 4, 4}, {}, Allocation(4, 3)};
  for (int j = 0; j < 4; ++j) problem.jobs.push_back({linear, 1, 0, 6, 100.0, 0});
  problem.jobs[3].min_replicas = 2;
  const Objective objective(problem);
  // The second spans nodes, too, so it loses node 1, and so does the last, though it does not span any. Node 0
  // has 4: the third gets 2 of 3.
  Allocation state = Rows({{2, 2, 0}, {0, 1, 3}, {3, 0, 0}, {0, 2, 0}});
  objective.Repair(state, InOrder);
  CHECK(state == Rows({{2, 2, 0}, {0, 0, 3}, {2, 0, 0}, {0, 0, 0}}));
  // The last would have 1 of 2, and wants both.
  state = Rows({{3, 0, 0}, {0, 0, 0}, {0, 0, 0}, {2, 0, 0}});
  objective.Repair(state, InOrder);
  CHECK(state == Rows({{3, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}));
  // At most 6: in the order given.
  state = Rows({{4, 4, 4}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}});
  objective.Repair(state, [](int) { return std::vector<int>{2, 0, 1}; });
  CHECK(state == Rows({{2, 0, 4}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}));
  CHECK(!objective.Legal(Rows({{2, 2, 0}, {1, 0, 1}, {0, 0, 0}, {0, 0, 0}})));  // two span nodes on 0
  CHECK(!objective.Legal(Rows({{5, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}})));
  CHECK(!objective.Legal(Rows({{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {1, 0, 0}})));

  Stream draw(5, Purpose::kTest);
  for (int i = 0; i < 200; ++i) {
    const Problem drawn = DrawnProblem(draw, 1 + i % 9, {4, 3, 4, 1, 8}, 10);
    const Objective its(drawn);
    Allocation any(its.jobs(), its.nodes());
    for (int j = 0; j < its.jobs(); ++j)
      for (std::uint8_t& gpus : any.row(j)) gpus = static_cast<std::uint8_t>(draw.Below(9));
    Allocation repaired = any;
    its.Repair(repaired, InOrder);
    CHECK(its.Legal(repaired));
    for (std::size_t n = 0; n < any.all().size(); ++n) CHECK(repaired.all()[n] <= any.all()[n]);
    Allocation again = repaired;
    its.Repair(again, InOrder);
    CHECK(again == repaired);
  }
}

TEST_CASE("fronts and crowding are those of their definitions") {
  // By hand: (3,1), (2,2), (1,3) are undominated; (2,1), (1,2) then; (1,1) last.
  const std::vector<Value> values = {{1, 1}, {3, 1}, {2, 2}, {2, 1}, {1, 3}, {1, 2}};
  CHECK(ParetoFronts(values, 6) == std::vector<std::vector<int>>{{1, 2, 4}, {3, 5}, {0}});
  CHECK(ParetoFronts(values, 3).size() == 1);
  const std::vector<int> front = {1, 2, 4};
  // the middle one: neighbours (3,1) and (1,3) are a whole extent apart in both
  CHECK(Crowding(values, front)[1] == 1.0);
  CHECK(std::isinf(Crowding(values, front)[0]));
  const std::vector<Value> doubled = {{1, 3}, {3, 1}, {2, 2}, {2, 2}};
  CHECK(Crowding(doubled, InOrder(4)) == std::vector<double>{INFINITY, INFINITY, 1.0, 0.0});

  Stream draw(6, Purpose::kTest);
  for (int i = 0; i < 100; ++i) {
    std::vector<Value> some(1 + draw.Below(40));
    for (Value& v : some) v = {static_cast<double>(draw.Below(8)), static_cast<double>(draw.Below(8))};
    const std::vector<std::vector<int>> fronts = ParetoFronts(some, some.size());
    std::vector<int> rank(some.size(), -1);
    for (std::size_t f = 0; f < fronts.size(); ++f)
      for (const int p : fronts[f]) rank[U(p)] = static_cast<int>(f);
    for (std::size_t p = 0; p < some.size(); ++p) {  // one more than the worst of those who dominate it
      int expected = 0;
      for (std::size_t q = 0; q < some.size(); ++q)
        if (Dominates(some[q], some[p])) expected = std::max(expected, rank[q] + 1);
      CHECK(rank[p] == expected);
    }
  }
}

TEST_CASE("what jobs change leaves a packing legal, and the best row is best") {
  Stream draw(8, Purpose::kTest);
  for (int i = 0; i < 60; ++i) {
    const Problem problem = DrawnProblem(draw, 2 + i % 6, {4, 2, 4}, 8);
    const Objective objective(problem);
    Packing packing(objective, draw);
    packing.Set(problem.present);
    for (int k = 0; k < 30; ++k) {
      const int job = static_cast<int>(draw.Below(static_cast<std::uint32_t>(objective.jobs())));
      if (draw.Below(2) == 0) {
        const Packing::Growth growth = packing.BestGrowth(job);
        const double before = packing.cost(job);
        if (growth.rate <= 0.0) continue;
        packing.Grow(job, growth);
        CHECK(packing.extent(job).replicas == growth.replicas);
        CHECK(packing.extent(job).nodes == growth.nodes);
        // or the row is the present one again, which costs less
        CHECK(packing.cost(job) < before);
      } else {
        packing.Leave(job);
        double best = packing.cost(job);
        Allocation rows(1, 3);  // every row that fits
        for (int c = 0; c < 5 * 3 * 5; ++c) {
          rows.row(0)[0] = static_cast<std::uint8_t>(c / 15);
          rows.row(0)[1] = static_cast<std::uint8_t>(c / 5 % 3);
          rows.row(0)[2] = static_cast<std::uint8_t>(c % 5);
          if (packing.Fits(job, rows.row(0))) best = std::min(best, objective.Cost(job, rows.row(0)));
        }
        packing.PutBest(job);
        CHECK(packing.cost(job) == best);
      }
      CHECK(objective.Legal(packing.allocation()));
      CHECK(packing.cost() == Approx(objective.Cost(packing.allocation())).epsilon(1e-14));
    }
  }
}

TEST_CASE("the better search finds the best of all allocations, and none passes its bound") {
  Stream draw(9, Purpose::kTest), genes(1, Purpose::kScheduler), moves(2, Purpose::kScheduler);
  int genetic_found = 0;
  for (int i = 0; i < 40; ++i) {
    const Problem problem = i % 2 == 0 ? DrawnProblem(draw, 3, {2, 3, 2}, 5) : DrawnProblem(draw, 4, {3, 3}, 6);
    const Objective objective(problem);
    const double best = FittestOfAll(objective);
    const std::vector<Allocation> seeds = {problem.present};
    const Searched searched = Search(objective, seeds, {1000}, moves);
    CHECK(objective.Legal(searched.best));
    CHECK(searched.fitness == Approx(best).epsilon(1e-12));
    CHECK(searched.bound >= best * (1 - 1e-12));
    if (searched.optimal) CHECK(searched.bound == Approx(best).epsilon(1e-8));
    Genetic genetic(GeneticOptions{.population = 40, .generations = 30});
    const Found found = genetic.Solve(objective, Ids(objective.jobs()), genes);
    CHECK(objective.Legal(found.best));
    CHECK(found.fitness == objective.Fitness(found.best));
    CHECK(found.fitness <= best * (1 + 1e-12));
    CHECK(found.fitness >= objective.Fitness(problem.present));
    genetic_found += found.fitness >= best * (1 - 1e-12);
  }
  CHECK(genetic_found >= 30);
}

TEST_CASE("the better search is never less fit than its seeds, nor than the genetic one in a round of it") {
  Stream draw(10, Purpose::kTest), genes(3, Purpose::kScheduler), moves(4, Purpose::kScheduler);
  for (int i = 0; i < 12; ++i) {
    const Problem problem = DrawnProblem(draw, 10 + 3 * i, std::vector<int>(8, 4), 16);
    const Objective objective(problem);
    Genetic genetic(GeneticOptions{.population = 40, .generations = 40});
    const Found found = genetic.Solve(objective, Ids(objective.jobs()), genes);
    const std::vector<Allocation> nothing;
    const Searched searched = Search(objective, nothing, {1000}, moves);  // a tenth of the genetic one's time
    CHECK(searched.fitness >= found.fitness);
    CHECK(searched.fitness <= searched.bound * (1 + 1e-9));
    const std::vector<Allocation> its = {found.best};
    CHECK(Search(objective, its, {0}, moves).fitness >= found.fitness);
  }
}

TEST_CASE("a genetic search goes on from the last one, job by job, and repeats itself by its stream") {
  Stream draw(12, Purpose::kTest);
  const Problem problem = DrawnProblem(draw, 6, {4, 4, 4}, 8);
  const Objective objective(problem);
  const std::vector<std::int64_t> ids = Ids(6);
  Genetic one(GeneticOptions{.population = 20, .generations = 20}), two = one;
  Stream a(7, Purpose::kScheduler), b(7, Purpose::kScheduler);
  CHECK(one.Seeds(objective, ids) == std::vector<Allocation>{problem.present});
  const Found found = one.Solve(objective, ids, a);
  CHECK(two.Solve(objective, ids, b).best == found.best);
  const std::vector<Allocation> seeds = one.Seeds(objective, ids);
  CHECK(std::count(seeds.begin(), seeds.end(), found.best) == 1);
  CHECK(one.Solve(objective, ids, a).fitness >= found.fitness);

  // Who left takes the row along; who is new has none. By place, rows go in order to those who stay.
  const std::vector<Allocation> from = {Rows({{1, 0}, {2, 0}, {0, 3}})};
  const std::vector<std::int64_t> then = {5, 6, 7}, now = {8, 7, 5};
  CHECK(CarryOver(from, then, now, false) == std::vector<Allocation>{Rows({{0, 0}, {0, 3}, {1, 0}})});
  CHECK(CarryOver(from, then, now, true) == std::vector<Allocation>{Rows({{0, 0}, {1, 0}, {0, 3}})});
}

}  // namespace berth::pollux
