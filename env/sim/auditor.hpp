// Keeps books of its own beside a simulator and compares them at every observation: what must hold from one
// moment to the next. It reads the public state and the scenario only, and computes time, work, GPU-seconds
// and job-seconds anew: conservation means that both books agree.
//
//   Auditor auditor;
//   ... after every advance and every decision:
//   std::string violation = auditor.Observe({scenario, state, busy_seconds, job_seconds});   // "" when all
//   agree
//
// In builds with BERTH_DEBUG_CHECKS every simulator carries one.
#pragma once

#include <span>
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
};

class Auditor {
 public:
  // Every name that a violation may begin with.
  static std::span<const char* const> Rules();

  // "rule: what", or "". All observations are of one run, from its first decision point on.
  std::string Observe(const AuditInput& input);

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
  };
  std::string Elapse(const AuditInput& input);
  double EndOfRun(const AuditInput& input, int job) const;
  std::string Compare(const AuditInput& input) const;
  void Record(const AuditInput& input);

  double time_ = 0.0;
  double job_seconds_ = 0.0;
  std::vector<double> busy_;  // [G]
  std::vector<Run> runs_;     // [J]
};

}  // namespace berth
