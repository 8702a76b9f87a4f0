// libberth_cuda.so: the kernels, CUDA graphs and NCCL, all that is linked with CUDA. It is opened when a
// learner is to run on a GPU, so that one build of everything else serves machines with and without.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "agents/gpu/cuda/kernels.hpp"

namespace c10d {
class Store;
}

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

// Sums of memory of several processes' GPUs, one each, by NCCL: what is summed does not cross the host. One
// thread at a time. Calls throw what NCCL or CUDA says.
class CardSums {
 public:
  virtual ~CardSums() = default;
  // In place. Given to the GPU behind what is in its current queue; what that queue is given later waits for
  // it, the caller does not.
  virtual void Sum(float* values, std::int64_t count) = 0;
  virtual void Sum(double* values, std::int64_t count) = 0;
  virtual bool Done() = 0;            // all sums so far, on this rank
  virtual void Leave() noexcept = 0;  // when every rank is done
  virtual void Abort() noexcept = 0;  // what waits for a rank that is lost ends, with any result
};
using CardId = std::array<std::uint8_t, 16>;  // a GPU's own, on whatever machine and under whatever number

struct CudaLibrary {
  int version;  // kCudaLibraryVersion
  const KernelTable* kernels;
  std::unique_ptr<Graph> (*make_graph)();
  // LibTorch throws when one of its operations waits for the device (for tests).
  void (*refuse_synchronisation)(bool on);
  CardId (*card_id)(int card);
  // Null where nccl.h was not there when it was compiled. All ranks call it together, each with its card;
  // `store`, where they exchange addresses, is kept.
  std::unique_ptr<CardSums> (*join_nccl)(c10d::Store* store, int rank, int size, int card);
};
inline constexpr int kCudaLibraryVersion = 2;
inline constexpr const char* kCudaLibrarySymbol = "berth_cuda_library";  // extern "C" const CudaLibrary* ()

// Opened at the first call: beside the library or program that this is part of, or BERTH_CUDA_LIBRARY. Null
// where there is none; then `why` says what was looked for and found.
const CudaLibrary* OpenCudaLibrary(std::string* why = nullptr);
// Is the file there? Opens nothing.
bool HasCudaLibrary();

}  // namespace berth::cuda
