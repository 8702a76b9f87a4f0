#include "env/predict/goodput/speed_model.hpp"

#include <algorithm>

#include "env/base/portable_math.hpp"

namespace berth::goodput {

// T_sync of section 3.2: the slowest link counts, and a ring all-reduce takes rounds with each replica.
double SpeedModel::Network(Shape shape) const {
  const double beyond = std::max(shape.replicas - 2.0, kTiny);
  if (shape.nodes > 1) return alpha_n + beta_n * beyond;
  if (shape.replicas > 1) return alpha_r + beta_r * beyond;
  return kTiny + kTiny * beyond;
}

ShapeTimes SpeedModel::At(Shape shape) const {
  return {*this, shape};
}

ShapeTimes::ShapeTimes(const SpeedModel& model, Shape shape)
    : alpha_c_(model.alpha_c),
      beta_c_(model.beta_c),
      gamma_(model.gamma),
      network_(Pow(model.Network(shape), model.gamma)) {}

StepTime ShapeTimes::Time(int atomic) const {
  const double compute = alpha_c_ + beta_c_ * atomic;
  // As adaptdl's `_predict_log_optim_time`: by way of the logarithm.
  return {Exp(Log(Pow(compute, gamma_) + network_) / gamma_), compute};
}

}  // namespace berth::goodput
