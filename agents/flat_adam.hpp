// Adam (Kingma & Ba 2015, algorithm 1; betas 0.9 and 0.999) over parameters that lie in one row, with the
// gradient clipped to a global norm.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>

#include "data/hdf5_file.hpp"

namespace berth {

class FlatAdam {
 public:
  FlatAdam(torch::Tensor parameters, double epsilon);  // [P] float, contiguous
  // `gradient` [P] on the same device. A norm above `max_norm` is scaled down to it.
  void Step(const torch::Tensor& gradient, double learning_rate, double max_norm);
  std::int64_t steps() const { return steps_; }
  void Save(h5::Writer& out, const std::string& group) const;
  void Load(const h5::Reader& in, const std::string& group);

 private:
  torch::Tensor parameters_, first_moment_, second_moment_;
  torch::Tensor state_steps_;  // of the device's kernel
  double epsilon_;
  std::int64_t steps_ = 0;
};

}  // namespace berth
