#include "tools/training_words.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "env/base/check.hpp"
#include "tools/table.hpp"
#include "tools/train_view.hpp"

namespace berth {
namespace {

constexpr double kEarly = 0.25;        // of the training: nothing is said of nowhere before
constexpr double kNearUniform = 0.97;  // of the entropy of who draws uniformly
constexpr double kStill = 1e-3;        // KL of an update
constexpr double kFrozen = 1e-8;       // KL of an update that a learning rate is too small for
constexpr double kMuchChance = 0.2;    // of the advantage's variance: a lower bound (arrivals_share.hpp)
constexpr double kWild = 0.015;        // KL of an update that is too large a step: ppo's stop is at 0.03
constexpr double kJump = 0.3;          // KL of an update after which little is left of the policy
constexpr double kOverload = 1.2;      // a little above 1 shows only after more jobs than an episode has
constexpr double kSame = 0.02;         // of a cost
constexpr double kUnsure = 0.05;       // by which drawing does better than the best action

std::string Text(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
std::string Percent(double share) {
  return Fixed(100.0 * share, 0) + "%";
}

// Is the greedy policy of `now` worse than that of `best`, beyond what the choice of workloads explains?
bool Worse(const Validation::Row& now, const Validation::Row& best) {
  if (best.greedy == 0.0) return false;  // costs that may be none, such as missed deadlines
  if (!(now.greedy > best.greedy * (1.0 + kSame))) return false;
  if (now.costs.size() != best.costs.size() || now.costs.size() < 2) return true;
  const PairedDifference more = DifferenceOf(now.costs, best.costs, now.may_be_none);
  return !(more.mean <= 2.0 * more.error);  // infinite costs are worse
}

std::string Overload(double load) {
  return Join("the load is ", Fixed(load, 2),
              " of what the cluster can work off at best, so queues grow whatever a policy does: lower the "
              "rate of arrivals, "
              "or enlarge the cluster");
}

}  // namespace

void TrainingWords::Add(const TrainProgress& now) {
  member_ = now.member, members_ = now.members;
  if (now.losses.empty()) return;
  const double kl = Figure(now, "losses/approx_kl");
  any_ = true;
  fraction_ = static_cast<double>(now.steps) / static_cast<double>(now.total_steps);
  entropy_share_ = Figure(now, "losses/entropy_share");
  arrivals_share_ = Figure(now, "losses/arrivals_share");
  if (kl > most_kl_) most_kl_ = kl;
  last_kl_ = kl;
  if (std::isnan(now.backlog_end)) return;
  if (std::isnan(first_backlog_)) first_backlog_ = now.backlog_end;
  last_backlog_ = now.backlog_end;
}

bool TrainingWords::Nowhere(const std::vector<Validation::Row>& validations) const {
  if (!any_ || fraction_ < kEarly || !(entropy_share_ >= kNearUniform) || !(most_kl_ < kStill)) return false;
  if (validations.size() < 2) return true;
  return validations.back().greedy > validations.front().greedy * (1.0 - kSame);
}

std::string TrainingWords::CauseOfNowhere() const {
  if (facts_.load >= kOverload) return Overload(facts_.load);
  if (most_kl_ < kFrozen) return "updates hardly move the policy: a larger lr of --agent";
  if (arrivals_share_ >= kMuchChance && facts_.signal_is_reward)
    return Join("who arrives explains ", Percent(arrivals_share_),
                " or more of the advantage: --signal auto takes arrivals off");
  if (arrivals_share_ >= kMuchChance)
    return Join("who arrives explains ", Percent(arrivals_share_),
                " or more of the advantage: more --envs, or a smaller --tau");
  return "what it is shown may not tell good choices from bad ones, or it needs longer: a richer --encoder, "
         "more --steps";
}

std::string TrainingWords::CauseOfLoss(const Validation::Row& last) const {
  if (facts_.load >= kOverload) return Overload(facts_.load);
  if (most_kl_ > kJump) return "updates are too large: a smaller lr of --agent";
  if (facts_.signal_is_reward)
    return "the reward counts jobs that were yet to come, which drown what the policy does: --signal auto";
  if (last.Gap() < -kUnsure)
    return Join("drawing from its scores costs ", Percent(-last.Gap()),
                " less than its best action, so it is not sure of it yet: more --steps");
  return Join("more --steps, or leave it to the rule where it does better: ",
              "--schedulers 'guard(policy=policy(file=...),fallback=", last.rule, ")'");
}

std::vector<std::string> TrainingWords::Say(const std::vector<Validation::Row>& validations) const {
  std::vector<std::string> words;
  if (Nowhere(validations)) {
    words.push_back(Join("goes nowhere: the policy still draws almost uniformly (entropy ",
                         Percent(entropy_share_), " of a uniform draw's, KL of an update ",
                         Text("%.0e", most_kl_), " at most); ", CauseOfNowhere()));
  }
  if (most_kl_ > kJump)
    words.push_back(
        Join("jumps: an update moved the policy by a KL of ", Text("%.2g", most_kl_),
             ", where 0.01 is usual, and little is left of what it was; a smaller lr of --agent"));
  if (validations.size() >= 3) {
    const auto best = std::min_element(validations.begin(), validations.end() - 2,
                                       [](const auto& a, const auto& b) { return a.greedy < b.greedy; });
    if (Worse(validations.end()[-1], *best) && Worse(validations.end()[-2], *best)) {
      const std::string cause =
          last_kl_ > kWild || most_kl_ > kJump
              ? Join("updates are large (KL ", Text("%.2g", most_kl_ > kJump ? most_kl_ : last_kl_),
                     "): a smaller lr of --agent")
          : facts_.load >= kOverload
              ? Overload(facts_.load)
              : Join(
                    "the sampled policy is what is trained, and this is the greedy one, or the last steps "
                    "were noise: a smaller lr of --agent, or ",
                    facts_.keeps_best ? "best.h5, which is the best of them"
                                      : "--validate 8, which keeps the best as best.h5");
      const double now = validations.back().greedy;
      const std::string worse = std::isinf(now)
                                    ? std::string("leaves jobs undone, unlike")
                                    : Join("is ", Percent(now / best->greedy - 1.0), " worse than");
      words.push_back(Join("drifts: the greedy policy ", worse, " after ", best->steps,
                           " steps, two validations in a row; ", cause));
    }
  }
  if (!validations.empty() && finished_) {
    const Validation::Row& last = validations.back();
    if (std::isinf(last.over))
      words.push_back(
          Join("loses: the greedy policy leaves jobs undone that ", last.rule, " does; ", CauseOfLoss(last)));
    if (std::isfinite(last.over) && last.over > 1.0 + kSame && last.over - 1.0 > 2.0 * last.over_error)
      words.push_back(Join("loses: the greedy policy costs ", Fixed(last.over, 2), " +- ",
                           Fixed(last.over_error, 2), " of ", last.rule, "'s; ", CauseOfLoss(last)));
  }
  if (finished_ && member_ < members_)
    words.push_back(Join("has ", member_, " of its ", members_, " members: a rollout of ",
                         "each took all of the training; more --steps or --seconds, ",
                         "smaller rollouts (--envs, n_steps of --agent) or fewer --members"));
  if (last_backlog_ > 1.5 * first_backlog_ && last_backlog_ > first_backlog_ + 5.0) {
    words.push_back(Join("lets its backlog grow: episodes end with ", Fixed(last_backlog_, 0),
                         " jobs in the system, at first with ", Fixed(first_backlog_, 0), "; ",
                         facts_.load >= kOverload
                             ? Overload(facts_.load)
                             : std::string("the policy leaves jobs behind: a smaller lr of --agent, or "
                                           "--reward with slowdown in it")));
  }
  return words;
}

}  // namespace berth
