#include "agents/nn/adam.hpp"

#include <ATen/ops/_fused_adam.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "agents/nn/kernels/elementwise.hpp"
#include "agents/nn/tensor_io.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

std::span<float> Floats(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

Adam::Adam(std::vector<torch::Tensor> parameters, double epsilon)
    : parameters_(std::move(parameters)), epsilon_(epsilon) {
  for (torch::Tensor& parameter : parameters_) {
    parameter = parameter.detach();  // the same memory
    first_moment_.push_back(torch::zeros_like(parameter));
    second_moment_.push_back(torch::zeros_like(parameter));
    state_steps_.push_back(torch::zeros({}, parameter.options()));
  }
}

void Adam::Step(const std::vector<torch::Tensor>& gradients, double learning_rate, double scale) {
  BERTH_CHECK(gradients.size() == parameters_.size(), gradients.size(), " ", parameters_.size());
  const torch::NoGradGuard no_grad;
  ++steps_;
  if (!parameters_.front().is_cpu()) {
    std::vector<torch::Tensor> scaled = gradients;
    if (scale != 1.0) {
      for (torch::Tensor& gradient : scaled) gradient = gradient * scale;
    }
    for (torch::Tensor& step : state_steps_) step.add_(1);
    at::_fused_adam_(parameters_, scaled, first_moment_, second_moment_, {}, state_steps_, learning_rate,
                     /*beta1=*/0.9, /*beta2=*/0.999, /*weight_decay=*/0.0, epsilon_, /*amsgrad=*/false,
                     /*maximize=*/false);
    return;
  }
  const kernels::AdamStep step = {learning_rate, epsilon_, scale, steps_};
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    BERTH_CHECK(gradients[k].numel() == parameters_[k].numel(), gradients[k].sizes());
    const torch::Tensor gradient = gradients[k].contiguous();
    kernels::Adam(step, Floats(gradient), Floats(parameters_[k]), Floats(first_moment_[k]),
                  Floats(second_moment_[k]));
  }
}

void Adam::Save(h5::Writer& out, const std::string& group) const {
  out.Array<std::int64_t>(group + "/steps", std::vector<std::int64_t>{steps_});
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    WriteTensor(out, Join(group, "/first_moment_", k), first_moment_[k]);
    WriteTensor(out, Join(group, "/second_moment_", k), second_moment_[k]);
  }
}

void Adam::Load(const h5::Reader& in, const std::string& group) {
  steps_ = in.Array<std::int64_t>(group + "/steps", 1)[0];
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    ReadTensor(in, Join(group, "/first_moment_", k), first_moment_[k]);
    ReadTensor(in, Join(group, "/second_moment_", k), second_moment_[k]);
    state_steps_[k].fill_(static_cast<double>(steps_));
  }
}

double GradientNorm(const std::vector<torch::Tensor>& gradients) {
  const torch::NoGradGuard no_grad;
  if (gradients.empty() || gradients.front().is_cpu()) {
    double squares = 0.0;
    for (const torch::Tensor& gradient : gradients)
      squares += kernels::SquaredNorm(Floats(gradient.contiguous()));
    return std::sqrt(squares);
  }
  std::vector<torch::Tensor> norms;
  norms.reserve(gradients.size());
  for (const torch::Tensor& gradient : gradients) norms.push_back(gradient.norm());
  return torch::stack(norms).norm().item<double>();
}

double ClipScale(double norm, double max_norm) {
  return std::min(1.0, max_norm / (norm + 1e-6));
}

}  // namespace berth
