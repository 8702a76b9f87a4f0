// An order of the queue: the first of the four pieces that a queue rule is composed of (order, placement,
// backfilling, preemption). Adding one is `OrderInfo XOrder()`, in order.cpp or published_orders.cpp, and a
// line in the table; `queue(order=x)` knows it then, and a row of its own is one line (queue_rule.hpp:
// NamedRule).
#pragma once

#include <functional>
#include <span>
#include <string>

#include "env/sim/scheduler.hpp"

namespace berth {

// How jobs are ranked: the least score first, ties in arrival order (time of arrival, then the scenario's
// order).
struct ScoreRule {
  std::function<double(const ClusterView& view, int job)> score;  // not NaN
  Knowledge knowledge;                                            // that `score` reads
  bool moves;               // the score of a waiting job changes with time
  bool reads_work = false;  // that is left, of jobs with a request too
};

struct OrderInfo {
  const char* name;
  const char* summary;  // "... first"
  const char* source;
  double (*score)(const ClusterView& view, int job);
  Knowledge knowledge;
  bool moves;
  Claims claims;  // of the rule that starts jobs in this order and nothing else

  ScoreRule rule() const { return {score, knowledge, moves}; }
};

#define BERTH_QUEUE_ORDERS(X) \
  X(Fcfs)                     \
  X(Sjf)                      \
  X(Ljf)                      \
  X(Smallest)                 \
  X(Largest)                  \
  X(Saf)                      \
  X(Lxf)                      \
  X(Wfp3)                     \
  X(Unicep)                   \
  X(F1)                       \
  X(F2)                       \
  X(F3)                       \
  X(F4)                       \
  X(Priority)                 \
  X(Ageing)

#define BERTH_DECLARE(Name) OrderInfo Name##Order();
BERTH_QUEUE_ORDERS(BERTH_DECLARE)
#undef BERTH_DECLARE

// The table, in the order of the list.
std::span<const OrderInfo> QueueOrders();

// The order of that name; `others` (may be null) is what else `what` may be. Throws Error.
ScoreRule FindOrder(const char* what, const std::string& name, const char* others = nullptr);

}  // namespace berth
