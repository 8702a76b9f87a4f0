// Of libberth_cuda.so: the kernels as launches.
#pragma once

#include "agents/cuda/kernels.hpp"

namespace berth::cuda {

const KernelTable& DeviceKernels();

}  // namespace berth::cuda
