// The GPUs that stand in the nodes, behind the devices that schedulers see. A device is a GPU; where a
// feature has slices of a GPU (MIG), they are devices of types of their own, and that GPU is several devices:
// the whole and every slice that it could have, of which some are in service.
//
// What is true of hardware (that it fails, draws power, warms up, stands in a node) is true of GPUs, so those
// parts of the simulator count in GPUs. Without slices GPUs and devices have the same numbers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth {

TypePart PartOf(const ScenarioData& scenario, int type);
// What a device of a type counts for: as capacity and, while it is busy, of a GPU. A slice is no capacity of
// its own and its fraction of the compute slices when busy.
struct DeviceWeight {
  double capacity = 1.0, busy = 1.0;
};
DeviceWeight WeightOf(const ScenarioData& scenario, int type);

// Of a setting with one entry for all GPU types or one for each, slices not counted: where the entry of a
// type is, that of a slice its GPU's; and how many there are to be.
std::size_t EntryOfType(const ScenarioData& scenario, std::size_t entries, int type);
std::size_t NumWholeTypes(const ScenarioData& scenario);

struct PhysicalGpus {
  std::vector<TypePart> parts;     // [G]
  std::vector<int> first_of_type;  // [G] the first GPU of a type, of slices that of their GPUs'
  std::vector<int> type;           // [P] of the whole
  std::vector<int> node;           // [P]
  std::vector<int> gpu_of;         // [D]
  std::vector<int> first;          // [P + 1] into `devices`
  std::vector<int> devices;        // [D] GPU by GPU, in numbers of the whole types; the whole first

  int count() const { return static_cast<int>(type.size()); }
  int Whole(int gpu) const { return devices[static_cast<std::size_t>(first[static_cast<std::size_t>(gpu)])]; }
  std::span<const int> Devices(int begin, int end) const {  // of GPUs [begin, end)
    const auto from = static_cast<std::size_t>(first[static_cast<std::size_t>(begin)]);
    const auto to = static_cast<std::size_t>(first[static_cast<std::size_t>(end)]);
    return {devices.data() + from, to - from};
  }
  std::span<const int> Devices(int gpu) const { return Devices(gpu, gpu + 1); }
};
PhysicalGpus MakePhysicalGpus(const ScenarioData& scenario);

}  // namespace berth
