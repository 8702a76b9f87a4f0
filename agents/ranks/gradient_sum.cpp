#include "agents/ranks/gradient_sum.hpp"

#include <algorithm>
#include <cstring>

namespace berth {

void GradientSum::Add(const Ranks& ranks, std::span<torch::Tensor> gradients, std::span<double> figures) {
  const torch::NoGradGuard no_grad;
  if (!gradients.empty() && !gradients.front().is_cpu()) {
    std::vector<torch::Tensor> parts;
    for (const torch::Tensor& gradient : gradients) parts.push_back(gradient.flatten());
    const torch::Tensor row = torch::cat(parts);
    ranks.group().SumOnDevice(row.data_ptr<float>(), row.numel());
    ranks.group().Settle(figures);
    std::int64_t at = 0;
    for (torch::Tensor& gradient : gradients) {
      gradient = row.narrow(0, at, gradient.numel()).view(gradient.sizes());
      at += gradient.numel();
    }
    return;
  }
  row_.clear();
  for (const torch::Tensor& gradient : gradients) {
    const torch::Tensor plain = gradient.contiguous();
    row_.insert(row_.end(), plain.data_ptr<float>(), plain.data_ptr<float>() + plain.numel());
  }
  for (const double figure : figures) row_.push_back(static_cast<float>(figure));
  ranks.group().Sum(std::span<float>(row_));
  const float* at = row_.data();
  for (torch::Tensor& gradient : gradients) {
    if (!gradient.is_contiguous()) gradient = gradient.contiguous();
    std::memcpy(gradient.data_ptr<float>(), at, static_cast<std::size_t>(gradient.numel()) * sizeof(float));
    at += gradient.numel();
  }
  std::copy_n(at, figures.size(), figures.begin());
}

}  // namespace berth
