// Which process this is: what torchrun, Slurm and training operators set (the refusals:
// several_processes_test.cpp).
#include "agents/ranks/world.hpp"

#include <map>

#include "env/base/check.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

World Read(const std::map<std::string, std::string>& variables) {
  return ReadWorld([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("world: without variables, and in a world of one, there is one process") {
  CHECK_FALSE(Read({}).many());
  CHECK_FALSE(Read({{"RANK", ""}, {"WORLD_SIZE", ""}}).many());
  CHECK_FALSE(Read({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).many());
  CheckMeetingPoint(Read({}));  // nobody to meet
}

TEST_CASE("world: what torchrun sets") {
  const World world = Read({{"RANK", "5"},
                            {"WORLD_SIZE", "8"},
                            {"LOCAL_RANK", "1"},
                            {"LOCAL_WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "node0"},
                            {"MASTER_PORT", "29500"},
                            {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  CHECK(world.rank == 5);
  CHECK(world.size == 8);
  CHECK(world.local_rank == 1);
  CHECK(world.local_size == 4);
  CHECK(world.address == "node0");
  CHECK(world.port == 29500);
  CHECK(world.agent_store);
  CheckMeetingPoint(world);
}

TEST_CASE("world: srun's tasks, but not those of a batch script outside of it") {
  const World world = Read({{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_LOCALID", "1"}});
  CHECK(world.rank == 3);
  CHECK(world.size == 4);
  CHECK(world.local_rank == 1);
  CHECK(std::string(world.size_variable) == "SLURM_STEP_NUM_TASKS");
  CHECK_FALSE(Read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}).many());
  // RANK and WORLD_SIZE count where both are there.
  CHECK(
      Read({{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}}).rank ==
      1);
  CHECK_THROWS_WITH(Read({{"SLURM_STEP_NUM_TASKS", "4"}}), Catch::Contains("SLURM_PROCID: expected 0 to 3"));
  CHECK_THROWS_WITH(
      Read({{"SLURM_PROCID", "4"}, {"SLURM_STEP_NUM_TASKS", "4"}}),
      Catch::Contains("SLURM_PROCID: expected 0 to 3, since SLURM_STEP_NUM_TASKS is 4, found 4"));
}

TEST_CASE("world: parts are nearly equal and cover everything") {
  // 10 over 4: 0-2, 2-5, 5-7, 7-10.
  CHECK(PartOfRank(10, 0, 4) == std::pair(0, 2));
  CHECK(PartOfRank(10, 1, 4) == std::pair(2, 5));
  CHECK(PartOfRank(10, 2, 4) == std::pair(5, 7));
  CHECK(PartOfRank(10, 3, 4) == std::pair(7, 10));
  CHECK(PartOfRank(7, 0, 1) == std::pair(0, 7));
}

}  // namespace berth
