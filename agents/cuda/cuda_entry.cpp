// The entry point of libberth_cuda.so (cuda_library.hpp), and CUDA graphs by LibTorch's, whose allocator
// keeps the memory of a capture. The only file of ours that includes LibTorch's CUDA headers.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>

#include "agents/cuda/cuda_library.hpp"
#include "agents/cuda/device_kernels.hpp"

namespace berth::cuda {
namespace {

class TorchGraph final : public Graph {
 public:
  void Begin() override { graph_.capture_begin(); }
  void End() override { graph_.capture_end(); }
  void Replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
};

void RefuseSynchronisation(bool on) {
  c10::cuda::warning_state().set_sync_debug_mode(on ? c10::cuda::SyncDebugMode::L_ERROR
                                                    : c10::cuda::SyncDebugMode::L_DISABLED);
}

}  // namespace
}  // namespace berth::cuda

extern "C" const berth::cuda::CudaLibrary* berth_cuda_library();
extern "C" const berth::cuda::CudaLibrary* berth_cuda_library() {
  using namespace berth::cuda;
  static const CudaLibrary library = {
      kCudaLibraryVersion, &DeviceKernels(),
      []() -> std::unique_ptr<Graph> { return std::make_unique<TorchGraph>(); }, RefuseSynchronisation};
  return &library;
}
