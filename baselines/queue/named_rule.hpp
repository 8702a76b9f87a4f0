// A queue rule by its usual name: one order, composed as the parameters say.
#pragma once

#include "baselines/queue/order.hpp"
#include "baselines/queue/queue_rule.hpp"

namespace berth {

// The row of an order: `sjf(...)` is `queue(order=sjf,...)`.
template <OrderInfo (*kOrder)()>
SchedulerInfo NamedRule() {
  const OrderInfo order = kOrder();
  return {order.name,
          order.summary,
          order.source,
          "",
          order.knowledge,
          /*preemptive=*/false,
          kQueueParams,
          [](Params& params) { return MakeQueue(kOrder().rule(), ReadQueueParams(params)); },
          order.claims};
}

}  // namespace berth
