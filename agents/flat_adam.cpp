#include "agents/flat_adam.hpp"

#include <ATen/ops/_fused_adam.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "agents/kernels/elementwise.hpp"
#include "agents/tensor_io.hpp"

namespace berth {
namespace {

std::span<float> Row(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

FlatAdam::FlatAdam(torch::Tensor parameters, double epsilon)
    : parameters_(std::move(parameters)),
      first_moment_(torch::zeros_like(parameters_)),
      second_moment_(torch::zeros_like(parameters_)),
      state_steps_(torch::zeros({}, parameters_.options())),
      epsilon_(epsilon) {}

void FlatAdam::Step(const torch::Tensor& gradient, double learning_rate, double max_norm) {
  ++steps_;
  if (gradient.is_cpu()) {
    const std::span<float> g = Row(gradient);
    const double scale = std::min(1.0, max_norm / (std::sqrt(kernels::SquaredNorm(g)) + 1e-6));
    kernels::Adam({learning_rate, epsilon_, scale, steps_}, g, Row(parameters_), Row(first_moment_),
                  Row(second_moment_));
    return;
  }
  const torch::NoGradGuard no_grad;
  state_steps_.add_(1);
  const double scale = std::min(1.0, max_norm / (gradient.norm().item<double>() + 1e-6));
  at::_fused_adam_({parameters_}, {scale < 1.0 ? gradient * scale : gradient}, {first_moment_},
                   {second_moment_}, {}, {state_steps_}, learning_rate, /*beta1=*/0.9, /*beta2=*/0.999,
                   /*weight_decay=*/0.0, epsilon_, /*amsgrad=*/false, /*maximize=*/false);
}

void FlatAdam::Save(h5::Writer& out, const std::string& group) const {
  out.Array<std::int64_t>(group + "/steps", std::vector<std::int64_t>{steps_});
  WriteTensor(out, group + "/first_moment_0", first_moment_);
  WriteTensor(out, group + "/second_moment_0", second_moment_);
}

void FlatAdam::Load(const h5::Reader& in, const std::string& group) {
  steps_ = in.Array<std::int64_t>(group + "/steps", 1)[0];
  ReadTensor(in, group + "/first_moment_0", first_moment_);
  ReadTensor(in, group + "/second_moment_0", second_moment_);
  state_steps_.fill_(static_cast<double>(steps_));
}

}  // namespace berth
