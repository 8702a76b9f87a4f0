// c10d's process groups. ProcessGroupGloo.hpp needs the headers of Debian's libgloo-dev; the code is in
// LibTorch.
#include "agents/ranks/process_group.hpp"

#ifdef BERTH_GLOO
#define USE_C10D_GLOO
#include <torch/torch.h>

#include <chrono>
#include <cstring>
#include <future>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "agents/ranks/meeting.hpp"
#endif

namespace berth {

std::string WhyNotNccl(std::span<const CardFacts> ranks) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].nccl == 0)
      return Join("rank ", rank, "'s build has no NCCL (preset cuda, compiled where nccl.h is)");
    for (std::size_t other = 0; other < rank; ++other) {
      if (ranks[other].id == ranks[rank].id)
        return Join("ranks ", other, " and ", rank, " share a GPU, which NCCL does not");
    }
  }
  return "";
}

#ifdef BERTH_GLOO
namespace {

template <class T>
torch::Tensor Over(T* values, std::int64_t count, torch::Device device = torch::kCPU) {
  return torch::from_blob(values, {count},
                          torch::TensorOptions(c10::CppTypeToScalarType<T>::value).device(device));
}

using WallClock = std::chrono::steady_clock;

class RankGroup final : public ProcessGroup {
 public:
  RankGroup(const World& world, double timeout_s, const SharedSettings& settings, const RankCard& card)
      : world_(world), timeout_s_(timeout_s), card_(card), meeting_(world, timeout_s, settings) {
    Call([&] {
      const auto timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s * 1000.0));
      auto options = c10d::ProcessGroupGloo::Options::create_default(timeout);
      gloo_ = c10::make_intrusive<c10d::ProcessGroupGloo>(
          c10::make_intrusive<c10d::PrefixStore>(meeting_.prefix() + "gloo", meeting_.store()), world.rank,
          world.size, std::move(options));
    });
    if (card.card >= 0) MeetCards();
  }

  const World& world() const override { return world_; }

  void Sum(std::span<float> values) override {
    SumTensor(Over(values.data(), static_cast<std::int64_t>(values.size())));
  }
  void Sum(std::span<double> values) override {
    SumTensor(Over(values.data(), static_cast<std::int64_t>(values.size())));
  }
  void SumOnDevice(float* values, std::int64_t count) override { SumWhereItIs(values, count); }
  void SumOnDevice(double* values, std::int64_t count) override { SumWhereItIs(values, count); }

  // Figures of all ranks are there once every rank has given its GPU what comes before them: from then on a
  // sum there takes as long as the GPUs do.
  void Settle(std::span<double> figures) override {
    Sum(figures);
    if (!cards_) return;
    Call([&] {
      const auto until = WallClock::now() + Seconds(timeout_s_);
      while (!cards_->Done()) {
        if (WallClock::now() > until) throw Error("a sum over the GPUs did not end");
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    });
  }

  bool SumsInPlace() const override { return cards_ != nullptr || card_.card < 0; }
  std::string Gradients() const override {
    if (cards_) return "NCCL";
    return card_.card < 0 ? "Gloo" : Join("Gloo, through the host, since ", why_not_nccl_);
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

  void AwaitFirst() override {
    Call([&] { meeting_.AwaitFirst(); });
  }

  void Finish() override {
    if (cards_) cards_->Leave();
    meeting_.Leave("done");
  }
  void Abandon(const std::string& why) noexcept override {
    meeting_.Abandon(why);
    if (cards_) cards_->Abort();
  }

 private:
  static WallClock::duration Seconds(double seconds) {
    return std::chrono::duration_cast<WallClock::duration>(std::chrono::duration<double>(seconds));
  }

  // Every rank tells of its GPU, so that all decide alike.
  void MeetCards() {
    CardFacts own;
    if (card_.library != nullptr) {
      own.nccl = card_.library->join_nccl != nullptr;
      own.id = card_.library->card_id(card_.card);
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&own);
    const std::vector<std::uint8_t> blocks = Gather({bytes, sizeof own});
    std::vector<CardFacts> all(static_cast<std::size_t>(world_.size));
    std::memcpy(all.data(), blocks.data(), blocks.size());
    why_not_nccl_ = WhyNotNccl(all);
    if (why_not_nccl_.empty()) JoinNccl();
  }

  // NCCL connects without an end to its waiting, so on a thread that may be left behind; it has a connection
  // of its own to the store.
  void JoinNccl() {
    using Joined = std::unique_ptr<cuda::CardSums>;
    const auto joined = std::make_shared<std::promise<Joined>>();
    std::future<Joined> answer = joined->get_future();
    const auto store =
        c10::make_intrusive<c10d::PrefixStore>(meeting_.prefix() + "nccl", meeting_.store()->clone());
    std::thread([joined, store, join = card_.library->join_nccl, world = world_, card = card_.card] {
      try {
        joined->set_value(join(store.get(), world.rank, world.size, card));
      } catch (...) {
        joined->set_exception(std::current_exception());
      }
    }).detach();
    std::string said;
    Call([&] {
      if (answer.wait_for(std::chrono::duration<double>(timeout_s_)) != std::future_status::ready)
        throw Error("NCCL did not connect");
      try {
        cards_ = answer.get();
      } catch (const std::exception& error) {
        said = error.what();
      }
    });
    if (cards_) return;
    const std::string line =
        Join("NCCL: expected to connect ", world_.size, " GPUs, found: ", said.substr(0, said.find('\n')));
    meeting_.Abandon(line);
    throw Error(line);
  }

  template <class T>
  void SumWhereItIs(T* values, std::int64_t count) {
    if (card_.card < 0) return SumTensor(Over(values, count));
    if (cards_) return Call([&] { cards_->Sum(values, count); });
    const torch::Tensor device =
        Over(values, count, torch::Device(torch::kCUDA, static_cast<c10::DeviceIndex>(card_.card)));
    const torch::Tensor host = device.cpu();
    SumTensor(host);
    device.copy_(host);
  }

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
    if (cards_) cards_->Abort();  // else the GPU, and whoever waits for it, would wait on
    meeting_.Leave("told");
    throw LostRank(verdict);
  }

  World world_;
  double timeout_s_;
  RankCard card_;
  Meeting meeting_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo_;
  std::unique_ptr<cuda::CardSums> cards_;  // null: Gloo sums everything
  std::string why_not_nccl_;
};

}  // namespace

std::unique_ptr<ProcessGroup> JoinProcessGroup(const World& world, double timeout_s,
                                               const SharedSettings& settings, const RankCard& card) {
  CheckMeetingPoint(world);
  return std::make_unique<RankGroup>(world, timeout_s, settings, card);
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

std::unique_ptr<ProcessGroup> JoinProcessGroup(const World& world, double, const SharedSettings&,
                                               const RankCard&) {
  throw Error(Join(world.size_variable, ": expected 1, found ", world.size, ": ", kWithout));
}

std::string DescribeProcessGroups() {
  return Join("none: ", kWithout);
}
#endif

}  // namespace berth
