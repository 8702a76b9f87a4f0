#include "agents/nn/flat_parameters.hpp"

namespace berth {

torch::Tensor Flatten(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> rows;
  for (const torch::Tensor& parameter : module.parameters()) rows.push_back(parameter.detach().flatten());
  const torch::Tensor flat = torch::cat(rows);
  std::int64_t begin = 0;
  for (torch::Tensor& parameter : module.parameters()) {
    parameter.set_data(flat.narrow(0, begin, parameter.numel()).view(parameter.sizes()));
    begin += parameter.numel();
  }
  return flat;
}

}  // namespace berth
