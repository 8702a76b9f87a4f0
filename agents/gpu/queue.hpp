// Work on the learner's device: queues (CUDA streams), marks in them (events) and work that is captured once
// and replayed (CUDA graphs). On the CPU a queue does at once what it is given and nothing is captured, so
// that the learner on the device is one source for both and is tested without a GPU.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "agents/gpu/cuda/cuda_library.hpp"

namespace berth {

// Where a learner computes, and by which kernels.
struct OnDevice {
  torch::Device device = torch::kCPU;
  const cuda::KernelTable* kernels = nullptr;
  const cuda::CudaLibrary* library = nullptr;  // null on the CPU
  bool pinned() const { return library != nullptr; }
  torch::Tensor Empty(at::IntArrayRef sizes, at::ScalarType type = torch::kFloat32) const;
  torch::Tensor Zeros(at::IntArrayRef sizes, at::ScalarType type = torch::kFloat32) const;
  torch::Tensor HostZeros(at::IntArrayRef sizes,
                          at::ScalarType type = torch::kFloat32) const;  // pinned for a GPU
  void Synchronize() const;                                              // waits for all queues; counted
};
// Null where the device is a GPU and libberth_cuda.so cannot be opened; then `why` says so.
std::optional<OnDevice> MakeOnDevice(torch::Device device, std::string* why = nullptr);

// How often this process has waited for a device, on the CPU as often as it would on a GPU.
std::int64_t DeviceWaits();

class Queue {
 public:
  // A new one. What is in an urgent one goes first where the device has both to do.
  explicit Queue(const OnDevice& on, bool urgent = false);
  static Queue Current(const OnDevice& on);  // that which LibTorch's operations of this thread go to now
  void* handle() const { return handle_; }

  // While it lives LibTorch's operations go to this queue.
  class Use {
   public:
    explicit Use(const Queue& queue);

   private:
    std::optional<c10::StreamGuard> guard_;
  };

 private:
  Queue() = default;
  friend class Mark;
  std::optional<c10::Stream> stream_;  // none on the CPU
  void* handle_ = nullptr;             // cudaStream_t
};

// A point in a queue's work.
class Mark {
 public:
  explicit Mark(const OnDevice& on);
  void Set(const Queue& queue);          // after all that is in it now
  void Block(const Queue& queue) const;  // what is given to `queue` from now on starts after the mark
  void Wait() const;                     // the caller waits for it; counted

 private:
  mutable std::optional<c10::Event> event_;
};

// Work of fixed shape on fixed memory. On a GPU it is done plainly twice, which warms up what LibTorch sets
// up lazily, then captured, and from then on replayed. `run` is called with the same meaning every time and
// must read nothing from the host but through memory; a queue must be in use.
class Repeated {
 public:
  explicit Repeated(const OnDevice& on) : library_(on.library) {}
  void Run(const std::function<void()>& work);

 private:
  const cuda::CudaLibrary* library_;
  std::unique_ptr<cuda::Graph> graph_;
  int plain_runs_ = 0;
};

}  // namespace berth
