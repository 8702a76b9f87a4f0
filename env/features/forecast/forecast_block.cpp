#include <algorithm>

#include "env/features/forecast/forecast.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

struct Ahead {
  static constexpr ChannelInfo kJob[] = {
      {"predicted",
       "ln(1 + its whole run time on its fastest type, as predicted / 60 s) / 10 (feature forecast)", 0, 3},
  };
  static void Job(const ClusterView& view, int job, float* f) {
    const ForecastState* forecast = view.Find<ForecastState>();
    if (forecast != nullptr) f[0] = std::min(LogMinutes(forecast->PredictedSeconds(view, job)), 3.0F);
  }

  static constexpr ChannelInfo kGlobal[] = {
      {"jobs_ahead", "ln(1 + jobs expected within the horizon) / 5 (feature forecast)", 0, 4},
      {"gpus_ahead", "ln(1 + GPUs that they ask for / GPUs) (feature forecast)", 0, 10},
  };
  static void Global(const ClusterView& view, float* f) {
    const ForecastState* forecast = view.Find<ForecastState>();
    if (forecast == nullptr) return;
    const double horizon_s = view.features().Find<ForecastSettings>()->horizon_s;
    f[0] = static_cast<float>(std::min(Log(1.0 + forecast->ExpectedJobs(horizon_s)) / 5.0, 4.0));
    f[1] = static_cast<float>(
        std::min(Log(1.0 + forecast->ExpectedGpus(horizon_s) / view.num_whole_gpus()), 10.0));
  }
};

}  // namespace

BlockInfo ForecastBlock() {
  return RowBlock<Ahead>::Info("forecast", 1, "how long jobs run, and who comes, as predicted");
}

}  // namespace berth
