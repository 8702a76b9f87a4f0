// A queue rule from its pieces: order, placement, backfilling, preemption.
#include <limits>

#include "baselines/queue/preemptive_queue.hpp"
#include "baselines/queue/queue_rule.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr const char* kBackfills[] = {"backfill=none", "backfill=easy", "backfill=conservative"};

void Refuse(bool both, const std::string& one, const std::string& other, const char* why) {
  if (both) throw Error(Join(one, " and ", other, " contradict each other: ", why));
}

void CheckOptions(const QueueRuleOptions& options) {
  const std::string overtake = "overtake=true", commit = "semantics=commit", start = "reserve=start";
  const std::string backfill = kBackfills[static_cast<std::size_t>(options.backfill)];
  const std::string preempt = options.preemption_text, limit = Join("queue_limit=", options.queue_limit);
  const bool commits = options.semantics == Semantics::kCommit, fills = options.backfill != Backfill::kNone;
  const bool preempts = options.preemption != Preemption::kNone;
  Refuse(options.overtake && commits, overtake, commit, "the job chosen blocks all others");
  Refuse(options.overtake && fills, overtake, backfill, "backfilling decides who may overtake");
  Refuse(commits && options.backfill == Backfill::kConservative, commit, backfill,
         "one job at a time is committed to");
  Refuse(options.backfill_order && options.backfill != Backfill::kEasy, "backfill_order", backfill,
         "only EASY tries those behind the head in an order");
  Refuse(options.backfill_order && commits, "backfill_order", commit,
         "the published variant tries them in order of arrival");
  Refuse(options.reserve_by_start && options.backfill != Backfill::kConservative, start, backfill,
         "only conservative backfilling reserves for every job");
  Refuse(preempts && commits, preempt, commit, "every decision plans anew");
  Refuse(preempts && fills, preempt, backfill, "what runs may be stopped, so nothing can be reserved");
  Refuse(preempts && options.queue_limit != QueueRuleOptions::kNoLimit, preempt, limit,
         "a job that is stopped would have to be let in again");
}

}  // namespace

QueueRuleOptions ReadQueueParams(Params& params, const char* place) {
  QueueRuleOptions options;
  options.place = ReadTypeChoice(params, place);
  options.overtake = params.Bool(kOvertakeParam.name);
  options.semantics = static_cast<Semantics>(params.Choice(kSemanticsParam.name, {"redecide", "commit"}));
  options.backfill =
      static_cast<Backfill>(params.Choice(kBackfillParam.name, {"none", "easy", "conservative"}));
  return options;
}

int ReadQueueLimit(Params& params) {
  const std::string text = params.Text(kQueueLimitParam.name);
  if (text == "none") return QueueRuleOptions::kNoLimit;
  const std::string what = "parameter 'queue_limit' (none, or how many may wait)";
  const long long limit = ParseInteger(text, what);
  if (limit < 0 || limit > std::numeric_limits<int>::max()) {
    throw Error(Join(what, ": expected 0 or more, found ", text));
  }
  return static_cast<int>(limit);
}

std::unique_ptr<Scheduler> MakeQueue(const ScoreRule& rule, const QueueRuleOptions& options) {
  CheckOptions(options);
  if (options.preemption == Preemption::kNone) return std::make_unique<QueueRule>(rule, options);
  return std::make_unique<PreemptiveQueue>(rule, options.place, options.overtake);
}

}  // namespace berth
