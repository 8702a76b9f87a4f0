// Where the parts of an observation lie in one flat row of `size()` floats: jobs, pairs, types, global
// (env/sim/observation_block.hpp says what they are). A flat environment has Q = G = 0 and all in `global`.
//
// Under semantics `redecide` the observation is taken at the start of a decision point and does not change
// while micro-actions fill the plan: only the mask does. A frozen policy therefore scores all candidates once
// and fills greedily. Under `commit` every start is a point of its own.
#pragma once

namespace berth {

struct ObservationLayout {
  int q = 0, g = 0;  // rows: visible candidates, then entities and what commands add; GPU types
  int job_channels = 0, pair_channels = 0, type_channels = 0, global_channels = 0;
  // Channels [edge, edge + edges) of a row name other rows (env/sim/observation_block.hpp, EdgeTo).
  int edge = 0, edges = 0;
  int jobs_offset() const { return 0; }
  int pairs_offset() const { return q * job_channels; }
  int types_offset() const { return pairs_offset() + q * g * pair_channels; }
  int global_offset() const { return types_offset() + g * type_channels; }
  int size() const { return global_offset() + global_channels; }
  bool operator==(const ObservationLayout&) const = default;
};

inline constexpr const char* kObservationV1 = "ObservationV1";  // the default encoder (encoder.hpp)

struct ObservationV1 {
  static ObservationLayout Layout(int q, int g);
};

}  // namespace berth
