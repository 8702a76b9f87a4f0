// What turns a decision point into a policy's observation. Versioned and never edited: a change is a new row.
//
//   const std::unique_ptr<Encoder> encoder = MakeEncoder(mdp);
//   encoder->Begin(view);                                      // an episode begins: forget every job
//   encoder->Select(view, candidates, q, visible);             // who has a row
//   encoder->Encode({view, room, candidates, visible}, layout, out);
//
// An encoder remembers what it worked out of each job, so that only what changed is worked out again; its
// output is a pure function of its input all the same (tests/plain_observation.hpp is written without
// memory).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/base/spec.hpp"
#include "env/gym/mdp.hpp"
#include "env/gym/observation.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/plan.hpp"

namespace berth {

// What is encoded: the candidates that are still to be placed, and the room that those placed before them
// leave. At the start of a decision point the room is view.free_gpus(); under semantics `commit` a job that
// was started since is no candidate and has taken its room, whether or not the simulator knows already.
struct EncoderInput {
  const ClusterView& view;
  std::span<const int> room;        // [G] idle GPUs
  std::span<const int> candidates;  // in the stated order
  std::span<const int> visible;     // at most layout.q of them, row by row
  const Plan* started = nullptr;    // who was started since, where the simulator does not know yet
};

// Thread rule: one thread at a time. Allocates in Begin alone, and where a list outgrows all before it.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual void Begin(const ClusterView& view) = 0;
  // Overwrites `visible` with at most `q` of the candidates: the head and the tail of their order, unless the
  // encoder says otherwise.
  virtual void Select(const ClusterView& view, std::span<const int> candidates, int q,
                      std::vector<int>& visible);
  // Writes every float of `out` (layout.size()). Reads no more of the future than the view grants.
  virtual void Encode(const EncoderInput& input, const ObservationLayout& layout, std::span<float> out) = 0;
};

struct EncoderInfo {
  const char* name;  // spec name
  const char* summary;
  const char* source;
  std::span<const ParamInfo> params;
  std::span<const ChannelInfo> job, pair, type, global;
  // Throws Error where the decision process does not suit it.
  std::unique_ptr<Encoder> (*make)(Params& params, const MdpSpec& mdp);
  ObservationLayout Layout(int q, int g) const;
};

// The one list: X(function that gives the EncoderInfo, defined in the encoder's own file).
#define BERTH_ENCODERS(X) \
  X(ObservationV1Info)    \
  X(ObservationV2Info)    \
  X(ObservationV3Info)    \
  X(RlSchedulerInfo)      \
  X(BatchEncoderInfo)     \
  X(LookaheadInfo)

#define BERTH_DECLARE(function) EncoderInfo function();
BERTH_ENCODERS(BERTH_DECLARE)
#undef BERTH_DECLARE

std::span<const EncoderInfo> Encoders();
// Of the encoder that a spec such as "RLScheduler(longest_run_s=124707)" names; Error with the nearest name.
const EncoderInfo& EncoderOf(const std::string& spec);
std::string ResolveEncoder(const std::string& spec);  // with every parameter
std::unique_ptr<Encoder> MakeEncoder(const MdpSpec& mdp);

}  // namespace berth
