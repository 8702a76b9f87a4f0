// A block of an observation: channels that belong together, written for every row that they describe. An
// encoder (env/gym/encoder.hpp) is a list of blocks, which lie side by side in one flat row of float32:
//
//   jobs   [Q, Fj]     one row a visible candidate, and behind them rows of entities, which are not to be
//                      placed: nodes, tenants, jobs that wait for others; rows without anything are all 0
//   pairs  [Q, G, Fp]  of a job on a GPU type
//   types  [G, Ft]
//   global [Fg]        clock, load, and what is beyond the visible Q
//
// A block is one file and one line of a table. It is versioned and never edited: a change is a new version.
// One without memory is a struct of channels and of functions that write a row of them:
//
//   struct Thermometer {
//     static constexpr ChannelInfo kType[] = {{"heat", "mean degrees C of its devices / 100", 0, 2}};
//     static void Type(const ClusterView& view, int type, float* f) { f[0] = ...; }
//   };
//   BlockInfo ThermometerBlock() {
//     return RowBlock<Thermometer>::Info("thermometer", 1, "how hot GPUs are");
//   }
//
// A block with entities (env/sim/entity_rows.hpp) has a parameter `most`: so many rows are laid out, by
// themselves, and one more that sums up all others. What it says of them stands in channels of its own, which
// are 0 in rows of jobs, as the channels of jobs are in rows of entities.
//
// One that compares candidates, or remembers, derives from ObservationBlock. What it writes is a pure
// function of its input all the same, but for what it says that it remembers.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <typeindex>
#include <utility>
#include <vector>

#include "env/base/portable_math.hpp"
#include "env/base/spec.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/plan.hpp"

namespace berth {

struct ChannelInfo {
  const char* name;
  const char* meaning;  // with unit and scaling
  float low, high;      // range of values
};

// The scale of most channels of time: ln(1 + seconds / 60 s) / 10.
inline float LogMinutes(double seconds) {
  return static_cast<float>(Log(1.0 + std::max(seconds, 0.0) / 60.0) / 10.0);
}

// What is shown: the candidates that are still to be placed, and the room that those placed before them
// leave. At the start of a decision point the room is view.free_gpus(); under semantics `commit` a job that
// was started since is no candidate and has taken its room, whether or not the simulator knows already.
struct ObservationInput {
  const ClusterView& view;
  std::span<const int> room;        // [G] idle GPUs
  std::span<const int> candidates;  // in the stated order
  std::span<const int> visible;     // at most Q of them, row by row
  const Plan* started = nullptr;    // who was started since, where the simulator does not know yet
};

// Where a block's channels lie in the flat row: operator[] is its first channel of a row.
struct ChannelRows {
  float* first;
  std::size_t stride;  // floats from row to row
  float* operator[](std::size_t row) const { return first + row * stride; }
};
struct BlockOutput {
  ChannelRows jobs;   // row i is of input.visible[i]; the rows beyond them are 0 already
  ChannelRows pairs;  // row i * G + g, likewise
  ChannelRows types;  // row g
  float* global;
  std::size_t queue;             // Q, without entities
  ChannelRows entities = {};     // row i is the block's own i-th, at BlockInfo::entity; 0 already
  std::size_t first_entity = 0;  // which row of the observation its first one is
};

// The row that an entity stands in a relation to, as a channel: small beside other channels, and exact.
inline constexpr float kEdgeUnit = 1.0F / 65536.0F;
inline float EdgeTo(std::size_t row) {
  return static_cast<float>(row + 1) * kEdgeUnit;
}
// And back; -1 = none.
inline int RowOfEdge(float channel) {
  return static_cast<int>(channel / kEdgeUnit) - 1;
}

// Thread rule: one thread at a time. Allocates in Begin alone, and where a list outgrows all before it.
class ObservationBlock {
 public:
  virtual ~ObservationBlock() = default;
  virtual void Begin(const ClusterView& /*view*/) {}  // an episode begins: forget every job
  // Writes every channel of its rows, which hold anything on entry.
  virtual void Write(const ObservationInput& input, const BlockOutput& out) = 0;
  // Only where BlockInfo::selects: overwrites `visible` with at most `q` of the candidates.
  virtual void Select(const ClusterView& /*view*/, std::span<const int> /*candidates*/, int /*q*/,
                      std::vector<int>& /*visible*/) {}
};

// What several blocks need and none has to itself: worked out once a point, before the blocks are written,
// and only where one of them has asked for it.
class SharedWork {
 public:
  virtual ~SharedWork() = default;
  virtual void Begin(const ClusterView& view) = 0;
  virtual void Update(const ObservationInput& input) = 0;
};

// The shared work of one encoder. Whoever asks for T first has it made; work that T itself asks for is
// updated before it.
class SharedWorks {
 public:
  template <class T, class Setup>
  T& Get(const Setup& setup) {
    for (const auto& [type, work] : works_) {
      if (type == typeid(T)) return static_cast<T&>(*work);
    }
    auto made = std::make_unique<T>(setup);
    T& work = *made;
    works_.emplace_back(typeid(T), std::move(made));
    return work;
  }
  void Begin(const ClusterView& view) {
    for (const auto& [type, work] : works_) work->Begin(view);
  }
  void Update(const ObservationInput& input) {
    for (const auto& [type, work] : works_) work->Update(input);
  }

