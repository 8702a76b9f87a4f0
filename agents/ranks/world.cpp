#include "agents/ranks/world.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr int kMostRanks = 1 << 20;

std::optional<std::string> Value(const ReadVariable& variable, const char* name) {
  const char* text = variable(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::string(text);
}

std::optional<int> Number(const ReadVariable& variable, const char* name, int low, int high) {
  const std::optional<std::string> text = Value(variable, name);
  if (!text) return std::nullopt;
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number < low || number > high) {
    throw Error(Join(name, ": expected a whole number from ", low, " to ", high, ", found '", *text, "'"));
  }
  return number;
}

void ReadRanks(const ReadVariable& variable, World& world) {
  const std::optional<int> size = Number(variable, "WORLD_SIZE", 1, kMostRanks);
  const std::optional<int> rank = Number(variable, "RANK", 0, kMostRanks);
  if (size && !rank) {
    throw Error(Join("RANK: expected 0 to ", *size - 1, ", since WORLD_SIZE is ", *size,
                     ", found none; set both, as torchrun does, or neither"));
  }
  if (rank && !size) {
    throw Error(Join("WORLD_SIZE: expected the number of processes, since RANK is ", *rank,
                     ", found none; set both, as torchrun does, or neither"));
  }
  if (size) {
    world.size = *size;
    world.rank = *rank;
    world.local_rank = Number(variable, "LOCAL_RANK", 0, kMostRanks).value_or(0);
    world.local_size = Number(variable, "LOCAL_WORLD_SIZE", 1, kMostRanks).value_or(0);
    return;
  }
  const std::optional<int> tasks = Number(variable, "SLURM_STEP_NUM_TASKS", 1, kMostRanks);
  if (!tasks || *tasks == 1) return;
  world.size = *tasks;
  world.rank_variable = "SLURM_PROCID";
  world.size_variable = "SLURM_STEP_NUM_TASKS";
  const std::optional<int> task = Number(variable, "SLURM_PROCID", 0, kMostRanks);
  if (!task) {
    throw Error(Join("SLURM_PROCID: expected 0 to ", *tasks - 1, ", since SLURM_STEP_NUM_TASKS is ", *tasks,
                     ", found none"));
  }
  world.rank = *task;
  world.local_rank = Number(variable, "SLURM_LOCALID", 0, kMostRanks).value_or(0);
}

}  // namespace

World ReadWorld(const ReadVariable& variable) {
  World world;
  ReadRanks(variable, world);
  if (world.rank >= world.size) {
    throw Error(Join(world.rank_variable, ": expected 0 to ", world.size - 1, ", since ", world.size_variable,
                     " is ", world.size, ", found ", world.rank));
  }
  if (!world.many()) return world;
  world.address = Value(variable, "MASTER_ADDR").value_or("");
  world.port = Number(variable, "MASTER_PORT", 1, 65535).value_or(0);
  world.agent_store = Value(variable, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  return world;
}

World ReadWorld() {
  return ReadWorld([](const char* name) { return std::getenv(name); });
}

void CheckMeetingPoint(const World& world) {
  if (!world.many()) return;
  const std::string why = Join(", since ", world.size_variable, " is ", world.size, ", found none");
  if (world.address.empty()) throw Error(Join("MASTER_ADDR: expected the host of rank 0", why));
  if (world.port == 0) throw Error(Join("MASTER_PORT: expected a free port of that host", why));
}

std::pair<int, int> PartOfRank(int size, int rank, int ranks) {
  const auto cut = [&](int k) { return static_cast<int>(static_cast<std::int64_t>(size) * k / ranks); };
  return {cut(rank), cut(rank + 1)};
}

}  // namespace berth
