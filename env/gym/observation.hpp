// ObservationV1: what a policy sees, as named float32 blocks. Versioned and never edited: a change is a V2.
//
//   jobs   [Q, Fj]     one row a visible candidate; absent rows are all 0 (channel "present")
//   pairs  [Q, G, Fp]  of a job on a GPU type
//   types  [G, Ft]
//   global [Fg]        clock, load, and what is beyond the visible Q
//
// Under semantics `redecide` the observation is taken at the start of a decision point and does not change
// while micro-actions fill the plan: only the mask does. A frozen policy therefore scores all candidates once
// and fills greedily (design.md §5). Under `commit` every start is a point of its own.
#pragma once

#include <span>

namespace berth {

struct ChannelInfo {
  const char* name;
  const char* meaning;  // with unit and scaling
  float low, high;      // range of values
};

// Where the blocks lie in one flat row of `size()` floats: jobs, pairs, types, global.
// A flat environment (no blocks) has Q = G = 0 and everything in `global`.
struct ObservationLayout {
  int q = 0, g = 0;  // visible candidates, GPU types
  int job_channels = 0, pair_channels = 0, type_channels = 0, global_channels = 0;
  int jobs_offset() const { return 0; }
  int pairs_offset() const { return q * job_channels; }
  int types_offset() const { return pairs_offset() + q * g * pair_channels; }
  int global_offset() const { return types_offset() + g * type_channels; }
  int size() const { return global_offset() + global_channels; }
  bool operator==(const ObservationLayout&) const = default;
};

inline constexpr const char* kObservationV1 = "ObservationV1";

// Channels of ObservationV1 (encoder.hpp has the table of encoders).
struct ObservationV1 {
  static std::span<const ChannelInfo> JobChannels();
  static std::span<const ChannelInfo> PairChannels();
  static std::span<const ChannelInfo> TypeChannels();
  static std::span<const ChannelInfo> GlobalChannels();
  static ObservationLayout Layout(int q, int g);
};

}  // namespace berth
