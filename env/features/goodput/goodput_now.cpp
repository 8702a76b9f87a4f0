#include "env/features/goodput/goodput_now.hpp"

#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"

namespace berth {

void GoodputNow::Begin(const ClusterView& view) {
  of_job_.assign(U(view.num_jobs()), -1);
  const auto* settings = view.features().Find<GoodputSettings>();
  auto applications = settings != nullptr ? settings->shared_applications() : nullptr;
  const std::span<const GpuType> types = view.types();
  const bool same_types = std::ranges::equal(types, types_, [](const GpuType& a, const GpuType& b) {
    return a.name == b.name && a.count == b.count && a.gpus_per_node == b.gpus_per_node;
  });
  if (same_types && applications == applications_) return;
  types_.assign(types.begin(), types.end());
  applications_ = std::move(applications);
  most_ = 0;
  for (const GpuType& type : types) most_ = std::max(most_, type.count);
  known_.clear();
  rates_.clear();
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
  double best = 0.0;
  for (const auto& [split, time] : TimedBatches(application, *speed, gpus, on.gpus_per_node))
    best = std::max(best, GoodputOf(application, time, split, gpus, epoch));
  return best;
}

}  // namespace berth
