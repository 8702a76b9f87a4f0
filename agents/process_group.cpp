// c10d's process groups. ProcessGroupGloo.hpp needs the headers of Debian's libgloo-dev; the code is in
// LibTorch.
#include "agents/process_group.hpp"

#ifdef BERTH_GLOO
#define USE_C10D_GLOO
#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "agents/meeting.hpp"
#endif

namespace berth {
#ifdef BERTH_GLOO
namespace {

template <class T>
torch::Tensor Over(T* values, std::int64_t count, torch::Device device = torch::kCPU) {
  return torch::from_blob(values, {count},
                          torch::TensorOptions(c10::CppTypeToScalarType<T>::value).device(device));
}

class GlooGroup final : public ProcessGroup {
 public:
  GlooGroup(const World& world, double timeout_s, const SharedSettings& settings)
      : world_(world), meeting_(world, timeout_s, settings) {
    Call([&] {
      const auto timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s * 1000.0));
      auto options = c10d::ProcessGroupGloo::Options::create_default(timeout);
      gloo_ = c10::make_intrusive<c10d::ProcessGroupGloo>(
          c10::make_intrusive<c10d::PrefixStore>(meeting_.prefix() + "gloo", meeting_.store()), world.rank,
          world.size, std::move(options));
    });
  }

  const World& world() const override { return world_; }

  void Sum(std::span<float> values) override {
    SumTensor(Over(values.data(), static_cast<std::int64_t>(values.size())));
  }
  void Sum(std::span<double> values) override {
    SumTensor(Over(values.data(), static_cast<std::int64_t>(values.size())));
  }
  // By way of the host: the sums are those of Gloo, whatever the build.
  void SumOnDevice(float* values, std::int64_t count) override {
    const torch::Tensor device = Over(values, count, torch::Device(torch::kCUDA, world_.local_rank));
    const torch::Tensor host = device.cpu();
    SumTensor(host);
    device.copy_(host);
  }

  std::vector<std::uint8_t> Gather(std::span<const std::uint8_t> block) override {
    std::vector<std::uint8_t> all(block.size() * static_cast<std::size_t>(world_.size));
    Call([&] {
      std::vector<torch::Tensor> own = {
          Over(const_cast<std::uint8_t*>(block.data()), static_cast<std::int64_t>(block.size()))};
      std::vector<std::vector<torch::Tensor>> outputs(1);
      for (int rank = 0; rank < world_.size; ++rank) {
        outputs[0].push_back(Over(all.data() + static_cast<std::size_t>(rank) * block.size(),
                                  static_cast<std::int64_t>(block.size())));
      }
      gloo_->allgather(outputs, own)->wait();
    });
    return all;
  }

  void Finish() override { meeting_.Leave("done"); }
  void Abandon(const std::string& why) noexcept override { meeting_.Abandon(why); }

 private:
  void SumTensor(const torch::Tensor& tensor) {
    Call([&] {
      std::vector<torch::Tensor> tensors = {tensor};
      gloo_->allreduce(tensors)->wait();
    });
  }

  // The connections are given up before the others are waited for, so that they notice at once.
  template <class F>
  void Call(const F& call) {
    std::string what;
    meeting_.Begin();
    try {
      call();
      return;
    } catch (const std::exception& error) {
      what = error.what();
    }
    const std::string verdict = meeting_.WhoIsMissing(what);
    gloo_.reset();
    meeting_.Leave("told");
    throw LostRank(verdict);
  }

  World world_;
  Meeting meeting_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo_;
};

}  // namespace

std::unique_ptr<ProcessGroup> JoinProcessGroup(const World& world, double timeout_s,
                                               const SharedSettings& settings) {
  CheckMeetingPoint(world);
  return std::make_unique<GlooGroup>(world, timeout_s, settings);
}

std::string DescribeProcessGroups() {
  return "Gloo";
}
#else
namespace {
constexpr const char* kWithout =
    "this build has no Gloo, since the headers of libgloo-dev were not there; run tools/setup and build "
    "again";
}  // namespace

std::unique_ptr<ProcessGroup> JoinProcessGroup(const World& world, double, const SharedSettings&) {
  throw Error(Join(world.size_variable, ": expected 1, found ", world.size, ": ", kWithout));
}

std::string DescribeProcessGroups() {
  return Join("none: ", kWithout);
}
#endif

}  // namespace berth
