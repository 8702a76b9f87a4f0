// One run of a scheduler over a scenario, with its decisions timed.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/base/shortest.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/thinned_sample.hpp"

namespace berth {

namespace {

constexpr std::chrono::milliseconds kTellEvery{500};

void CheckKnowledge(const Scenario& scenario, const Scheduler& scheduler, const std::string& name) {
  if (scheduler.knowledge() > scenario.data().knowledge) {
    throw Error(Join("scheduler '", name, "' needs knowledge '", ToString(scheduler.knowledge()),
                     "', the scenario grants '", ToString(scenario.data().knowledge), "'"));
  }
}

// How often jobs that are there now were stopped without an order.
std::int64_t StopsOf(const SimState& state) {
  std::int64_t stops = 0;
  if (state.interruptions.empty()) return 0;
  for (const int job : state.active) stops += state.interruptions[U(job)];
  return stops;
}

// Do jobs still leave? Where the cluster takes their work again and again none may, and the run has no end of
// its own.
class Standstill {
 public:
  explicit Standstill(const Scenario& scenario) {
    for (int job = 0; job < scenario.num_jobs(); ++job)
      longest_ = std::max(longest_, scenario.data().jobs.total_steps[U(job)] / scenario.BestRate(job));
  }
  // In words, the first time that it looks so; else nothing.
  std::string Look(const Simulator& simulator) {
    const int arrived = simulator.arrived_jobs(), left = arrived - simulator.jobs_in_system();
    if (left != left_ || empty_) since_ = simulator.now();
    if (left != left_ || arrived != arrived_) alone_since_ = simulator.now(), stops_ = -1;
    left_ = left, arrived_ = arrived, empty_ = left == arrived;
    if (told_ || simulator.now() - since_ <= kPatience * longest_) return "";
    told_ = true;
    return Join(Words(simulator), ": the run may never end (--max-time S ends it)");
  }
  // Nobody came or went for ten times as long, while the cluster stopped jobs again and again.
  bool Endless(const Simulator& simulator) {
    if (simulator.now() - alone_since_ <= kPatience * longest_ || ++looks_ % kEvery != 0) return false;
    if (stops_ < 0) stops_ = StopsOf(simulator.state());
    return simulator.now() - alone_since_ > 10 * kPatience * longest_ &&
           StopsOf(simulator.state()) - stops_ >= kStops;
  }
  std::string Words(const Simulator& simulator) const {
    return Join("no job has ended for ", InWords(std::round((simulator.now() - since_) / 360.0) / 10.0),
                " h, ", std::round((simulator.now() - since_) / longest_),
                " times what the longest takes alone, with ", simulator.jobs_in_system(), " in the system");
  }

