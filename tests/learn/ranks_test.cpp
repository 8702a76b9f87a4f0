// What ranks share: which rows and environments are whose, sums, gathered blocks.
#include "agents/ranks/ranks.hpp"

#include <thread>
#include <vector>

#include "agents/learner/joined_rollout.hpp"
#include "tests/catch.hpp"
#include "tests/free_port.hpp"
#include "tests/learn/trained_ranks.hpp"
#include "tests/skip.hpp"

namespace berth {

TEST_CASE("ranks: rows of a minibatch are found again among a rank's own") {
  // Two steps of five environments, of which rank 1 of 2 has 2, 3 and 4: row t * 5 + i is its t * 3 + i - 2.
  // The groups are {0, 5} of environment 0, {3}, {7} of environment 2 and {4, 9}.
  class Pair final : public ProcessGroup {
   public:
    Pair() { world_.rank = 1, world_.size = 2; }
    const World& world() const override { return world_; }
    void Sum(std::span<float>) override {}
    void Sum(std::span<double>) override {}
    void SumOnDevice(float*, std::int64_t) override {}
    void SumOnDevice(double*, std::int64_t) override {}
    void Settle(std::span<double>) override {}
    bool SumsInPlace() const override { return true; }
    std::string Gradients() const override { return "none"; }
    std::vector<std::uint8_t> Gather(std::span<const std::uint8_t>) override { return {}; }
    void AwaitFirst() override {}
    void Finish() override {}
    void Abandon(const std::string&) noexcept override {}

   private:
    World world_;
  } pair;
  const Ranks ranks(pair, 5);
  CHECK(ranks.first_env() == 2);
  CHECK(ranks.envs() == 3);
  std::vector<std::int64_t> rows = {0, 5, 3, 7, 4, 9}, begin = {0, 2, 3, 4, 6};
  std::vector<float> beside = {0, 5, 3, 7, 4, 9};
  KeepOwnRows(ranks, rows, begin, beside);
  CHECK(rows == std::vector<std::int64_t>{1, 3, 2, 5});
  CHECK(begin == std::vector<std::int64_t>{0, 1, 2, 4});
  CHECK(beside == std::vector<float>{3, 7, 4, 9});
  const std::vector<int> columns = {0, 1, 2, 3, 4, 10, 11, 12, 13, 14};
  CHECK(ranks.OwnColumns<int>(columns) == std::vector<int>{2, 3, 4, 12, 13, 14});
  CHECK_THROWS_WITH(Ranks(pair, 1), Catch::Contains("--envs: expected at least one environment a rank"));
}

TEST_CASE("ranks: sums and gathered blocks") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  const int port = test::FreePort();
  std::vector<std::vector<double>> sums(3);
  std::vector<std::vector<int>> columns(3);
  std::vector<std::vector<std::vector<std::uint8_t>>> blocks(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      World world;
      world.rank = rank, world.size = 3, world.address = "127.0.0.1", world.port = port;
      const std::unique_ptr<ProcessGroup> group = JoinProcessGroup(world, 30.0, {});
      const auto r = static_cast<std::size_t>(rank);
      std::vector<double> values = {1.0 + rank, 0.5};
      group->Sum(std::span<double>(values));
      sums[r] = values;
      // 4 environments: rank 0 has 0, rank 1 has 1, rank 2 has 2 and 3; two steps.
      const Ranks ranks(*group, 4);
      std::vector<int> own;
      for (int t = 0; t < 2; ++t) {
        for (int i = 0; i < ranks.envs(); ++i) own.push_back(10 * t + ranks.first_env() + i);
      }
      columns[r] = ranks.JoinColumns<int>(own);
      blocks[r] = ranks.JoinBlocks(std::vector<std::uint8_t>(r, static_cast<std::uint8_t>(rank)));
      group->Finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t r = 0; r < 3; ++r) {
    CHECK(sums[r] == std::vector<double>{6.0, 1.5});
    CHECK(columns[r] == std::vector<int>{0, 1, 2, 3, 10, 11, 12, 13});
    CHECK(blocks[r] == std::vector<std::vector<std::uint8_t>>{{}, {1}, {2, 2}});
  }
}

}  // namespace berth
