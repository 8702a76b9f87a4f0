#include "baselines/queue/order.hpp"

namespace berth {

std::span<const OrderInfo> QueueOrders() {
#define BERTH_ROW(Name) Name##Order(),
  static const OrderInfo table[] = {BERTH_QUEUE_ORDERS(BERTH_ROW)};
#undef BERTH_ROW
  return table;
}

}  // namespace berth
