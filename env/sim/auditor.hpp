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
  std::span<const double> busy_seconds;  // [G] Simulator::BusySeconds
  double job_seconds;                    // Simulator::JobSeconds
  bool within_round = false;             // clocks with rounds: between two boundaries
  bool last = false;                     // nothing follows
};

// Whether the environment says BERTH_AUDIT=1, as --audit of a verb makes it: so it reaches every library and
// process of a run. Any thread.
bool AuditOn();

// What such a simulator throws where a rule is broken: the fault is Berth's, not the input's.
class AuditFailure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

class Auditor {
 public:
  // Looks at who runs or has changed at every observation, and at everyone only every so many observations
  // and at the last one: what is wrong elsewhere is found later, not less surely.
  explicit Auditor(int whole_every = 1) : whole_every_(whole_every) {}

  // Every name that a violation may begin with.
  static std::span<const char* const> Rules();

  // "rule: what", or "". All observations are of one run, from its first decision point on.
  std::string Observe(const AuditInput& input);
  bool whole() const { return whole_; }  // the last observation looked at everyone

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
    JobPhase phase = JobPhase::kFuture;
    double completion = kNever;
    bool changed = false;  // since the observation before, or it held GPUs in between
  };
  std::span<const int> Watched() const { return whole_ ? everyone_ : here_; }
  std::string Elapse(const AuditInput& input);
  double EndOfRun(const AuditInput& input, int job) const;
  std::string Compare(const AuditInput& input) const;
  void Record(const AuditInput& input);

  double time_ = 0.0;
  double job_seconds_ = 0.0;
  std::vector<double> busy_;          // [G]
  std::vector<Run> runs_;             // [J]
  std::vector<int> everyone_, here_;  // jobs: all; arrived and, at the last observation, not gone
  int next_arrival_ = 0;
  int whole_every_, since_whole_ = 0;
  bool whole_ = true;
};

}  // namespace berth
