// libberth_cuda.so: the kernels and the CUDA graphs, all that is linked with CUDA. It is opened when a
// learner is to run on a GPU, so that one build of everything else serves machines with and without.
#pragma once

#include <memory>
#include <string>

#include "agents/cuda/kernels.hpp"

namespace berth::cuda {

// Work that is captured once and then replayed as a whole. REQUIRES: a stream other than the default one is
// current, and the memory that the work names outlives the graph.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual void Begin() = 0;  // what follows on the current stream is recorded, not done
  virtual void End() = 0;
  virtual void Replay() = 0;  // on the current stream
};

struct CudaLibrary {
  int version;  // kCudaLibraryVersion
  const KernelTable* kernels;
  std::unique_ptr<Graph> (*make_graph)();
  // LibTorch throws when one of its operations waits for the device (for tests).
  void (*refuse_synchronisation)(bool on);
};
inline constexpr int kCudaLibraryVersion = 1;
inline constexpr const char* kCudaLibrarySymbol = "berth_cuda_library";  // extern "C" const CudaLibrary* ()

// Opened at the first call: beside the library or program that this is part of, or BERTH_CUDA_LIBRARY. Null
// where there is none; then `why` says what was looked for and found.
const CudaLibrary* OpenCudaLibrary(std::string* why = nullptr);
// Is the file there? Opens nothing.
bool HasCudaLibrary();

}  // namespace berth::cuda
