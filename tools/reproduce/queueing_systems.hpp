// Queues with closed forms, and how the simulator is measured against them: independent replications (seeds
// 1..R of the evaluation stream), each from an empty cluster, each a mean over the jobs between a warm-up and
// a tail of jobs that only compete; the 99% interval is Student's over the replications' means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth {

// What is measured of one system, with its closed form.
struct Quantity {
  enum class Kind { kDelay, kLost };  // mean of time in system less size, in mean sizes; share rejected
  std::string name;
  Kind kind = Kind::kDelay;
  double weight = 0.0;  // of this priority class only; 0 = all
  double theory = 0.0;
};

struct QueueingSystem {
  std::string name;      // "M/M/1, srpt"
  std::string source;    // of the closed form
  std::string workload;  // spec without the number of jobs; sizes of mean 1 s
  std::string cluster;
  std::string scheduler;
  std::vector<Quantity> quantities;
  bool slow = false;         // so variable that only long runs tell much
  std::uint32_t stream = 0;  // its place in the table: systems share no draws
};
const std::vector<QueueingSystem>& QueueingSystems();

struct QueueingPlan {
  int replications = 30;  // at least 2
  int jobs = 5000;        // measured in each
  int warmup = 1000;      // before them
  int tail = 2000;        // after them; an Error when it runs out before the last measured job leaves
  int threads = 1;        // the results do not depend on it
};

struct QueueingEstimate {
  double mean = 0.0;
  double error = 0.0;  // standard error of the mean
  int replications = 0;
  // Half the width of the interval of this confidence.
  double HalfWidth(double confidence) const;
};
// One estimate a quantity.
std::vector<QueueingEstimate> Measure(const QueueingSystem& system, const QueueingPlan& plan);

}  // namespace berth