 private:
  std::vector<std::pair<std::type_index, std::unique_ptr<SharedWork>>> works_;
};

// What a block may know of the decision process that it is for.
struct BlockSetup {
  Knowledge knowledge;
  bool preemptive;
  bool commits;          // semantics `commit`
  bool commit_backfill;  // others start while the chosen job waits
  bool arrival_order;    // of the candidates
  SharedWorks& shared;   // outlives the block
};

struct BlockInfo {
  const char* name;  // "power"; in a spec with its version: "power:1"
  int version;
  const char* summary;
  const char* source = "Berth";
  std::span<const ParamInfo> params = {};
  std::span<const ChannelInfo> job = {}, pair = {}, type = {}, global = {};
  // Throws Error where the decision process does not suit it.
  std::unique_ptr<ObservationBlock> (*make)(Params& params, const BlockSetup& setup) = nullptr;
  bool selects = false;  // it says whom an observation shows
  // It reads nothing of nodes, devices and features: whoever states jobs, rates and counts of GPUs has all
  // that it needs (policies/foreign_cluster.hpp).
  bool foreign = false;
  bool attained_steps = false;  // of jobs, which it reads where the knowledge is blind
  // A published observation: it stands alone, without the channel `present`, and writes absent rows itself.
  bool alone = false;
  // Of rows of its own: the first is 1 where the row is there. The last `edges` name rows (EdgeTo; 0 = none),
  // which one block of an observation may do.
  std::span<const ChannelInfo> entity = {};
  int edges = 0;
};

// BlockInfo::make of a block that has no parameters.
template <class Block>
std::unique_ptr<ObservationBlock> MakeBlock(Params& /*params*/, const BlockSetup& setup) {
  return std::make_unique<Block>(setup);
}

// A block without memory, made of a struct that has kJob, kPair, kType and kGlobal where it fills them, each
// with its function; rows are 0 before it is called.
template <class Rows>
class RowBlock final : public ObservationBlock {
 public:
  explicit RowBlock(const BlockSetup& /*setup*/) {}
  static BlockInfo Info(const char* name, int version, const char* summary) {
    BlockInfo info{name, version, summary};
    if constexpr (requires { Rows::kJob; }) info.job = Rows::kJob;
    if constexpr (requires { Rows::kPair; }) info.pair = Rows::kPair;
    if constexpr (requires { Rows::kType; }) info.type = Rows::kType;
    if constexpr (requires { Rows::kGlobal; }) info.global = Rows::kGlobal;
    info.make = MakeBlock<RowBlock>;
    return info;
  }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    const ClusterView& view = input.view;
    const int types = view.num_types();
    for (std::size_t row = 0; row < input.visible.size(); ++row) {
      const int job = input.visible[row];
      if constexpr (requires { Rows::kJob; }) {
        Rows::Job(view, job, Cleared<std::size(Rows::kJob)>(out.jobs[row]));
      }
      if constexpr (requires { Rows::kPair; }) {
        float* f = out.pairs[row * static_cast<std::size_t>(types)];
        for (int type = 0; type < types; ++type, f += out.pairs.stride) {
          Rows::Pair(view, job, type, Cleared<std::size(Rows::kPair)>(f));
        }
      }
    }
    if constexpr (requires { Rows::kType; }) {
      for (int type = 0; type < types; ++type) {
        Rows::Type(view, type, Cleared<std::size(Rows::kType)>(out.types[static_cast<std::size_t>(type)]));
      }
    }
    if constexpr (requires { Rows::kGlobal; }) {
      Rows::Global(view, Cleared<std::size(Rows::kGlobal)>(out.global));
    }
  }

 private:
  template <std::size_t kChannels>
  static float* Cleared(float* f) {
    std::fill_n(f, kChannels, 0.0F);
    return f;
  }
};

}  // namespace berth
