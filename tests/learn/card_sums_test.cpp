// Sums over GPUs: NCCL by a stand-in that lives in memory of the host, and itself where there are GPUs.
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <vector>

#include "agents/gpu/device.hpp"
#include "agents/ranks/ranks.hpp"
#include "tests/catch.hpp"
#include "tests/free_port.hpp"
#include "tests/learn/trained_ranks.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

// What stands in for NCCL: memory of the host, a sum is done when every rank has come to it.
struct Rounds {
  struct Round {
    std::vector<double> sum;
    int came = 0;
  };
  std::mutex mutex;
  std::vector<Round> rounds;
  int size = 0, left = 0, aborted = 0;
  bool fails = false, hangs = false;
};
Rounds* rounds = nullptr;

class StandInSums final : public cuda::CardSums {
 public:
  void Sum(float* values, std::int64_t count) override { Add(values, count); }
  void Sum(double* values, std::int64_t count) override { Add(values, count); }
  bool Done() override {
    const std::lock_guard lock(rounds->mutex);
    if (rounds->hangs) return false;
    while (!pending_.empty() && rounds->rounds[done_].came == rounds->size) {
      pending_.front()(rounds->rounds[done_++].sum);
      pending_.erase(pending_.begin());
    }
    return pending_.empty();
  }
  void Leave() noexcept override {
    const std::lock_guard lock(rounds->mutex);
    ++rounds->left;
  }
  void Abort() noexcept override {
    const std::lock_guard lock(rounds->mutex);
    ++rounds->aborted;
  }

 private:
  template <class T>
  void Add(T* values, std::int64_t count) {
    const std::lock_guard lock(rounds->mutex);
    if (rounds->rounds.size() == at_)
      rounds->rounds.push_back({std::vector<double>(static_cast<std::size_t>(count))});
    Rounds::Round& round = rounds->rounds[at_++];
    ++round.came;
    for (std::size_t k = 0; k < round.sum.size(); ++k) round.sum[k] += static_cast<double>(values[k]);
    pending_.push_back([values](const std::vector<double>& sum) {
      for (std::size_t k = 0; k < sum.size(); ++k) values[k] = static_cast<T>(sum[k]);
    });
  }
  std::size_t at_ = 0, done_ = 0;
  std::vector<std::function<void(const std::vector<double>&)>> pending_;
};

constexpr cuda::CudaLibrary kStandIn = {
    cuda::kCudaLibraryVersion,
    nullptr,
    nullptr,
    nullptr,
    [](int card) { return cuda::CardId{static_cast<std::uint8_t>(card)}; },
    [](c10d::Store* store, int rank, int, int) -> std::unique_ptr<cuda::CardSums> {
      store->set("here/" + std::to_string(rank), std::string("1"));
      if (rounds->fails) throw std::runtime_error("unhandled cuda error\nand a stack");
      return std::make_unique<StandInSums>();
    }};

