// Ranks that meet, and what is said where they do not: other settings, nobody there, a number that is taken.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "agents/ranks/ranks.hpp"
#include "tests/catch.hpp"
#include "tests/free_port.hpp"
#include "tests/learn/trained_ranks.hpp"
#include "tests/skip.hpp"

namespace berth {

TEST_CASE("ranks: settings and worlds that differ are named by every rank") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  struct Case {
    int size;          // of rank 1's world
    const char* seed;  // of rank 1
    const char* expected;
  };
  for (const Case& c : {Case{2, "8", "rank 1: --seed: expected 7 as on rank 0, found 8"},
                        Case{3, "7", "rank 1: WORLD_SIZE: expected 2 as on rank 0, found 3"}}) {
    const int port = test::FreePort();
    std::vector<std::string> said(2);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&said, &c, rank, port] {
        World world;
        world.rank = rank, world.size = rank == 0 ? 2 : c.size;
        world.address = "127.0.0.1", world.port = port;
        try {
          JoinProcessGroup(world, 30.0, {{"--agent", "ppo"}, {"--seed", rank == 0 ? "7" : c.seed}});
        } catch (const Error& error) {
          said[static_cast<std::size_t>(rank)] = error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(said[0] == c.expected);
    CHECK(said[1] == c.expected);
  }
}

TEST_CASE("ranks: a rank that finds nobody, or finds its number taken, says so") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  World world;
  world.size = 2, world.address = "127.0.0.1", world.port = test::FreePort();
  world.rank = 1;
  CHECK_THROWS_WITH(
      JoinProcessGroup(world, 0.2, {}),
      Catch::Contains("expected rank 0 to listen at 127.0.0.1:") && Catch::Contains("found nobody"));
  std::vector<std::string> said(3);
  std::vector<std::thread> threads;
  for (const std::size_t k : {0, 1, 2}) {  // ranks 0, 1 and 1 again, of 3: rank 2 never comes
    threads.emplace_back([&said, k, port = world.port] {
      World own;
      own.size = 3, own.rank = k == 0 ? 0 : 1, own.address = "127.0.0.1", own.port = port;
      try {
        JoinProcessGroup(own, 2.0, {});
      } catch (const Error& error) {
        said[k] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_THAT(said[0],
             Catch::Contains("expected 3 ranks (WORLD_SIZE)") && Catch::Contains("rank 2 has not come"));
  const std::string& twice = said[1].find("taken") != std::string::npos ? said[1] : said[2];
  CHECK_THAT(twice,
             Catch::Contains("RANK: expected a number of its own for every process, found that 1 was taken"));
}

TEST_CASE("ranks: a rank that lives and does not come is named; an address that is not there is") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  const int port = test::FreePort();
  std::string said;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&said, rank, port] {
      World world;
      world.rank = rank, world.size = 2, world.address = "127.0.0.1", world.port = port;
      const std::unique_ptr<ProcessGroup> group = JoinProcessGroup(world, 1.0, {});
      if (rank == 1) return std::this_thread::sleep_for(std::chrono::seconds(4));  // its pulse goes on
      double value = 1.0;
      try {
        group->Sum(std::span(&value, 1));
      } catch (const LostRank& lost) {
        said = lost.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(said == "rank 1 is alive but did not come within 1 s (--dist-timeout)");
  World world;
  world.size = 2, world.address = "no-such-host.invalid", world.port = test::FreePort();
  CHECK_THROWS_WITH(
      JoinProcessGroup(world, 0.5, {}),
      Catch::StartsWith("MASTER_ADDR: expected a name of rank 0's machine, found that rank 0 does "
                        "not reach itself at no-such-host.invalid:"));
}

TEST_CASE("ranks: what rank 0 does alone may take longer than the time-out; where it ends meanwhile, it is named") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  for (const bool ends : {false, true}) {
    CAPTURE(ends);
    const int port = test::FreePort();
    std::vector<std::string> said(2);
    std::vector<double> sums(2);
    std::vector<std::thread> threads;
    for (const std::size_t r : {0, 1}) {
      threads.emplace_back([&said, &sums, ends, r, port] {
        World world;
        world.rank = static_cast<int>(r), world.size = 2, world.address = "127.0.0.1", world.port = port;
        const std::unique_ptr<ProcessGroup> group = JoinProcessGroup(world, 1.0, {});
        try {
          for (int time = 0; time < 2; ++time) {  // each is awaited by itself
            if (r == 0) std::this_thread::sleep_for(std::chrono::seconds(2));
            if (r == 0 && ends) return group->Abandon("its disk is full");
            group->AwaitFirst();
            double value = 1.0;
            group->Sum(std::span(&value, 1));
            sums[r] += value;
          }
          group->Finish();
        } catch (const Error& error) {
          said[r] = error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(said[0].empty());
    CHECK(said[1] == (ends ? "rank 0 ended: its disk is full" : ""));
    CHECK(sums == (ends ? std::vector<double>{0.0, 0.0} : std::vector<double>{4.0, 4.0}));
  }
}

TEST_CASE("ranks: the store that torchrun keeps serves one start after the other") {
  if (!test::HasGloo()) return test::Skip(test::kNeedsGloo);
  const int port = test::FreePort();
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(port);
  options.isServer = true;
  options.waitWorkers = false;
  const auto torchrun = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  for (const char* restart : {"0", "1"}) {
    setenv("TORCHELASTIC_RESTART_COUNT", restart, 1);
    std::vector<double> sums(2);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&sums, rank, port] {
        World world;
        world.rank = rank, world.size = 2, world.address = "127.0.0.1", world.port = port;
        world.agent_store = true;
        try {
          const std::unique_ptr<ProcessGroup> group = JoinProcessGroup(world, 10.0, {});
          double value = 1.0 + rank;
          group->Sum(std::span(&value, 1));
          sums[static_cast<std::size_t>(rank)] = value;
          group->Finish();
        } catch (const Error& error) {
          std::printf("%s\n", error.what());  // and the sum is not there
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(sums == std::vector<double>{3.0, 3.0});
  }
  unsetenv("TORCHELASTIC_RESTART_COUNT");
}

}  // namespace berth
