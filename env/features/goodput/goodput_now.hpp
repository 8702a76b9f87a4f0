// What a job would make of GPUs at the point of training that it has reached: goodput on so many GPUs of a
// type, on full nodes, at the batch that is best there, by the application's own speeds.
#pragma once

#include <memory>
#include <vector>

#include "env/features/goodput/application.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

// Worked out when it is asked for first, and kept: applications x epochs x GPU types x GPUs. Thread rule: one
// thread at a time.
class GoodputNow {
 public:
  // An episode. What is known stays where it has the same applications and GPU types as the last.
  void Begin(const ClusterView& view);
  // Steps/s; 0 = it cannot run there. 1 <= gpus <= the most of a type of the cluster.
  double At(const ClusterView& view, int job, int type, int gpus);

 private:
  double Reckon(const ClusterView& view, const Application& application, int type, int gpus, int epoch);

  std::shared_ptr<const std::vector<Application>> applications_;
  std::vector<GpuType> types_;
  int most_ = 0;                           // GPUs of a type
  std::vector<const Application*> known_;  // by place in `rates_`
  std::vector<int> of_job_;                // [J] place of its application; -1 = not looked up
  std::vector<std::vector<float>> rates_;  // by application: [epochs, G, GPUs]; < 0 = not known yet
};

}  // namespace berth
