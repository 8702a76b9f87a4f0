#include "env/features/goodput/goodput_now.hpp"

#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"

namespace berth {

void GoodputNow::Begin(const ClusterView& view) {
  most_ = 0;
  for (const GpuType& type : view.types()) most_ = std::max(most_, type.count);
  known_.clear();
  rates_.clear();
  of_job_.assign(U(view.num_jobs()), -1);
}

double GoodputNow::At(const ClusterView& view, int job, int type, int gpus) {
  const GoodputState& goodput = *view.Find<GoodputState>();
  int& place = of_job_[U(job)];
  const Application& application = goodput.ApplicationOf(job);
  if (place < 0) {
    place = static_cast<int>(std::find(known_.begin(), known_.end(), &application) - known_.begin());
    if (U(place) == known_.size()) {
      known_.push_back(&application);
      rates_.emplace_back(U(application.epochs()) * U(view.num_types()) * U(most_), -1.0F);
    }
  }
  const int epoch = std::min(goodput.jobs[U(job)].epoch, application.epochs() - 1);
  float& rate = rates_[U(place)][U((epoch * view.num_types() + type) * most_ + gpus - 1)];
  if (rate < 0.0F) rate = static_cast<float>(Reckon(view, application, type, gpus, epoch));
  return rate;
}

double GoodputNow::Reckon(const ClusterView& view, const Application& application, int type, int gpus,
                          int epoch) {
  const GpuType& on = view.types()[U(type)];
  const SpeedOnType* speed = application.On(on.name);
  if (speed == nullptr || gpus > on.count) return 0.0;
  if (application.most_gpus > 0 && gpus > application.most_gpus) return 0.0;
  goodput::BatchLimits limits = application.Limits(*speed);
  const std::vector<int> nodes = FullNodes(gpus, on.gpus_per_node);
  limits.max_atomic = std::min(limits.max_atomic, speed->MaxAtomic(nodes));
  if (gpus > goodput::MostReplicas(limits) || limits.max_atomic < limits.min_atomic) return 0.0;
  double best = 0.0;
  for (const goodput::BatchSplit& split : goodput::BatchCandidates(limits, gpus)) {
    const goodput::StepTime time = speed->At(nodes, split.atomic);
    if (time.step > 0.0) best = std::max(best, GoodputOf(application, time, split, gpus, epoch));
  }
  return best;
}

}  // namespace berth
