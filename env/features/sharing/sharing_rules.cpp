// Is there room for a decision where jobs hold parts of GPUs? Places everything on a copy of the free parts
// in the order in which Apply does: what leaves, named devices, then the others.
#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
ApplyResult SharingEngine::ValidateRoom(Simulator& sim, const Decision& decision) {
  const SimState& s = sim.state_;
  const Scenario& scenario = sim.scenario_;
  const JobTable& jobs = scenario.data().jobs;
  const auto milli = [&](int job) { return jobs.gpu_milli.empty() ? 1000 : jobs.gpu_milli[U(job)]; };
  std::vector<std::int16_t>& room = sim.state_.sharing->room;
  std::copy(s.device_milli.begin(), s.device_milli.end(), room.begin());
  for (int d = 0; s.partitions && d < scenario.num_gpus(); ++d) {  // PartitionEngine::Withhold
    if (sim.device_stamp_[U(d)] == sim.stamp_) room[U(d)] = -1000;
  }
  const auto leaves = [&](int job) { return sim.job_stamp_[U(job)] == sim.stamp_; };
  for (const Command& c : decision.commands) {
    if (s.phase[U(c.job)] != JobPhase::kRunning) continue;
    const int partner = s.partner[U(c.job)];
    if (partner >= 0 && !leaves(partner)) continue;
    for (int d : s.Devices(c.job)) {
      if (room[U(d)] < 0) continue;
      const int freed = milli(c.job) < 1000 ? room[U(d)] + milli(c.job) : 1000;
      room[U(d)] = static_cast<std::int16_t>(freed);
    }
  }
  for (const bool named : {true, false}) {
    for (std::size_t i = 0; i < decision.commands.size(); ++i) {
      const Command& c = decision.commands[i];
      if (c.kind != CommandKind::kStart && c.kind != CommandKind::kMove) continue;
      if ((c.devices_count > 0) != named) continue;
      const int index = static_cast<int>(i), width = sim.Width(c), needed = milli(c.job);
      const int first = scenario.first_device(c.type);
      const int last = first + scenario.data().cluster.types[U(c.type)].count;
      if (named) {
        if (c.devices_count != width) return {Rule::kWrongDeviceCount, index};
        for (int k = 0; k < width; ++k) {
          const int d = decision.devices[U(c.devices_begin + k)];
          if (d < first || d >= last) return {Rule::kDeviceOfOtherType, index};
          if (s.out_of_service[U(d)] != 0) return {Rule::kOutOfService, index};
          if (room[U(d)] < needed) return {Rule::kDeviceBusy, index};
          room[U(d)] = static_cast<std::int16_t>(room[U(d)] - needed);
        }
        continue;
      }
      int best = -1, taken = 0;
      for (int d = first; d < last && taken < width; ++d) {
        if (room[U(d)] < needed || s.out_of_service[U(d)] != 0) continue;
        if (needed == 1000) {
          room[U(d)] = 0;
          ++taken;
        } else if (best < 0 || room[U(d)] < room[U(best)]) {
          best = d;
        }
      }
      if (needed < 1000 && best >= 0) {
        room[U(best)] = static_cast<std::int16_t>(room[U(best)] - needed);
        ++taken;
      }
      if (taken < width) return {Rule::kNoRoom, index};
    }
  }
  return {};
}

}  // namespace berth