 private:
  static constexpr int kPatience = 100, kStops = 1000;
  static constexpr std::uint32_t kEvery = 64;               // decisions: StopsOf looks at every job
  double longest_ = 0.0, since_ = 0.0, alone_since_ = 0.0;  // s
  int left_ = 0, arrived_ = 0;
  std::int64_t stops_ = -1;  // when patience was over
  std::uint32_t looks_ = 0;
  bool told_ = false, empty_ = true;
};

// Nothing runs: does a job that waits fit what is in service now?
bool AnyFits(const Scenario& scenario, const SimState& state) {
  for (const int job : state.waiting) {
    for (int type = 0; type < scenario.num_types(); ++type) {
      if (scenario.Rate(job, type) > 0.0 && scenario.MinGang(job) <= state.types[U(type)].count) return true;
    }
  }
  return false;
}

// A run that stalls is the cluster's doing where it has stopped who waits, and either leaves nobody a place
// or takes it from all whom the scheduler goes on starting. Else the scheduler's.
bool ClusterStalls(const Simulator& simulator) {
  return StopsOf(simulator.state()) > 0 &&
         (simulator.starts_were_lost() || !AnyFits(simulator.scenario(), simulator.state()));
}

}  // namespace

void CheckRunnable(const Scenario& scenario, Scheduler& scheduler, const std::string& name) {
  CheckKnowledge(scenario, scheduler, name);
  const Simulator simulator(scenario);
  scheduler.Reset(simulator.View(scheduler.knowledge()));
}

RunResult Run(const Scenario& scenario, Scheduler& scheduler, const std::string& name,
              const RunOptions& options) {
  using Wall = std::chrono::steady_clock;
  const auto begin = Wall::now();
  const auto seconds_since = [](Wall::time_point t) {
    return std::chrono::duration<double>(Wall::now() - t).count();
  };
  CheckKnowledge(scenario, scheduler, name);
  const int jobs = scenario.num_jobs();
  const int last = options.window.end < 0 ? jobs : options.window.end;
  if (options.window.begin < 0 || options.window.begin > last || last > jobs) {
    throw Error(Join("window ", options.window.begin, ":", last, ": expected a range within the scenario's ",
                     jobs, " jobs"));
  }
  Simulator simulator(scenario, {options.keep_events, options.window.begin, last});
  scheduler.Reset(simulator.View(scheduler.knowledge()));

  Decision decision;
  RunResult result;
  ThinnedSample decide_us;  // a run may have decisions without end
  Wall::time_point told = begin;
  Standstill standstill(scenario);
  bool endless = false;
  while (simulator.AdvanceToDecision()) {
    if (simulator.now() > options.max_time_s) break;
    if (const std::string words = standstill.Look(simulator); !words.empty() && options.notice)
      options.notice(words);
    endless = standstill.Endless(simulator);
    if (endless) break;
    decision.Clear();
    const auto before = Wall::now();
    scheduler.Decide(simulator.View(scheduler.knowledge()), decision);
    decide_us.Add(static_cast<float>(seconds_since(before) * 1e6));
    if (const ApplyResult applied = simulator.Apply(decision); !applied.ok()) {
      throw Error(Join("scheduler '", name, "' decides illegally at ", simulator.now(),
                       " s: ", Explain(applied, decision, simulator)));
    }
    ++result.decisions;
    // Of decisions that take seconds each one counts: whoever waits for the run to stop does not wait for 64.
    if (options.progress &&
        (options.keep_events || result.decisions % 64 == 0 || before - told > kTellEvery)) {
      told = before;
      if (!options.progress(simulator)) break;
    }
  }
  if (endless || (simulator.stalled() && ClusterStalls(simulator))) {
    const std::string what =
        endless
            ? standstill.Words(simulator)
            : Join("at ", simulator.now(), " s ",
                   Counted(simulator.state().waiting.size(), "job waits", "jobs wait"), " and nothing runs");
    const std::string words = Join(what, "; the cluster itself has stopped them ",
                                   Counted(StopsOf(simulator.state()), "time"), ", as where devices fail");
    if (!options.notice) throw Error(Join("scheduler '", name, "' stalls: ", words));
    options.notice(Join(words, ": the run ends with them unfinished"));
  } else if (simulator.stalled()) {
    throw Error(Join("scheduler '", name, "' stalls at ", simulator.now(),
                     " s: ", Counted(simulator.state().waiting.size(), "job waits", "jobs wait"),
                     ", nothing runs and nothing will arrive"));
  }
  result.metrics = Measure(simulator, {options.window.begin, last});
  result.jct_s = CompletionTimes(simulator, {options.window.begin, last});
  if (options.keep_events) result.ftf = FinishTimeFairness(simulator, {options.window.begin, last});
  result.signature = simulator.signature();
  result.events = simulator.events();
  for (const FeatureStates::Entry& entry : simulator.state().features.entries()) {
    if ((entry.listens & BitOf(Hook::kEachSeries)) != 0)
      result.series.Add(*entry.module, entry.state->Clone());
    entry.state->AddLanes(simulator.now(), result.lanes);
  }
  result.decision_us_mean = decide_us.Mean();
  result.decision_us_p99 = decide_us.Quantile(0.99);
  result.wall_s = seconds_since(begin);
  return result;
}

}  // namespace berth
