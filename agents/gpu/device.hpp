// Where learning runs: auto | cpu | cuda.
#pragma once

#include <torch/torch.h>

#include <string>

#include "env/base/check.hpp"

namespace berth {

struct ChosenDevice {
  torch::Device device = torch::kCPU;
  std::string description;  // "cpu", "cuda:0 (name)", and why where auto chose the CPU
};
// The device has too little memory: says for what, and what would fit.
struct OutOfDeviceMemory : Error {
  using Error::Error;
};

// What `cuda` needs and what was found of it, each as a phrase.
struct CudaFindings {
  std::string driver;    // "" = none
  std::string libtorch;  // LibTorch's CUDA library: "loaded", or why not
  std::string kernels;   // this build's own: "built", or why not
  bool gpu = false;      // LibTorch sees one
};
CudaFindings LookForCuda();
// "--device cuda: expected a CUDA GPU, found: driver: none ...": one line that names what is missing.
std::string DescribeMissing(const CudaFindings& findings);

// `auto` takes the first GPU, or the CPU where there is none, or where the network (a spec, "" = any) scores
// pairs: on the host all decisions of an instant share its pass, and trainings were faster there
// (agents/gpu/README.md). Throws Error for `cuda` without a GPU and for other words.
ChosenDevice ChooseDevice(const std::string& wanted, const std::string& network = "");

// Which of the `found` GPUs that it sees the process takes that is number `local_rank` of its machine: that
// number, or the only one (Slurm's --gpus-per-task shows each process its own). Throws Error for a number
// that none has.
int CardOf(int local_rank, int found);

// "LibTorch 2.11.0, CPU only" or "LibTorch 2.11.0, CUDA".
std::string DescribeLibTorch();

}  // namespace berth
