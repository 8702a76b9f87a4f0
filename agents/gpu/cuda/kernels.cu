// The kernels on the device. No header of LibTorch here: it compiles in seconds.
#include <cuda_runtime.h>

#include "agents/gpu/cuda/device_kernels.hpp"
#include "agents/gpu/cuda/kernel_bodies.hpp"
#include "env/base/check.hpp"

namespace berth::cuda {
namespace {

constexpr int kWarpsPerBlock = 4;

template <class Work>
__global__ void __launch_bounds__(kWarpsPerBlock* kLanes)
    Kernel(const __grid_constant__ Work work, int warps) {
  const int warp = static_cast<int>(blockIdx.x) * kWarpsPerBlock + static_cast<int>(threadIdx.x) / kLanes;
  if (warp < warps) RunWarp(work, Warp{}, warp);  // a warp is in or out as a whole
}

template <class Work>
void Launch(const Work& work, void* queue) {
  const int warps = WarpsOf(work);
  if (warps == 0) return;
  const int blocks = (warps + kWarpsPerBlock - 1) / kWarpsPerBlock;
  Kernel<<<blocks, kWarpsPerBlock * kLanes, 0, static_cast<cudaStream_t>(queue)>>>(work, warps);
  const cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) return;
  const char* hint =
      status == cudaErrorNoKernelImageForDevice
          ? "; this build's kernels are for other cards: configure with -DBERTH_CUDA_ARCHITECTURES"
          : "";
  throw Error(Join("CUDA: cannot launch a kernel: ", cudaGetErrorString(status), hint));
}

}  // namespace

const KernelTable& DeviceKernels() {
  static constexpr KernelTable table = {Launch<SampleWork>, Launch<ReturnsWork>, Launch<ShuffleWork>,
                                        Launch<PpoWork>,    Launch<DrawWork>,    Launch<SetWork>};
  return table;
}

}  // namespace berth::cuda
