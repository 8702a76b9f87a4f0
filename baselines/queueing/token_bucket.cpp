// A token bucket: tokens come at a steady rate into a bucket that holds so many, and a job takes one to
// enter. In any t seconds at most burst + rate t jobs enter. Who finds none waits for the next (action=delay,
// traffic shaping) or is rejected for good (action=reject, policing). Those that entered are the inner
// scheduler's.
#include <algorithm>
#include <cmath>

#include "baselines/composition/inner.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kTokenBucketParams[] = {
    {"rate_per_h", "60", "tokens an hour, above 0"},
    {"burst", "10", "tokens that the bucket holds, and holds at the start; from 1"},
    {"action", "delay", "what becomes of a job without a token: delay | reject"},
    {"inner", "fcfs", "the scheduler of those that entered"},
};
constexpr double kRounding = 1e-9;  // of a token: a wake-up may come a rounding error early

class TokenBucket final : public Scheduler {
 public:
  TokenBucket(double rate, double burst, bool rejects, Inner inner)
      : rate_(rate), burst_(burst), rejects_(rejects), inner_(std::move(inner)) {}
  Knowledge knowledge() const override { return inner_.knowledge(); }
  bool resizes() const override { return inner_.resizes(); }

  void Reset(const ClusterView& view) override {
    inner_.Reset(view);
    entered_.assign(U(view.num_jobs()), 0);
    tokens_ = burst_;
    seen_ = view.now();
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    tokens_ = std::min(burst_, tokens_ + rate_ * (view.now() - seen_));
    seen_ = view.now();
    // Clock reference_rounds has no wake-ups: held jobs must not be all that is left.
    const bool all = !rejects_ && view.arrivals_over() && view.running().empty();
    inner_.Begin(view);
    bool held = false;
    for (int job : view.active()) {
      if (view.LastTypeOf(job) >= 0) entered_[U(job)] = 1;  // it has run: entered before Reset
      if (entered_[U(job)] == 0) {
        if (tokens_ < 1.0 - kRounding && !all) {
          if (rejects_) decision.Reject(job);
          held = held || !rejects_;
          continue;
        }
        tokens_ = std::max(tokens_ - 1.0, 0.0);
        entered_[U(job)] = 1;
      }
      inner_.Show(view, job);
    }
    inner_.Decide(view, decision);
    if (!held) return;
    const double next = view.now() + (1.0 - tokens_) / rate_;
    decision.wake_at = std::min(decision.wake_at, std::max(next, std::nextafter(view.now(), kNever)));
  }

 private:
  double rate_, burst_;  // tokens/s, tokens
  bool rejects_;
  Inner inner_;
  std::vector<char> entered_;  // [J]
  double tokens_ = 0.0;
  double seen_ = 0.0;  // s
};

}  // namespace

SchedulerInfo TokenBucketInfo() {
  return {
      "token_bucket",
      "admits jobs at a steady rate with bursts, delays or rejects the others, over any scheduler; O(n) + "
      "inner's",
      "leaky bucket, Turner 1986; RFC 2697 (token bucket)",
      "",
      Knowledge::kNone,
      /*preemptive=*/false,
      kTokenBucketParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        const double rate = params.Number("rate_per_h", 1e-6, 1e12) / 3600.0;
        const double burst = params.Number("burst", 1.0, 1e12);
        const bool rejects = params.Choice("action", {"delay", "reject"}) == 1;
        return std::make_unique<TokenBucket>(rate, burst, rejects,
                                             Inner("token_bucket: parameter 'inner'", params.Text("inner")));
      },
      /*claims=*/{.types = true}};
}

}  // namespace berth
