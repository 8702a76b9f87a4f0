#include "baselines/queue/type_choice.hpp"

#include <algorithm>

namespace berth {

TypeChoice ReadTypeChoice(Params& params, const char* param) {
  return static_cast<TypeChoice>(
      params.Choice(param, {"fastest", "first", "roomiest", "best_fit", "vector_fit"}));
}

double LeftOver(const ClusterView& view, const Plan& plan, int job, int type) {
  double gpus = 0.0, memory = 0.0, need = kNever;
  for (int other = 0; other < view.num_types(); ++other) {
    const GpuType& its = view.types()[static_cast<std::size_t>(other)];
    gpus += its.count;
    memory += its.count * its.memory_gb;
    if (view.Rate(job, other) > 0.0) need = std::min(need, its.memory_gb);
  }
  const double room = plan.room(type), gang = view.Gang(job);
  const std::vector<double>& stated = view.traits().memory_gb;
  const double needs = stated.empty() ? gang * need : stated[static_cast<std::size_t>(view.JobType(job))];
  const double left_gpus = (room - gang) / gpus;
  if (memory <= 0.0) return left_gpus * left_gpus;
  const double left_memory = (room * view.types()[static_cast<std::size_t>(type)].memory_gb - needs) / memory;
  return left_gpus * left_gpus + left_memory * left_memory;
}

bool BetterType(const ClusterView& view, const Plan& plan, int job, int type, int than, TypeChoice choice) {
  double gain = 0.0;  // by how much `type` is better in what is chosen by
  switch (choice) {
    case TypeChoice::kFirst:
      return false;
    case TypeChoice::kFastest:
      break;
    case TypeChoice::kRoomiest:
      gain = plan.room(type) - plan.room(than);
      break;
    case TypeChoice::kBestFit:
      gain = plan.room(than) - plan.room(type);
      break;
    case TypeChoice::kVectorFit:
      gain = LeftOver(view, plan, job, than) - LeftOver(view, plan, job, type);
      break;
  }
  return gain != 0.0 ? gain > 0.0 : view.Rate(job, type) > view.Rate(job, than);
}

int ChooseType(const ClusterView& view, const Plan& plan, int job, TypeChoice choice) {
  int best = -1;
  for (int type = 0; type < view.num_types(); ++type) {
    if (!plan.Fits(view, job, type)) continue;
    if (best < 0 || BetterType(view, plan, job, type, best, choice)) best = type;
  }
  return best;
}

}  // namespace berth
