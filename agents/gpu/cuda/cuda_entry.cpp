// The entry point of libberth_cuda.so (cuda_library.hpp), and CUDA graphs by LibTorch's, whose allocator
// keeps the memory of a capture. Beside nccl_sums.cpp the only file of ours that includes LibTorch's CUDA
// headers.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>

#include <algorithm>

#include "agents/gpu/cuda/cuda_library.hpp"
#include "agents/gpu/cuda/device_kernels.hpp"
#include "agents/gpu/cuda/nccl_sums.hpp"

namespace berth::cuda {
namespace {

class TorchGraph final : public Graph {
 public:
  // What other threads ask of the device meanwhile (NCCL's watch over its sums) is none of the capture's.
  void Begin() override { graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal); }
  void End() override { graph_.capture_end(); }
  void Replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
};

void RefuseSynchronisation(bool on) {
  c10::cuda::warning_state().set_sync_debug_mode(on ? c10::cuda::SyncDebugMode::L_ERROR
                                                    : c10::cuda::SyncDebugMode::L_DISABLED);
}

CardId IdOf(int card) {
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, card));
  CardId id;
  static_assert(sizeof properties.uuid.bytes == id.size());
  std::copy_n(reinterpret_cast<const std::uint8_t*>(properties.uuid.bytes), id.size(), id.begin());
  return id;
}

#ifdef BERTH_NCCL
constexpr auto kJoinNccl = JoinNccl;
#else
constexpr std::unique_ptr<CardSums> (*kJoinNccl)(c10d::Store*, int, int, int) = nullptr;
#endif

}  // namespace
}  // namespace berth::cuda

extern "C" const berth::cuda::CudaLibrary* berth_cuda_library();
extern "C" const berth::cuda::CudaLibrary* berth_cuda_library() {
  using namespace berth::cuda;
  static const CudaLibrary library = {
      kCudaLibraryVersion,
      &DeviceKernels(),
      []() -> std::unique_ptr<Graph> { return std::make_unique<TorchGraph>(); },
      RefuseSynchronisation,
      IdOf,
      kJoinNccl};
  return &library;
}
