#include "agents/adam.hpp"

#include <ATen/ops/_fused_adam.h>

#include <cmath>
#include <utility>

#include "agents/tensor_io.hpp"
#include "env/check.hpp"

namespace berth {

Adam::Adam(std::vector<torch::Tensor> parameters, double epsilon)
    : parameters_(std::move(parameters)), epsilon_(epsilon) {
  for (torch::Tensor& parameter : parameters_) {
    parameter = parameter.detach();  // the same memory
    first_moment_.push_back(torch::zeros_like(parameter));
    second_moment_.push_back(torch::zeros_like(parameter));
    state_steps_.push_back(torch::zeros({}, parameter.options()));
  }
}

void Adam::Step(const std::vector<torch::Tensor>& gradients, double learning_rate) {
  BERTH_CHECK(gradients.size() == parameters_.size(), gradients.size(), " ", parameters_.size());
  const torch::NoGradGuard no_grad;
  ++steps_;
  for (torch::Tensor& step : state_steps_) step.add_(1);
  at::_fused_adam_(parameters_, gradients, first_moment_, second_moment_, {}, state_steps_, learning_rate,
                   /*beta1=*/0.9, /*beta2=*/0.999, /*weight_decay=*/0.0, epsilon_, /*amsgrad=*/false,
                   /*maximize=*/false);
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

double ClipGradients(std::vector<torch::Tensor>& gradients, double max_norm) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> norms;
  norms.reserve(gradients.size());
  for (const torch::Tensor& gradient : gradients) norms.push_back(gradient.norm());
  const double norm = torch::stack(norms).norm().item<double>();
  const double scale = max_norm / (norm + 1e-6);
  if (scale < 1.0) {
    for (torch::Tensor& gradient : gradients) gradient.mul_(scale);
  }
  return norm;
}

}  // namespace berth
