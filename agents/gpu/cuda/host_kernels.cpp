// The kernels on the host, warp after warp: what tests compare with the learners on the CPU.
#include "agents/gpu/cuda/kernel_bodies.hpp"

namespace berth::cuda {
namespace {

template <class Work>
void Run(const Work& work, void*) {
  const int warps = WarpsOf(work);
  for (int w = 0; w < warps; ++w) RunWarp(work, Warp{}, w);
}

}  // namespace

const KernelTable& HostKernels() {
  static constexpr KernelTable table = {Run<SampleWork>, Run<ReturnsWork>, Run<ShuffleWork>,
                                        Run<PpoWork>,    Run<DrawWork>,    Run<SetWork>};
  return table;
}

}  // namespace berth::cuda
