// Compositions of the queue by their usual names: EASY and conservative backfilling, and the ways of fitting
// jobs onto types. Each is `queue(...)` with the parameters that stand beside it.
#include "baselines/queue/queue_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kEasyParams[] = {kPlaceParam};
constexpr ParamInfo kConservativeParams[] = {kReserveParam};
constexpr ParamInfo kFitParams[] = {kOvertakeParam};

QueueRuleOptions ReadEasy(Params& params) {
  QueueRuleOptions options;
  options.place = ReadTypeChoice(params);
  options.backfill = Backfill::kEasy;
  return options;
}

QueueRuleOptions ReadEasySjbf(Params& params) {
  QueueRuleOptions options = ReadEasy(params);
  options.backfill_order = SjfOrder().rule();
  return options;
}

QueueRuleOptions ReadConservative(Params& params) {
  QueueRuleOptions options;
  options.backfill = Backfill::kConservative;
  options.reserve_by_start = ReadReserveByStart(params);
  return options;
}

template <TypeChoice kPlace>
QueueRuleOptions ReadFit(Params& params) {
  QueueRuleOptions options;
  options.place = kPlace;
  options.overtake = params.Bool(kOvertakeParam.name);
  return options;
}

// A row with facts of its own instead of its order's.
SchedulerInfo Named(SchedulerInfo rule, const char* name, const char* summary, const char* source,
                    Knowledge knowledge, Claims claims) {
  rule.name = name;
  rule.summary = summary;
  rule.source = source;
  rule.knowledge = knowledge;
  rule.claims = claims;
  return rule;
}

}  // namespace

// order=fcfs,backfill=easy
SchedulerInfo EasyInfo() {
  return Named(
      NamedRule<FcfsOrder, ReadEasy>(kEasyParams), "easy",
      "first come, first served with EASY backfilling; the head holds a reservation; O(types log n) a start",
      "Lifka, JSSPP 1995", Knowledge::kEstimate, {.types = true, .times = true});
}

// order=sjf,backfill=easy: the shortest job is the head and holds the reservation, the others are tried by
// length too.
SchedulerInfo EasySjfInfo() {
  return Named(
      NamedRule<SjfOrder, ReadEasy>(kEasyParams), "easy_sjf",
      "shortest job first with EASY backfilling; the head holds a reservation; O(types log n) a start",
      "Carastan-Santos et al., CCGrid 2019 (EASY with another order of the queue)", Knowledge::kEstimate,
      {.types = true, .times = true});
}

// order=fcfs,backfill=easy,backfill_order=sjf: the queue and its head, which holds the reservation, are in
// arrival order, those behind it are tried by length. On predicted run times, `predicted(inner=easy_sjbf)`,
// it is what the paper calls EASY++ (its predictor is the mean of the user's last two jobs).
SchedulerInfo EasySjbfInfo() {
  return Named(NamedRule<FcfsOrder, ReadEasySjbf>(kEasyParams), "easy_sjbf",
               "EASY backfilling where the shortest job is backfilled first; O(types log n) a start",
               "Tsafrir, Etsion & Feitelson, IEEE TPDS 18(6), 2007: SJBF", Knowledge::kEstimate,
               {.types = true, .times = true});
}

// order=fcfs,backfill=conservative
SchedulerInfo ConservativeInfo() {
  return Named(
      NamedRule<FcfsOrder, ReadConservative>(kConservativeParams), "conservative",
      "backfilling with a reservation for every queued job, all planned anew each time; O(n^2 types) a "
      "decision",
      "Mu'alem and Feitelson, IEEE TPDS 12(6), 2001", Knowledge::kEstimate, {.types = true, .times = true});
}

// order=fcfs,placement=best_fit: keeps large holes for large gangs
SchedulerInfo BestFitInfo() {
  return Named(
      NamedRule<FcfsOrder, ReadFit<TypeChoice::kBestFit>>(kFitParams), "best_fit",
      "first come, first served onto the type with the least room that fits, the faster on ties; O(n types)",
      "bin packing: Johnson, Demers, Ullman, Garey & Graham 1974", Knowledge::kNone, {.times = true});
}

// order=fcfs,placement=roomiest: spreads the load
SchedulerInfo WorstFitInfo() {
  return Named(
      NamedRule<FcfsOrder, ReadFit<TypeChoice::kRoomiest>>(kFitParams), "worst_fit",
      "first come, first served onto the type with the most room that fits, the faster on ties; O(n types)",
      "bin packing: Johnson, Demers, Ullman, Garey & Graham 1974", Knowledge::kNone, {.times = true});
}

// order=fcfs,placement=vector_fit: the least left of GPUs and of memory
SchedulerInfo VectorFitInfo() {
  return Named(
      NamedRule<FcfsOrder, ReadFit<TypeChoice::kVectorFit>>(kFitParams), "vector_fit",
      "first come, first served by best fit on memory and compute, the faster on ties; O(n types^2)",
      "norm-based greedy: Panigrahy, Talwar, Uyeda & Wieder, Heuristics for Vector Bin Packing, 2011",
      Knowledge::kNone, {.times = true});
}

}  // namespace berth
