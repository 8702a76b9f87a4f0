#include "tools/evolve/evolution.hpp"

#include <algorithm>
#include <cmath>

#include "data/sequence.hpp"
#include "env/check.hpp"
#include "env/index.hpp"
#include "env/portable_math.hpp"
#include "env/thread_team.hpp"
#include "policies/schedulers.hpp"
#include "tools/evolve/examples.hpp"
#include "tools/results.hpp"
#include "tools/tune/cma_es.hpp"

namespace berth {
namespace {

struct Played {
  double slowdown = 0.0, p99_wait = 0.0, max_wait = 0.0;
  std::int64_t decisions = 0;
};

class Plays {
 public:
  explicit Plays(const Evolution& evolution)
      : evolution_(evolution),
        end_(evolution.window.end < 0 ? evolution.log->num_jobs() : evolution.window.end) {
    if (end_ - evolution.window.begin < evolution.jobs) {
      throw Error(Join("expected at least ", evolution.jobs, " jobs to train on, found ",
                       end_ - evolution.window.begin));
    }
  }

  // The pieces of a generation, and what the reference does on them.
  void Draw(int generation, ThreadTeam& team) {
    pieces_.clear();
    Stream stream(evolution_.seed, Purpose::kReplay, Split::kTrain, static_cast<std::uint32_t>(generation));
    const int begins = end_ - evolution_.window.begin - evolution_.jobs + 1;
    for (int i = 0; i < evolution_.pieces; ++i) {
      const int begin =
          evolution_.window.begin + static_cast<int>(stream.Below(static_cast<std::uint32_t>(begins)));
      const auto draw = [&](double Scales::*scale) {
        const double low = Log(evolution_.low.*scale), high = Log(evolution_.high.*scale);
        return Exp(low + (high - low) * stream.Uniform());
      };
      Scales scales;
      for (double Scales::*scale : {&Scales::load, &Scales::run, &Scales::gang}) scales.*scale = draw(scale);
      pieces_.push_back(Piece(*evolution_.log, begin, evolution_.jobs, scales));
    }
    reference_.resize(pieces_.size());
    team.Run(evolution_.pieces, [&](int i) {
      const auto scheduler = MakeScheduler(evolution_.reference, AllSchedulers());
      reference_[U(i)] = Play(pieces_[U(i)], *scheduler, evolution_.reference);
    });
  }

  // Values of all candidates; adds to `decisions`.
  std::vector<double> operator()(const std::vector<PolicyBundle>& candidates, ThreadTeam& team,
                                 std::int64_t& decisions) {
    const int pieces = evolution_.pieces, parts = static_cast<int>(candidates.size()) * pieces;
    std::vector<Played> played(U(parts));
    team.Run(parts, [&](int part) {
      const auto scheduler = MakePolicyScheduler(candidates[U(part / pieces)], "evolve", /*sample=*/false);
      played[U(part)] = Play(pieces_[U(part % pieces)], *scheduler, "evolve");
    });
    std::vector<double> values(candidates.size(), 0.0);
    for (int part = 0; part < parts; ++part) {
      decisions += played[U(part)].decisions;
      values[U(part / pieces)] += Value(played[U(part)], reference_[U(part % pieces)]) / pieces;
    }
    return values;
  }

 private:
  static Played Play(const Scenario& scenario, Scheduler& scheduler, const std::string& name) {
    const RunResult run = Run(scenario, scheduler, name, {});
    const Metrics& m = run.metrics;
    return {m.hpc_bounded_slowdown, m.p99_wait_s, m.max_wait_s, run.decisions};
  }

  double Value(const Played& found, const Played& reference) const {
    const auto excess = [&](double wait, double allowed) {
      return std::max(0.0, wait / std::max(allowed, 1.0) - evolution_.margin);
    };
    return found.slowdown / reference.slowdown +
           evolution_.penalty *
               (excess(found.p99_wait, reference.p99_wait) + excess(found.max_wait, reference.max_wait));
  }

  const Evolution& evolution_;
  int end_;
  std::vector<Scenario> pieces_;
  std::vector<Played> reference_;
};

}  // namespace

Scenario Piece(const Scenario& log, int begin, int jobs, const Scales& scales) {
  ScenarioData data = Sequence(log, begin, jobs, log.data().clock).data();
  const std::vector<int>& sizes = data.throughputs.gang_sizes;  // ascending
  const double first = data.jobs.arrival.front(), stretch = scales.run * scales.gang / scales.load;
  for (std::size_t i = 0; i < data.jobs.arrival.size(); ++i) {
    const double later = (data.jobs.arrival[i] - first) * (stretch - 1.0);
    data.jobs.arrival[i] += later;
    if (!data.jobs.deadline.empty()) data.jobs.deadline[i] += later;
    data.jobs.total_steps[i] *= scales.run;
    if (!data.jobs.requested_s.empty()) data.jobs.requested_s[i] *= scales.run;
    if (scales.gang == 1.0) continue;
    const double wanted = data.jobs.gang[i] * scales.gang;
    const auto above = std::upper_bound(sizes.begin(), sizes.end(), wanted,
                                        [](double value, int size) { return value < size; });
    data.jobs.gang[i] = above == sizes.begin() ? *above : *(above - 1);
  }
  return Scenario(std::move(data));
}

Evolved Evolve(const Evolution& evolution) {
  std::vector<std::string> types;
  for (const GpuType& type : evolution.log->data().cluster.types) types.push_back(type.name);
  const HingeScorer scorer(evolution.mdp, evolution.reserve, evolution.hinges, types);
  Stream init(evolution.seed, Purpose::kInit);
  const std::vector<double> start = scorer.Start(evolution.start, init);
  ThreadTeam team(evolution.threads);
  Plays plays(evolution);
  CmaEs search(start, std::vector<double>(start.size(), evolution.step), evolution.seed,
               evolution.population);
  Evolved found;
  while (search.generation() < evolution.generations && !(evolution.interrupted && *evolution.interrupted)) {
    std::vector<PolicyBundle> candidates;
    for (const std::vector<double>& point : search.Ask()) candidates.push_back(scorer.Bundle(point));
    plays.Draw(search.generation(), team);
    const std::vector<double> values = plays(candidates, team, found.decisions);
    search.Tell(values);
    if (evolution.on_generation) {
      evolution.on_generation(search.generation(), *std::min_element(values.begin(), values.end()),
                              search.sigma());
    }
  }
  found.bundle = scorer.Bundle(search.generation() > 0 ? search.mean() : start);
  found.generations = search.generation();
  AddExamples(Piece(*evolution.log, evolution.window.begin, evolution.jobs, {}), found.bundle);
  return found;
}

}  // namespace berth
