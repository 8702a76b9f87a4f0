// ObservationV1: what a policy sees, as named float32 blocks. Versioned and never edited: a change is a V2.
//
//   jobs   [Q, Fj]     one row a visible candidate; absent rows are all 0 (channel "present")
//   pairs  [Q, G, Fp]  of a job on a GPU type
//   types  [G, Ft]
//   global [Fg]        clock, load, and what is beyond the visible Q
//
// The observation is taken at the start of a decision point and does not change while micro-actions fill the
// plan: only the mask does. A frozen policy therefore scores all candidates once and fills greedily
// (design.md §5).
#pragma once

#include <span>
#include <string_view>

#include "env/cluster_view.hpp"
#include "env/mdp.hpp"

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

struct ObservationV1 {
  static std::span<const ChannelInfo> JobChannels();
  static std::span<const ChannelInfo> PairChannels();
  static std::span<const ChannelInfo> TypeChannels();
  static std::span<const ChannelInfo> GlobalChannels();
  static ObservationLayout Layout(int q, int g);

  // Writes every float of `out` (layout.size()). `visible` are at most layout.q jobs, row by row;
  // `candidates` all of them (for what is beyond). Reads no more of the future than `view` grants.
  static void Encode(const ClusterView& view, const MdpSpec& mdp, std::span<const int> candidates,
                     std::span<const int> visible, const ObservationLayout& layout, std::span<float> out);
};

// True where the MDP passes over the present decision point and leaves everything as it is: nobody to place,
// or nothing arrived or completed (MdpSpec::on_change). Training and frozen policies both ask this.
bool PassesOver(const ClusterView& view, const MdpSpec& mdp);

// The candidates of a decision point in the stated order: active jobs when preemptive, waiting ones
// otherwise. Both vectors are overwritten; `visible` holds at most `q` (head and tail of the order).
void SelectCandidates(const ClusterView& view, const MdpSpec& mdp, int q, std::vector<int>& candidates,
                      std::vector<int>& visible);

}  // namespace berth
