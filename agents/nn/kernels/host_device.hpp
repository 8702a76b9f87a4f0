// Functions that nvcc compiles for the device and every compiler for the host: the mathematics of the CUDA
// kernels (agents/gpu/cuda/) is tested without a GPU in the very source that runs on one.
#pragma once

#ifdef __CUDACC__
#define BERTH_HOST_DEVICE __host__ __device__ inline
#else
#define BERTH_HOST_DEVICE inline
#endif
