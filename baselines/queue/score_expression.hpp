// A scoring expression that a user gives: `queue(order=expression,score=-(wait/request)^3*gang)` is WFP3.
//
//   sum     = product { (+|-) product }        product = sign { (*|/) sign }
//   sign    = - sign | power                   power   = atom [ ^ sign ]
//   atom    = number | variable | function ( sum {, sum} ) | ( sum )
//
// Variables and functions: the tables in score_expression.cpp. A whole power up to 16 is a product, so a
// cube has the bits of x*x*x; any other power is that of env/base/portable_math.hpp, with the sign of
// the product where a negative number has a whole power. Where the value is not a number (0/0, the root of a
// negative one, min and max of either) the job comes last.
#pragma once

#include <string_view>

#include "baselines/queue/order.hpp"

namespace berth {

// Throws Error: "score '(wait': column 6: expected ')', found the end".
ScoreRule ParseScore(std::string_view text);

}  // namespace berth
