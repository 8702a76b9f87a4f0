// The price of electricity hour by hour, over and over: 24 prices are a day, 168 a week.
#pragma once

#include <vector>

namespace berth {

// Price of a kWh at `t` s; 0 without prices.
double PriceAt(const std::vector<double>& hours, double t);
// When it is next another than at `t`, s > t; infinite = never.
double NextPrice(const std::vector<double>& hours, double t);
// Integral of the price from 0 to `t`: price of a kWh x s. One watt from a to b costs
// (PriceIntegral(b) - PriceIntegral(a)) / 3.6e6.
double PriceIntegral(const std::vector<double>& hours, double t);

}  // namespace berth
