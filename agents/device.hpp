// Where learning runs: auto | cpu | cuda.
#pragma once

#include <torch/torch.h>

#include <string>

namespace berth {

struct ChosenDevice {
  torch::Device device = torch::kCPU;
  std::string description;  // "cpu", "cuda:0 (name)", and why where auto chose the CPU
};
// `auto` takes the first GPU, or the CPU where there is none. Throws Error for `cuda` without a GPU and for
// other words.
ChosenDevice ChooseDevice(const std::string& wanted);

// "LibTorch 2.11.0, CPU only" or "LibTorch 2.11.0, CUDA".
std::string DescribeLibTorch();

}  // namespace berth
