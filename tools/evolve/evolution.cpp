#include "tools/evolve/evolution.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "data/sequence.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/thread_team.hpp"
#include "policies/schedulers.hpp"
#include "tools/evolve/examples.hpp"
#include "tools/results.hpp"
#include "tools/tune/cma_es.hpp"

namespace berth {
namespace {

constexpr double kShort = 60.0;  // s: waits far below are alike

struct Played {
  double slowdown = 0.0, p99_wait = 0.0, max_wait = 0.0;
  std::int64_t decisions = 0;
};

class Plays {
 public:
  explicit Plays(const Evolution& evolution) : evolution_(evolution) {}

  // New pieces of the window, the same for a split and generation, and what the reference does on them.
  void Draw(const Window& window, int count, Split split, int generation, ThreadTeam& team) {
    const int end = window.end < 0 ? evolution_.log->num_jobs() : window.end;
    if (end - window.begin < evolution_.jobs) {
      throw Error(Join("expected at least ", evolution_.jobs, " jobs to ",
                       split == Split::kTrain ? "train" : "choose", " on, found ", end - window.begin));
    }
    pieces_.clear();
    Stream stream(evolution_.seed, Purpose::kReplay, split, static_cast<std::uint32_t>(generation));
    const int begins = end - window.begin - evolution_.jobs + 1;
    for (int i = 0; i < count; ++i) {
      const int begin = window.begin + static_cast<int>(stream.Below(static_cast<std::uint32_t>(begins)));
      const auto draw = [&](double Scales::*scale) {
        const double low = Log(evolution_.low.*scale), high = Log(evolution_.high.*scale);
        return Exp(low + (high - low) * stream.Uniform());
      };
      Scales scales;
      for (double Scales::*scale : {&Scales::load, &Scales::run, &Scales::gang}) scales.*scale = draw(scale);
      pieces_.push_back(Piece(*evolution_.log, begin, evolution_.jobs, scales));
    }
    reference_.resize(pieces_.size());
    team.Run(count, [&](int i) {
      const auto scheduler = MakeScheduler(evolution_.reference, AllSchedulers());
      reference_[U(i)] = Play(pieces_[U(i)], *scheduler, evolution_.reference);
    });
  }

  // Values of all candidates; adds to `decisions`.
  std::vector<double> operator()(const std::vector<PolicyBundle>& candidates, ThreadTeam& team,
                                 std::int64_t& decisions) {
    const int pieces = static_cast<int>(pieces_.size()), parts = static_cast<int>(candidates.size()) * pieces;
    std::vector<Played> played(U(parts));
    team.Run(parts, [&](int part) {
      const auto scheduler = MakePolicyScheduler(candidates[U(part / pieces)], "evolve", /*sample=*/false);
      played[U(part)] = Play(pieces_[U(part % pieces)], *scheduler, "evolve");
    });
    std::vector<double> values;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      values.push_back(Value(std::span(played).subspan(k * U(pieces), U(pieces))));
    }
    for (const Played& one : played) decisions += one.decisions;
    return values;
  }

 private:
  Played Play(const Scenario& scenario, Scheduler& scheduler, const std::string& name) const {
    RunOptions options;
    options.progress = [this](const Simulator& /*now*/) { return !evolution_.Interrupted(); };
    const RunResult run = Run(scenario, scheduler, name, options);
    const Metrics& m = run.metrics;
    return {m.hpc_bounded_slowdown, m.p99_wait_s, m.max_wait_s, run.decisions};
  }

  // The penalty is on means over the pieces: of a single piece the waits of two equal policies differ by
  // tens of per cent, and who pays for the half of the pieces that came out longer learns to wait less than
  // is asked.
  double Value(std::span<const Played> found) const {
    double slowdown = 0.0, p99_wait = 0.0, max_wait = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto more = [&](double Played::*wait) {
        return Log((found[i].*wait + kShort) / (reference_[i].*wait + kShort));
      };
      slowdown += found[i].slowdown / reference_[i].slowdown;
      p99_wait += more(&Played::p99_wait);
      max_wait += more(&Played::max_wait);
    }
    const auto count = static_cast<double>(found.size());
    const auto excess = [&](double sum) { return std::max(0.0, Exp(sum / count) - evolution_.margin); };
    return slowdown / count + evolution_.penalty * (excess(p99_wait) + excess(max_wait));
  }

  const Evolution& evolution_;
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
  std::vector<int> generation = {0};  // of the bundles to choose from
  std::vector<PolicyBundle> bundles = {scorer.Bundle(start)};
  const auto keep = [&] {
    generation.push_back(search.generation());
    bundles.push_back(scorer.Bundle(search.mean()));
  };
  while (search.generation() < evolution.generations && !evolution.Interrupted()) {
    std::vector<PolicyBundle> candidates;
    for (const std::vector<double>& point : search.Ask()) candidates.push_back(scorer.Bundle(point));
    plays.Draw(evolution.window, evolution.pieces, Split::kTrain, search.generation(), team);
    const std::vector<double> values = plays(candidates, team, found.decisions);
    if (evolution.Interrupted()) break;  // runs were cut short: they say nothing
    search.Tell(values);
    if (evolution.on_generation) {
      evolution.on_generation(search.generation(), *std::min_element(values.begin(), values.end()),
                              search.sigma());
    }
    if (search.generation() == evolution.generations / 2) keep();
  }
  if (search.generation() > 0) keep();
  std::size_t best = bundles.size() - 1;
  if (evolution.choose > 0 && !evolution.Interrupted()) {
    plays.Draw(evolution.choose_window, evolution.choose, Split::kEvaluate, 0, team);
    const std::vector<double> values = plays(bundles, team, found.decisions);
    if (!evolution.Interrupted()) {
      best = U(static_cast<int>(std::min_element(values.begin(), values.end()) - values.begin()));
      for (std::size_t i = 0; i < values.size(); ++i) found.choices.emplace_back(generation[i], values[i]);
    }
  }
  found.bundle = std::move(bundles[best]);
  found.chosen = generation[best];
  found.generations = search.generation();
  AddExamples(Piece(*evolution.log, evolution.window.begin, evolution.jobs, {}), found.bundle);
  return found;
}

}  // namespace berth
