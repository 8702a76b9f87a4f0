#include "env/sim/physical_gpus.hpp"

#include "env/base/index.hpp"

namespace berth {

TypePart PartOf(const ScenarioData& scenario, int type) {
  TypePart part = scenario.cluster.types[U(type)].part;
  if (part.whole < 0) part.whole = type;
  return part;
}

DeviceWeight WeightOf(const ScenarioData& scenario, int type) {
  const TypePart part = PartOf(scenario, type);
  return part.whole == type ? DeviceWeight{} : DeviceWeight{0.0, part.fraction()};
}

std::size_t NumWholeTypes(const ScenarioData& scenario) {
  std::size_t count = 0;
  for (int type = 0; type < static_cast<int>(scenario.cluster.types.size()); ++type)
    count += PartOf(scenario, type).whole == type;
  return count;
}

std::size_t EntryOfType(const ScenarioData& scenario, std::size_t entries, int type) {
  if (entries <= 1) return 0;
  const int whole = PartOf(scenario, type).whole;
  std::size_t entry = 0;
  for (int before = 0; before < whole; ++before) entry += PartOf(scenario, before).whole == before;
  return entry;
}

PhysicalGpus MakePhysicalGpus(const ScenarioData& scenario) {
  PhysicalGpus gpus;
  const std::vector<GpuType>& types = scenario.cluster.types;
  gpus.first_of_type.assign(types.size(), 0);
  int nodes = 0;
  for (int g = 0; g < static_cast<int>(types.size()); ++g) {
    gpus.parts.push_back(PartOf(scenario, g));
    if (gpus.parts.back().whole != g) continue;
    const GpuType& type = types[U(g)];
    gpus.first_of_type[U(g)] = gpus.count();
    gpus.type.insert(gpus.type.end(), U(type.count), g);
    for (int d = 0; d < type.count; ++d) gpus.node.push_back(nodes + d / type.gpus_per_node);
    nodes += (type.count - 1) / type.gpus_per_node + 1;
  }
  // Slices are numbered GPU by GPU, as many of each profile on every GPU.
  std::vector<std::vector<int>> devices(U(gpus.count()));
  int device = 0;
  for (const bool slices : {false, true}) {
    device = 0;
    for (std::size_t g = 0; g < types.size(); ++g) {
      const int whole = gpus.parts[g].whole, first = device;
      device += types[g].count;
      if ((whole != static_cast<int>(g)) != slices) continue;
      gpus.first_of_type[g] = gpus.first_of_type[U(whole)];
      const int each = types[g].count / types[U(whole)].count;
      for (int d = first; d < device; ++d)
        devices[U(gpus.first_of_type[g] + (d - first) / each)].push_back(d);
    }
  }
  gpus.gpu_of.resize(U(device));
  for (int gpu = 0; gpu < gpus.count(); ++gpu) {
    gpus.first.push_back(static_cast<int>(gpus.devices.size()));
    for (int d : devices[U(gpu)]) gpus.gpu_of[U(d)] = gpu;
    gpus.devices.insert(gpus.devices.end(), devices[U(gpu)].begin(), devices[U(gpu)].end());
  }
  gpus.first.push_back(static_cast<int>(gpus.devices.size()));
  return gpus;
}

}  // namespace berth
