// Adam (Kingma & Ba 2015, algorithm 1) by our kernel on the CPU and by ATen's fused one elsewhere, which
// torch::optim::Adam does not use from C++.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "data/hdf5_file.hpp"

namespace berth {

// Updates the parameters in place; betas are 0.9 and 0.999. Thread rule: one thread at a time.
class Adam {
 public:
  Adam(std::vector<torch::Tensor> parameters, double epsilon);
  // gradients[k] belongs to parameters[k], same shape; they are multiplied by `scale` first.
  void Step(const std::vector<torch::Tensor>& gradients, double learning_rate, double scale = 1.0);
  std::int64_t steps() const { return steps_; }
  // Datasets under `group`.
  void Save(h5::Writer& out, const std::string& group) const;
  void Load(const h5::Reader& in, const std::string& group);

 private:
  std::vector<torch::Tensor> parameters_, first_moment_, second_moment_, state_steps_;
  double epsilon_;
  std::int64_t steps_ = 0;
};

// Their joint 2-norm, and the factor that brings it down to `max_norm` where it is more: Step's scale.
double GradientNorm(const std::vector<torch::Tensor>& gradients);
double ClipScale(double norm, double max_norm);

}  // namespace berth
