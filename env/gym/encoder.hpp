// What turns a decision point into a policy's observation: a list of blocks, side by side in one row of
// floats in the order written.
//
//   observation(blocks=queue:1+prices:1+power:1)           any blocks (`berth list blocks`), with versions
//   observation(blocks=batch:1+lookahead:1(hour=2))        with a block's parameters
//   ObservationV1, ObservationV3, Batch, ...               a list under a name (`berth list encoders`)
//
//   const std::unique_ptr<Encoder> encoder = MakeEncoder(mdp);
//   encoder->Begin(view);                                      // an episode begins: forget every job
//   encoder->Select(view, candidates, q, visible);             // who has a row
//   encoder->Encode({view, room, candidates, visible}, layout, out);
//
// A list under a name is never edited: a change is another list, of blocks of another version. Nothing is
// worked out for a block that is not named. The first channel of a job is `present`, the encoder's own: 1
// where the row is a job's, or an entity's of a block that has such (BlockInfo::entity).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/base/spec.hpp"
#include "env/gym/actions/action_set.hpp"
#include "env/gym/mdp.hpp"
#include "env/gym/observation.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {

// A block in the list of an encoder.
struct BlockUse {
  const BlockInfo* info;
  Spec params;
  std::string Name() const;  // "queue:1"
  int Entities() const;      // rows, that of all others among them; throws Error where `most` is none
};

// What an encoder writes: of which blocks, channel by channel.
struct EncoderInfo {
  std::string name;  // of the list, or "observation"
  std::string summary, source;
  std::span<const ParamInfo> params;
  std::vector<BlockUse> blocks;
  std::vector<ChannelInfo> job, pair, type, global;
  // Channels of each part from here on stand in another order than the blocks': order[i] is which of those
  // that the blocks wrote comes i-th.
  struct Order {
    std::vector<std::size_t> job, pair, type, global;
  } order;

  // Rows of entities, behind those of jobs in the blocks' order; channels that name rows.
  int entities = 0;
  int edge = 0, edges = 0;

  // The kinds of commands beside `start` (ObservationOf), whose channels stand behind the blocks'.
  std::vector<ActionUse> actions;

  ObservationLayout Layout(int rows, int g) const;  // entities among the rows
  bool alone() const { return blocks.front().info->alone; }
  std::string Blocks() const;  // "queue:1+prices:1", without parameters
  // A line a channel, in the order of the observation: "jobs queue:1 running: 1 = it runs now; 0 to 1".
  std::vector<std::string> Describe() const;
};

std::span<const BlockInfo> Blocks();

// The richest for a cluster and a process: ObservationV3; where choosing a job blocks the queue (commit) and
// run times are known, when a type has room for it (`batch`); and the blocks of the features that are on.
std::string RichestEncoder(const Features& features, Semantics semantics, Knowledge knowledge);

// The blocks of a table's features beside the shipped ones while this lives: of a test, or of a program with
// features of its own. Thread rule: made and destroyed while nobody else asks for blocks.
class AlsoKnownBlocks {
 public:
  explicit AlsoKnownBlocks(FeatureTable table);
  ~AlsoKnownBlocks();
  AlsoKnownBlocks(const AlsoKnownBlocks&) = delete;
  AlsoKnownBlocks& operator=(const AlsoKnownBlocks&) = delete;

 private:
  std::size_t before_;  // blocks that were known
};
// Every list under a name, with its parameters' defaults, and `observation` with its own.
std::span<const EncoderInfo> Encoders();
// Of the encoder that a spec names. Throws Error with the nearest name of an encoder or of a block.
EncoderInfo EncoderOf(const std::string& spec);
std::string ResolveEncoder(const std::string& spec);  // with every parameter and version
// What a policy of this process reads: the encoder's channels, and behind them those of its actions. Throws
// Error.
EncoderInfo ObservationOf(const MdpSpec& mdp);

// Thread rule: one thread at a time. Allocates in Begin alone, and where a list outgrows all before it.
class Encoder {
 public:
  explicit Encoder(const MdpSpec& mdp);  // throws Error: EncoderOf's, or a process that a block is not for
  const EncoderInfo& info() const { return info_; }
  ObservationLayout Layout(int q, int g) const;  // of so many jobs; entities have rows beside them

  void Begin(const ClusterView& view);
  // Overwrites `visible` with at most `q` of the candidates: the head and the tail of their order, unless a
  // block says otherwise (of several the first).
  void Select(const ClusterView& view, std::span<const int> candidates, int q, std::vector<int>& visible);
  // Writes every float of `out` (layout.size()). Reads no more of the future than the view grants.
  void Encode(const ObservationInput& input, const ObservationLayout& layout, std::span<float> out);

 private:
  struct Placed {
    std::unique_ptr<ObservationBlock> block;
    std::size_t job, entity, pair, type, global;  // its first channel
    std::size_t row, rows;                        // of entities: the first behind the jobs', how many
  };

  EncoderInfo info_;
  ObservationLayout channels_;  // Q = G = 0
  bool reordered_;
  SharedWorks shared_;
  std::vector<Placed> blocks_;
  ObservationBlock* selector_ = nullptr;
  std::vector<float> row_;  // of a part that stands in another order
};

inline std::unique_ptr<Encoder> MakeEncoder(const MdpSpec& mdp) {
  return std::make_unique<Encoder>(mdp);
}

}  // namespace berth