// Two ranks, each with a card; what each says where it fails.
std::vector<std::string> WithCards(double timeout_s,
                                   const std::function<void(int rank, ProcessGroup& group)>& run) {
  const int port = test::FreePort();
  std::vector<std::string> said(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      World world;
      world.rank = rank, world.size = 2, world.address = "127.0.0.1", world.port = port;
      try {
        const std::unique_ptr<ProcessGroup> group = JoinProcessGroup(world, timeout_s, {}, {rank, &kStandIn});
        run(rank, *group);
      } catch (const Error& error) {
        said[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return said;
}

}  // namespace

TEST_CASE("ranks: what is on GPUs is summed by NCCL where every rank has it and a GPU of its own") {
  const CardFacts a = {1, {1}}, b = {1, {2}}, without = {0, {3}};
  CHECK(WhyNotNccl(std::vector<CardFacts>{a, b}) == "");
  CHECK_THAT(WhyNotNccl(std::vector<CardFacts>{a, without, b}),
             Catch::Contains("rank 1's build has no NCCL"));
  CHECK_THAT(WhyNotNccl(std::vector<CardFacts>{a, b, a}), Catch::Contains("ranks 0 and 2 share a GPU"));
  CHECK(CardOf(0, 4) == 0);
  CHECK(CardOf(3, 4) == 3);
  CHECK(CardOf(3, 1) == 0);  // each process is shown its own
  CHECK_THROWS_WITH(CardOf(4, 4), "LOCAL_RANK: expected 0 to 3, since this machine has 4 GPUs, found 4");
}

TEST_CASE(
    "ranks: sums on the device are waited for until a rank is lost, not for ever (NCCL by a stand-in)") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  {
    Rounds summed;
    summed.size = 2, rounds = &summed;
    const auto said = WithCards(30.0, [](int rank, ProcessGroup& group) {
      CHECK(group.Gradients() == "NCCL");
      CHECK(group.SumsInPlace());
      std::vector<float> gradient = {1.0F + static_cast<float>(rank), 0.5F};
      std::vector<double> moments = {0.25, 2.0 * rank}, figures = {10.0 + rank};
      group.SumOnDevice(gradient.data(), 2);
      group.SumOnDevice(moments.data(), 2);
      group.Settle(figures);
      CHECK(gradient == std::vector<float>{3.0F, 1.0F});
      CHECK(moments == std::vector<double>{0.5, 2.0});
      CHECK(figures == std::vector<double>{21.0});
      group.Finish();
    });
    CHECK(said == std::vector<std::string>{"", ""});
    CHECK(summed.left == 2);
    CHECK(summed.aborted == 0);
  }
  {  // NCCL cannot: every rank says what the first one found
    Rounds failing;
    failing.size = 2, failing.fails = true, rounds = &failing;
    for (const std::string& said : WithCards(30.0, [](int, ProcessGroup&) {}))
      CHECK_THAT(said, Catch::Contains("NCCL: expected to connect 2 GPUs, found: unhandled cuda error"));
  }
  {  // a sum that never ends: aborted, and said
    Rounds hanging;
    hanging.size = 2, hanging.hangs = true, rounds = &hanging;
    const auto said = WithCards(1.0, [](int, ProcessGroup& group) {
      float value = 1.0F;
      double figure = 1.0;
      group.SumOnDevice(&value, 1);
      group.Settle(std::span(&figure, 1));
    });
    for (const std::string& line : said) CHECK_THAT(line, Catch::Contains("a sum over the GPUs did not end"));
    CHECK(hanging.aborted == 2);
  }
  {  // rank 1 ends: rank 0 is told by Gloo, though NCCL says nothing
    Rounds lost;
    lost.size = 2, rounds = &lost;
    const auto said = WithCards(30.0, [](int rank, ProcessGroup& group) {
      if (rank == 1) return group.Abandon("out of memory on the device");
      float value = 1.0F;
      double figure = 1.0;
      group.SumOnDevice(&value, 1);
      group.Settle(std::span(&figure, 1));
    });
    CHECK_THAT(said[0], Catch::Contains("rank 1 ended: out of memory on the device"));
    CHECK(lost.aborted == 2);
  }
}

TEST_CASE("on a GPU NCCL sums what lies there, and on two GPUs two ranks learn what one process does") {
  DescribeLibTorch();  // loads LibTorch's CUDA library where there is a driver
  if (!torch::cuda::is_available()) return test::Skip("needs a CUDA GPU");
  std::string why;
  const cuda::CudaLibrary* library = cuda::OpenCudaLibrary(&why);
  if (library == nullptr || library->join_nccl == nullptr)
    return test::Skip("needs the preset cuda with NCCL: " + why);
  {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    const std::unique_ptr<cuda::CardSums> alone = library->join_nccl(store.get(), 0, 1, 0);
    const torch::Tensor values = torch::arange(5, torch::kCUDA).to(torch::kFloat64);
    alone->Sum(values.data_ptr<double>(), values.numel());
    while (!alone->Done()) std::this_thread::yield();
    CHECK(torch::equal(values.cpu(), torch::arange(5).to(torch::kFloat64)));
    alone->Leave();
  }
  if (torch::cuda::device_count() < 2) return test::Skip("needs two CUDA GPUs (one was tried alone)");
  const test::TemporaryFolder folder;
  test::Plan plan;
  plan.device = "cuda";
  plan.agent = "ppo(n_steps=16,minibatch=64,epochs=3,lr=0.0003,lr_schedule=constant)";
  plan.steps = 640;  // ten updates: the first two plainly, then captured and replayed
  plan.out = folder / "alone";
  test::TrainAlone(plan);
  plan.out = folder / "ranks";
  test::TrainRanks(plan, 2);
  CHECK(test::LargestDifference(test::Parameters(folder / "alone/checkpoint.h5"),
                                test::Parameters(folder / "ranks/checkpoint.h5")) <= 1e-3);
}

}  // namespace berth
