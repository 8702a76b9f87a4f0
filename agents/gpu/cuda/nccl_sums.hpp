// Of libberth_cuda.so, where it is compiled with nccl.h.
#pragma once

#include <memory>

#include "agents/gpu/cuda/cuda_library.hpp"

namespace berth::cuda {

// CudaLibrary::join_nccl.
std::unique_ptr<CardSums> JoinNccl(c10d::Store* store, int rank, int size, int card);

}  // namespace berth::cuda
