#include "tools/reproduce/learned/opponents.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tools/evaluation.hpp"

namespace berth {
namespace {

// CPU seconds of a run of 8,000 jobs on 108 GPUs at 6.4 single-GPU jobs or 3 gangs an hour, measured by
// `berth simulate`, where they are more than two (of the last three by baselines/catalogue.md: the time of a
// decision times 13,000). All others run on every workload.
struct Slow {
  const char* spec;
  double seconds;
  std::size_t workloads;
};
constexpr Slow kSlow[] = {
    {"gittins", 2.4, 10},
    {"preempt_migrate", 2, 10},
    {"gavel(aware=false)", 2.5, 10},
    {"hybrid", 2.8, 10},
    {"gandiva", 5, 5},
    {"defragment", 4, 3},
    {"admission", 4, 3},
    {"token_bucket", 2.4, 3},
    {"power_feedback", 2.4, 3},
    {"pools", 6, 3},
    {"predicted", 8, 3},
    {"critical_path", 5, 3},
    {"reservation", 4, 3},
    {"milp", 6, 3},
    {"genetic", 8, 3},
    {"annealing", 9, 3},
    {"assignment_lp", 10, 3},
    {"proportional_fairness", 4, 20},
    {"deadline_admission", 8, 3},
    {"tabu_search", 40, 3},
    {"themis", 100, 3},
    {"shockwave", 600, 1},
};
constexpr double kUsualSeconds = 0.25, kPolicySeconds = 0.7;

const Slow* FindSlow(const std::string& spec) {
  const auto slow =
      std::find_if(std::begin(kSlow), std::end(kSlow), [&](const Slow& s) { return spec == s.spec; });
  return slow == std::end(kSlow) ? nullptr : slow;
}

}  // namespace

Opponents RegisteredOpponents(const Scenario& sample) {
  EvaluationPlan plan;
  plan.schedulers = {kAllSchedulers};
  plan.workloads = {sample};
  ExpandAll(plan);
  // What the catalogue has as a parameter: the agnostic form of the reference's LP, and the weights that suit
  // gangs, which the policies see too.
  for (const auto& [name, form] :
       {std::pair{"gavel", "gavel(aware=false)"}, std::pair{"nash_welfare", "nash_welfare(weight=gpu)"}}) {
    const auto found = std::find(plan.schedulers.begin(), plan.schedulers.end(), name);
    if (found != plan.schedulers.end()) plan.schedulers.insert(std::next(found), form);
  }
  Opponents opponents;
  for (const std::string& spec : plan.schedulers) {
    const auto scheduler = MakeScheduler(spec, AllSchedulers());
    opponents.run.push_back({spec, UsedKnowledge(*scheduler, sample.data())});
  }
  for (const Refusal& refusal : plan.refused) {
    if (refusal.scheduler != "policy") opponents.refused.emplace_back(refusal.scheduler, refusal.reason);
  }
  return opponents;
}

std::size_t AffordableWorkloads(const std::string& spec, std::size_t all) {
  const Slow* slow = FindSlow(spec);
  return slow == nullptr ? all : std::min(all, slow->workloads);
}

double RunSeconds(const std::string& spec) {
  if (const Slow* slow = FindSlow(spec)) return slow->seconds;
  return spec.starts_with("policy") ? kPolicySeconds : kUsualSeconds;
}

}  // namespace berth
