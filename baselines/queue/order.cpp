#include "baselines/queue/order.hpp"

#include <string>
#include <vector>

#include "env/base/check.hpp"

namespace berth {

std::span<const OrderInfo> QueueOrders() {
#define BERTH_ROW(Name) Name##Order(),
  static const OrderInfo table[] = {BERTH_QUEUE_ORDERS(BERTH_ROW)};
#undef BERTH_ROW
  return table;
}

ScoreRule FindOrder(const char* what, const std::string& name, const char* others) {
  std::vector<std::string> known;
  for (const OrderInfo& order : QueueOrders()) {
    if (name == order.name) return order.rule();
    known.emplace_back(order.name);
  }
  if (others != nullptr) known.emplace_back(others);
  throw Error(Join(what, ": expected the name of an order", others != nullptr ? Join(" or ", others) : "",
                   ", found '", name, "'", DidYouMean(name, known)));
}

}  // namespace berth
