// Is there room for a decision where jobs hold parts of GPUs? Places everything on a copy of the free parts
// in the order in which Apply does: what leaves, named devices, then the others.
#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/sim/core.hpp"

namespace berth {

ApplyResult SharingState::ValidateRoom(SimCore& core, const Decision& decision) {
  const SimState& s = core.state();
  const Scenario& scenario = core.scenario();
  std::vector<std::int16_t>& room = room_;
  std::copy(s.device_milli.begin(), s.device_milli.end(), room.begin());
  for (int d = 0; d < scenario.num_gpus(); ++d) {  // withheld
    if (core.Marked(d)) room[U(d)] = -1000;
  }
  const bool limited = !memory_room_.empty();
  const auto memory_of = [&](int d) { return MemoryOf(scenario, scenario.TypeOfDevice(d)); };
  for (int d = 0; limited && d < scenario.num_gpus(); ++d) {
    memory_room_[U(d)] = memory_of(d);
    for (int job : s.parts[U(d)]) memory_room_[U(d)] -= scenario.MemoryGb(job);
  }
  const auto holds = [&](int job, int d) {
    return !limited || HoldsGb(memory_room_[U(d)], scenario.MemoryGb(job), memory_of(d));
  };
  const auto take = [&](int job, int milli, int d) {
    room[U(d)] = static_cast<std::int16_t>(room[U(d)] - milli);
    if (limited && milli < 1000) memory_room_[U(d)] -= scenario.MemoryGb(job);
  };
  for (const Command& c : decision.commands) {
    if (s.phase[U(c.job)] != JobPhase::kRunning) continue;
    const int partner = s.partner[U(c.job)];
    if (partner >= 0 && !core.Named(partner)) continue;
    for (int d : s.Devices(c.job)) {
      if (room[U(d)] < 0) continue;
      const int milli = scenario.GpuMilli(c.job);
      const int freed = milli < 1000 ? room[U(d)] + milli : 1000;
      room[U(d)] = static_cast<std::int16_t>(freed);
      if (limited && milli < 1000) memory_room_[U(d)] += scenario.MemoryGb(c.job);
    }
  }
  for (const bool named : {true, false}) {
    for (std::size_t i = 0; i < decision.commands.size(); ++i) {
      const Command& c = decision.commands[i];
      if (c.kind != CommandKind::kStart && c.kind != CommandKind::kMove) continue;
      if ((c.devices_count > 0) != named) continue;
      const int index = static_cast<int>(i), width = core.Width(c), needed = scenario.GpuMilli(c.job);
      const int first = scenario.first_device(c.type);
      const int last = first + scenario.data().cluster.types[U(c.type)].count;
      if (named) {
        if (c.devices_count != width) return {Rule::kWrongDeviceCount, index};
        for (int k = 0; k < width; ++k) {
          const int d = decision.devices[U(c.devices_begin + k)];
          if (d < first || d >= last) return {Rule::kDeviceOfOtherType, index};
          if (s.out_of_service[U(d)] != 0) return {Rule::kOutOfService, index};
          if (room[U(d)] < needed || (needed < 1000 && !holds(c.job, d))) return {Rule::kDeviceBusy, index};
          take(c.job, needed, d);
        }
        continue;
      }
      int best = -1, taken = 0;
      for (int d = first; d < last && taken < width; ++d) {
        if (room[U(d)] < needed || s.out_of_service[U(d)] != 0) continue;
        if (needed == 1000) {
          room[U(d)] = 0;
          ++taken;
        } else if (holds(c.job, d) && (best < 0 || room[U(d)] < room[U(best)])) {
          best = d;
        }
      }
      if (needed < 1000 && best >= 0) {
        take(c.job, needed, best);
        ++taken;
      }
      if (taken < width) return {Rule::kNoRoom, index};
    }
  }
  return {};
}

}  // namespace berth
