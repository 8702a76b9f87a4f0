// Of libberth_cuda.so: the kernels as launches.
#pragma once

#include "agents/gpu/cuda/kernels.hpp"

namespace berth::cuda {

const KernelTable& DeviceKernels();

}  // namespace berth::cuda
