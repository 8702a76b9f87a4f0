// The controller of `berth serve --slurm`: it looks at Slurm, asks a scheduler, and has Slurm do what it
// says.
//
// Slurm stays the authority. A job that the controller released and that does not start is held again after a
// while, with what Slurm says of it, and is not offered for a pause; what Slurm refuses is recorded. Nothing
// is remembered that Slurm does not say again, but for what jobs have attained: after a crash the controller
// goes on from what it sees.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "env/sim/decision.hpp"
#include "env/sim/scheduler.hpp"
#include "tools/controller/decision_log.hpp"
#include "tools/controller/learned_speeds.hpp"
#include "tools/controller/live_cluster.hpp"
#include "tools/controller/live_forecast.hpp"
#include "tools/controller/slurm_commands.hpp"
#include "tools/controller/status.hpp"

namespace berth {

enum class ControlMode { kDryRun, kAdvise, kControl };

struct ControllerOptions {
  std::string scheduler;  // its spec, for people
  bool preemptive = false;
  ControlMode mode = ControlMode::kDryRun;
  std::vector<std::string> partitions;
  bool all_holds = false;
  Clock clock;
  double poll_s = 0.5;
  double starve_s = 24.0 * 3600.0;  // a job that has waited longer goes first
  int changes_per_minute = 600;
  std::string out;              // folder: decisions.jsonl, heartbeat, progress/; "" = nothing is written
  std::string forecast;         // spec of the scheduler by which starts are forecast
  std::string recorded;         // folder to read in place of a cluster
  double dead_s = 30.0;         // after which the watchdog takes the controller for dead
  Json card;                    // of a policy, for people; null = none
  double command_s = 30.0;      // that one of Slurm's commands may take
  std::function<double()> now;  // s since 1970; none = the clock
};

// Thread rule: one thread at a time; the board is for the others.
class Controller {
 public:
  // Checks what it will need: Slurm's version, clock and rights. Throws Error.
  Controller(ControllerOptions options, SiteFile site, std::unique_ptr<Scheduler> scheduler,
             StatusBoard& board);

  // Shows the scheduler the cluster as it is now. Throws Error where it cannot schedule it, or Slurm has no
  // GPUs there; no job is touched. What it was shown.
  LiveCluster TryScheduler();
  // One look, and what follows of it. Throws Error where Slurm does not answer; nothing is lost, and it may
  // be called again.
  void Cycle();
  // Cycles until `stop`. Slurm's silence is reported and waited for.
  void Run(const std::atomic<bool>& stop);
  // Gives all that it holds back to Slurm's own order: releases, takes pins and priorities off. How many
  // jobs. `pinned`: how many run yet, whose nodes Slurm lets nobody change until they are requeued.
  int Release(int* pinned = nullptr);

  const LiveCluster& live() const { return live_; }
  const Json& last_decision() const { return last_decision_; }
  double cycle_s() const { return cycle_s_[0]; }  // of the last one: in all, reading, deciding, acting

 private:
  struct Planned {  // a start that waits for GPUs which stops of the same decision free
    std::string id;
    double arrival_s;  // of the job: its number may be given again
    int type;
    std::vector<int> wanted;
    double until_s;
  };
  struct Paused {  // a job whose stop is only said, and what it goes on with
    int index, type;
    std::vector<int> devices;
  };
  void CheckSlurm();
  void Note(const std::vector<LiveChange>& changes);
  void NoteBegin();
  void NoteLeft();           // what cannot be read
  Json ClassesJson() const;  // with their speeds
  bool Due() const;
  void Decide();
  void StartStarving(std::vector<int>& idle_cpus, std::vector<int>& withheld);
  void CarryOut(std::vector<int>& idle_cpus);
  void CarryOutPlanned();
  bool Start(int index, int type, std::span<const int> wanted, std::vector<int>& idle_cpus);
  bool Stop(int index, std::vector<int>& idle_cpus);  // true: Slurm stops it
  void Would(const std::string& kind, const std::string& id, const std::string& where = "");
  bool Did(const std::string& kind, const std::string& id, const std::string& did);
  void Advise();
  void TendHolds();
  void TendOrdered();
  void Forecast();
  bool MayChange();  // within the limit of changes a minute
  std::string Ask(const std::string& id, const char* what, const std::vector<std::string>& words);
  void GiveBack();
  void Refused(const std::string& id, const std::string& what, const std::string& why);
  void Learn(const std::vector<LiveChange>& changes);  // speeds, from who ended and what jobs report
  void TakeMode();
  void Beat();
  bool Watched() const;
  void Publish(const std::string& problem);
  Json StatusOf(const std::string& problem) const;
  std::string IdOf(int index) const { return live_.job(index).slurm.id; }
  std::vector<int> IdleCpus() const;

  ControllerOptions options_;
  SiteFile site_;
  std::unique_ptr<Scheduler> scheduler_;
  StatusBoard& board_;
  SlurmCommands slurm_;
  LiveCluster live_;
  LearnedSpeeds speeds_;
  std::optional<DecisionLog> log_;
  SlurmState state_;
  std::string cluster_;
  Decision decision_;
  Json last_decision_;
  std::vector<Planned> planned_;
  std::set<std::string> left_;  // what cannot be read and is Slurm's, as it was said
  int left_jobs_ = 0, left_nodes_ = 0;
  std::set<std::string> stopping_;  // jobs that Slurm stops for them
  std::deque<double> changes_at_;
  std::map<std::string, double>
      tended_at_;              // s since 1970, when it was tried: id given back, what + id of a hold
  std::vector<int> promised_;  // jobs whose starts are only said
  std::vector<Paused> paused_;
  double now_s_ = 0.0, next_round_s_ = 0.0, wake_at_s_ = kNever;
  int noted_ = 0;       // beginnings of `live_`
  bool retry_ = false;  // something was put off
  std::array<double, 4> cycle_s_{};
  std::deque<double> cycles_, release_to_start_;  // s, the latest 1,000
  struct Counts {
    std::int64_t cycles = 0, decisions = 0, released = 0, requeued = 0, refused = 0, errors = 0;
  } counts_;
  std::deque<Json> refusals_, would_;  // the latest 100
  StartForecasts forecasts_;
  double forecast_at_s_ = 0.0;  // when the next may begin
  std::set<std::string> open_;  // of `would_`: kind + job, of which Slurm has done nothing yet
};

const char* ToString(ControlMode mode);

}  // namespace berth
