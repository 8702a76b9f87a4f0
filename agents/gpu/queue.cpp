#include "agents/gpu/queue.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <atomic>

namespace berth {
namespace {

constexpr int kPlainRuns = 2;

std::atomic<std::int64_t>& Waits() {
  static std::atomic<std::int64_t> waits{0};
  return waits;
}

torch::TensorOptions Of(torch::Device device, at::ScalarType type) {
  return torch::TensorOptions().device(device).dtype(type);
}

}  // namespace

torch::Tensor OnDevice::Empty(at::IntArrayRef sizes, at::ScalarType type) const {
  return torch::empty(sizes, Of(device, type));
}
torch::Tensor OnDevice::Zeros(at::IntArrayRef sizes, at::ScalarType type) const {
  return torch::zeros(sizes, Of(device, type));
}
torch::Tensor OnDevice::HostZeros(at::IntArrayRef sizes, at::ScalarType type) const {
  return torch::zeros(sizes, Of(torch::kCPU, type).pinned_memory(pinned()));
}

void OnDevice::Synchronize() const {
  Waits() += 1;
  if (library != nullptr) c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

std::optional<OnDevice> MakeOnDevice(torch::Device device, std::string* why) {
  if (device.is_cpu()) return OnDevice{device, &cuda::HostKernels(), nullptr};
  const cuda::CudaLibrary* library = cuda::OpenCudaLibrary(why);
  if (library == nullptr) return std::nullopt;
  return OnDevice{device, library->kernels, library};
}

std::int64_t DeviceWaits() {
  return Waits();
}

Queue::Queue(const OnDevice& on, bool urgent) {
  if (on.library == nullptr) return;
  const c10::impl::VirtualGuardImpl guard(on.device.type());
  stream_ = guard.getStreamFromGlobalPool(on.device, /*isHighPriority=*/urgent);
  handle_ = guard.getStreamNativeHandle(*stream_);
}

Queue Queue::Current(const OnDevice& on) {
  Queue queue;
  if (on.library == nullptr) return queue;
  const c10::impl::VirtualGuardImpl guard(on.device.type());
  queue.stream_ = guard.getStream(on.device);
  queue.handle_ = guard.getStreamNativeHandle(*queue.stream_);
  return queue;
}

Queue::Use::Use(const Queue& queue) {
  if (queue.stream_) guard_.emplace(*queue.stream_);
}

Mark::Mark(const OnDevice& on) {
  if (on.library != nullptr) event_.emplace(on.device.type());
}

void Mark::Set(const Queue& queue) {
  if (event_) event_->record(*queue.stream_);
}

void Mark::Block(const Queue& queue) const {
  if (event_) event_->block(*queue.stream_);
}

void Mark::Wait() const {
  Waits() += 1;
  if (event_) event_->synchronize();
}

void Repeated::Run(const std::function<void()>& work) {
  if (library_ == nullptr || plain_runs_ < kPlainRuns) {
    ++plain_runs_;
    return work();
  }
  if (graph_ == nullptr) {
    std::unique_ptr<cuda::Graph> graph = library_->make_graph();
    graph->Begin();
    try {
      work();
    } catch (...) {
      try {
        graph->End();  // the stream must not stay in capture; why the work failed is what counts
      } catch (...) {
      }
      throw;
    }
    graph->End();
    graph_ = std::move(graph);
  }
  graph_->Replay();
}

}  // namespace berth
