// What berth train shows on a terminal while it runs: returns, the cluster's metric, losses, steps a second,
// and which stage takes the time; a line each, redrawn in place above the bar (tools/progress.hpp).
#pragma once

#include <string>
#include <vector>

#include "agents/train/learn_api.hpp"

namespace berth {

// "▁▃█": the last `width` values between the smallest and the largest of them; NaN is a blank.
std::string Sparkline(const std::vector<double>& values, std::size_t width);

// The learner's figure of that name, "losses/approx_kl"; NaN where it has none.
double Figure(const TrainProgress& now, const std::string& wanted);

// What learning meets: entropy against a uniform draw's, how much of the advantage arrivals explain, jobs in
// the system as episodes begin and end; "" where nothing is known yet.
std::string Meanwhile(const TrainProgress& now);

class TrainView {
 public:
  // The metric is shown divided by `unit`.
  explicit TrainView(std::string metric, double unit = 1.0) : metric_(std::move(metric)), unit_(unit) {}
  void Add(const TrainProgress& now);  // about once a second
  // None before the first Add; `notes` last, a line each.
  std::vector<std::string> Lines(const std::vector<std::string>& notes = {}) const;

 private:
  std::string metric_;  // what people call BatchEnv's
  double unit_;
  TrainProgress last_;
  std::vector<double> returns_, metrics_, rates_;  // the latest kHistory of each
};

}  // namespace berth
