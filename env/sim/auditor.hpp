// Keeps books of its own beside a simulator and compares them at every observation: what must hold from one
// moment to the next. It reads the public state and the scenario only, and computes time, work, GPU-seconds
// and job-seconds anew: conservation means that both books agree.
//
//   Auditor auditor;
//   ... after every advance and every decision:
//   std::string violation = auditor.Observe({scenario, state, busy_seconds, job_seconds});   // "" when all
//   agree
//
// Every simulator made while AuditOn() carries one, and every one of builds with BERTH_DEBUG_CHECKS.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "env/sim/scenario.hpp"
#include "env/sim/sim_state.hpp"

namespace berth {

struct AuditInput {
  const Scenario& scenario;
  const SimState& state;
  std::span<const double> busy_seconds;  // [G] Simulator::BusySeconds; as job_seconds, where WholeNext
  double job_seconds;                    // Simulator::JobSeconds
  bool within_round = false;             // clocks with rounds: between two boundaries
  bool last = false;                     // nothing follows
  std::size_t seen = 0;                  // of state.changed: how many were there at the last observation
};

// Whether the environment says BERTH_AUDIT=1, as --audit of a verb makes it: so it reaches every library and
// process of a run. Any thread.
bool AuditOn();
class Audited {  // the same while it lives; no other thread may read or change the environment meanwhile
 public:
  Audited();
  ~Audited();
  Audited(const Audited&) = delete;
  Audited& operator=(const Audited&) = delete;

 private:
  bool was_on_;
};

// What such a simulator throws where a rule is broken: the fault is Berth's, not the input's.
class AuditFailure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

class Auditor {
 public:
  // Looks at everyone once in so many observations, and at the last one; at the others at those who changed,
  // by the simulator's word. Of whom it forgot, the books are wrong when all are looked at.
  explicit Auditor(int whole_every = 1) : whole_every_(whole_every) {}

  // Every name that a violation may begin with.
  static std::span<const char* const> Rules();

  // "rule: what", or "". All observations are of one run, from its first decision point on.
  std::string Observe(const AuditInput& input);
  // A feature has said where a job's work is (SimCore::SetProgress): it goes on from there.
  void Told(const SimState& state, int job);
  // Whether the next observation looks at everyone.
  bool WholeNext(bool within_round, bool last) const {
    return last || (since_whole_ + 1 >= whole_every_ && !within_round);
  }

 private:
  struct Run {  // of one job; type < 0 = not running
    int type = -1, last_type = -1;
    int partner = -1;  // on the same GPU
    int preemptions = 0, interruptions = 0;
    int width = 0;         // GPUs held
    double rate = 0.0;     // steps/s, where features set it
    double resumes = 0.0;  // s, no progress before: what the start costs
    double steps = 0.0;    // done in all runs
    double held_s = 0.0;   // on GPUs in all runs
    double since = 0.0;    // s, when it was last looked at: the books go to there
    JobPhase phase = JobPhase::kFuture;
    double completion = kNever;
    bool changed = false;   // since then, or it held GPUs in between
    std::uint32_t met = 0;  // the number of the observation that last listed it
  };
  void Watch(const AuditInput& input);
  std::string Elapse(const AuditInput& input);
  double EndOfRun(const AuditInput& input, int job) const;
  std::string Compare(const AuditInput& input) const;
  void Record(const AuditInput& input);

  double time_ = 0.0;
  double job_seconds_ = 0.0;
  std::vector<double> busy_;  // [G]
  std::vector<Run> runs_;     // [J]
  // Jobs: those that arrived and were not in the system at the last observation; those looked at now.
  std::vector<int> pending_, watched_;
  int next_arrival_ = 0, in_parts_ = 0;  // in_parts_: jobs that hold a part of a GPU
  std::uint32_t observation_ = 0;
  int whole_every_, since_whole_ = 0;
  bool whole_ = true;
};

}  // namespace berth
