// Sums over GPUs by c10d's ProcessGroupNCCL. Its header includes nccl.h; its code, and NCCL, are LibTorch's.
#include "agents/gpu/cuda/nccl_sums.hpp"

#include <chrono>
#include <cstdlib>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <utility>
#include <vector>

namespace berth::cuda {
namespace {

// Who is lost, and what then, is said by the meeting of the ranks (agents/ranks/meeting.hpp); c10d's own
// watch would end the process without a word of ours. Whoever sets the variables has them as they are.
void LeaveErrorsToUs() {
  for (const char* name :
       {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ENABLE_MONITORING", "TORCH_NCCL_DUMP_ON_TIMEOUT"})
    setenv(name, "0", /*overwrite=*/0);
}

class NcclSums final : public CardSums {
 public:
  NcclSums(c10d::Store* store, int rank, int size, int card)
      : card_(c10::kCUDA, static_cast<c10::DeviceIndex>(card)) {
    LeaveErrorsToUs();
    const c10::cuda::CUDAGuard guard(card_);
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = std::chrono::hours(24);  // of that watch; Done is asked for as long as may be
    nccl_ = c10::make_intrusive<c10d::ProcessGroupNCCL>(
        c10::intrusive_ptr<c10d::Store>::unsafe_reclaim_from_nonowning(store), rank, size,
        std::move(options));
    // NCCL connects in its first call: here, where all ranks are, rather than in the middle of an update.
    at::Tensor one = at::ones({1}, at::TensorOptions(card_));
    SumTensor(one);
    const auto sum = one.item<float>();
    TORCH_CHECK(sum == static_cast<float>(size), "a sum of ", size, " ones over the GPUs gave ", sum);
  }

  void Sum(float* values, std::int64_t count) override { SumOf(values, count, at::kFloat); }
  void Sum(double* values, std::int64_t count) override { SumOf(values, count, at::kDouble); }

  bool Done() override {
    if (!last_) return true;
    if (!last_->isCompleted()) return false;
    if (const std::exception_ptr error = last_->exception()) std::rethrow_exception(error);
    last_.reset();
    return true;
  }

  void Leave() noexcept override {
    try {
      nccl_->shutdown();
    } catch (const std::exception&) {  // the run is over
    }
  }
  void Abort() noexcept override {
    try {
      nccl_->abort();
    } catch (const std::exception&) {  // who is lost is said all the same
    }
  }

 private:
  void SumOf(void* values, std::int64_t count, at::ScalarType type) {
    at::Tensor tensor = at::from_blob(values, {count}, at::TensorOptions(card_).dtype(type));
    SumTensor(tensor);
  }
  void SumTensor(const at::Tensor& tensor) {
    std::vector<at::Tensor> tensors = {tensor};
    last_ = nccl_->allreduce(tensors);
    last_->wait();  // the current queue, not this thread
  }

  at::Device card_;
  c10::intrusive_ptr<c10d::ProcessGroupNCCL> nccl_;
  // NCCL does one sum after the other: when this one is done, all are.
  c10::intrusive_ptr<c10d::Work> last_;
};

}  // namespace

std::unique_ptr<CardSums> JoinNccl(c10d::Store* store, int rank, int size, int card) {
  return std::make_unique<NcclSums>(store, rank, size, card);
}

}  // namespace berth::cuda
