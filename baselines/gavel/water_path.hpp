// How far each job has risen at a given time of a filling that no GPU type holds up: jobs rise by weight
// until each has as much as it could use, and a tenant's weight goes on to its jobs that still rise. Between
// two bottlenecks of types every tenant rises on its own, so all of it is known beforehand: a job's level is
// a function of time, piecewise linear and never falling.
#pragma once

#include <span>
#include <vector>

#include "baselines/gavel/problem.hpp"

namespace berth::gavel {

// Over classes of jobs. Levels are net throughputs; one unit of time raises net_i gang_i / weight_i by one.
// Refers to the problem and members, which must outlive it.
class WaterPath {
 public:
  // `by_tenant`: an entity's weight is shared by weight among its jobs that rise, or goes to the first of
  // them; else a job has its own.
  WaterPath(const Problem& problem, const std::vector<double>& members, bool by_tenant);

  // From time `begin` on: [m] where they stand, who rises no more, and what each can reach (>= level).
  void Start(double begin, std::span<const double> level, std::span<const char> saturated,
             std::span<const double> most);
  double begin() const { return begin_; }
  double end() const { return end_; }  // when all have reached what they can
  // [m] when each has, begin for those that rise no more.
  const std::vector<double>& stop() const { return stop_; }
  // [m] levels at time s >= begin, and by how much a unit of time raises them just after.
  void At(double s, std::vector<double>& level, std::vector<double>& rate) const;

 private:
  struct Stream {           // jobs that share a weight
    double weight = 1.0;    // 0: each has its own
    bool in_order = false;  // one after the other
    std::vector<int> jobs;  // that rise, in the order in which they stop
    // Where each stops, in net gang / weight above its start; when; and the time for a unit of it until then.
    std::vector<double> height, time, pace;
  };
  void Share(Stream& stream);
  void InOrder(Stream& stream);

  const Problem& problem_;
  const std::vector<double>& members_;
  double begin_ = 0.0, end_ = 0.0;
  std::vector<double> level_, most_, stop_;
  std::vector<Stream> streams_;
};

}  // namespace berth::gavel
