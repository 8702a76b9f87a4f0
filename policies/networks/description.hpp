// A network as data: its layers by name and shape, and the steps that use them, in order. One function per
// architecture writes it (pair_scorer.cpp, mlp.cpp); everything that runs, trains, exports or stores the
// network reads it and knows nothing else of its structure:
//
//   the forward pass without LibTorch     policies/inference.*
//   the LibTorch module                   policies/learn/networks.*
//   the ONNX graph                        policies/onnx_writer.*
//   the written-out backward pass         agents/nn/fused/
//   parameters' names and first weights, in checkpoints and policy files: layers()
//
//   void DescribeMine(Params& params, NetworkDescription& net) {
//     const int units = static_cast<int>(params.Integer("units", 1, 1024));
//     const ValueId job = net.Dense("job", {net.jobs()}, units, kHiddenGain, Activation::kRelu);
//     const ValueId all = net.Mean(job);  // over the jobs of a state
//     const ValueId score = net.Dense("score", {net.pairs(), job, all}, net.outputs(), kScoreGain);
//     net.Answer(net.Actions(score), net.Dense("value", {all}, 1, kValueGain));
//   }
//
// Jobs are those present: rows of the queue whose first channel is not 0. Absent rows count for nothing in a
// mean or maximum, and the scores of their pairs are 0.
//
// A network may have a memory: a state that an episode carries from one decision point to the next (Memory,
// Remember). Who runs such a network keeps the state beside its observation and passes it in; rows of states
// that are stored together are an observation and behind it the state that was there with it.
//
// To add a kind of step: one line in BERTH_NETWORK_STEPS, a function of NetworkDescription that says its
// shape, its forms without LibTorch and in ONNX in one file here (as attention.cpp), its LibTorch form in
// policies/learn/. The linker asks for what is missing.
// Thread rule: a value; read-only once written.
#pragma once

#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "env/gym/observation.hpp"
#include "policies/dense.hpp"

namespace berth {

// Of the orthogonal initial weights: hidden layers, those without an activation, those that give scores, and
// the value.
inline constexpr double kHiddenGain = std::numbers::sqrt2, kLinearGain = 1.0, kScoreGain = 0.01,
                        kValueGain = 1.0;
// Added to the variance that a row is divided by the root of.
inline constexpr float kNormEpsilon = 1e-5F;
// Off the scores of an absent job's key, where those are computed too.
inline constexpr float kAbsentKey = 1e9F;

// One layer y = W x + b.
struct LayerSpec {
  std::string name;  // parameters are "name.weight" [outputs, inputs] and "name.bias" [outputs]
  int inputs = 0, outputs = 0;
  double gain = 1.0;  // of the orthogonal initial weights
};

using ValueId = int;  // which of NetworkDescription::values()

// What a value has a row for: [B, .], [B, G, .], [B, Q, .], [B, Q, G, .], [B, points, .]
enum class RowOf : std::uint8_t { kState, kType, kJob, kPair, kPoint };

struct NetworkValue {
  std::string name;
  RowOf rows = RowOf::kState;
  int width = 0;     // floats a row
  int per_pair = 0;  // of a state: floats for each of its Q G pairs, which stand before the others

  std::size_t Floats(std::size_t pairs) const {  // a row
    return static_cast<std::size_t>(width) + static_cast<std::size_t>(per_pair) * pairs;
  }
};

#define BERTH_NETWORK_STEPS(X) \
  X(Dense) X(Mean) X(Max) X(Actions) X(Concat) X(Normalize) X(Points) X(Attend) X(Collect) X(Gate)

struct NetworkStep {
#define BERTH_NAME(kind) k##kind,
  enum class Kind : std::uint8_t { BERTH_NETWORK_STEPS(BERTH_NAME) };
#undef BERTH_NAME
  Kind kind;
  std::vector<ValueId> inputs;
  ValueId output = -1;
  int layer = -1;                             // kDense: which of layers()
  ValueId onto = -1;                          // kDense: the value that it is added to, if any
  Activation activation = Activation::kNone;  // kDense: applied last; kMax: of its input
  int groups = 1;                             // kNormalize, kPoints: parts of a row; kAttend: heads
};

class NetworkDescription {
 public:
  // `outputs` numbers an action: more than 1 where a learner estimates a distribution.
  NetworkDescription(const ObservationLayout& layout, int num_actions, int outputs = 1);

  // What there is to read: the observation's blocks, or all of it as one row, which binds the network to the
  // Q and G that it was described for; and the state that the episode carries.
  static constexpr ValueId jobs() { return 0; }
  static constexpr ValueId pairs() { return 1; }
  static constexpr ValueId types() { return 2; }
  static constexpr ValueId global() { return 3; }
  static constexpr ValueId observation() { return 4; }
  static constexpr ValueId state() { return 5; }
  static constexpr ValueId kInputs = 6;  // values from here on are computed

  // activation(W (inputs side by side) + b). Inputs of several kinds of rows are spread over those of the
  // result, pairs over jobs and types, all over the state; the layer is then computed in its parts, each once
  // a row of its own.
  ValueId Dense(const std::string& layer, const std::vector<ValueId>& inputs, int units, double gain,
                Activation activation = Activation::kNone);
  // x + W (inputs side by side) + b, x of the result's rows and width.
  ValueId AddDense(ValueId x, const std::string& layer, const std::vector<ValueId>& inputs, double gain);
  // Over the rows of a state: its jobs, types or points. Without jobs: 0.
  ValueId Mean(ValueId x);
  // Over the jobs of a state. Without jobs: the least that the activation of x gives.
  ValueId Max(ValueId x);
  // The numbers of pairs as those of their actions, one row a state.
  ValueId Actions(ValueId x);
  // RowOf of states side by side.
  ValueId Concat(const std::vector<ValueId>& inputs);
  // Each of `groups` equal parts of a row less its mean, over the root of its variance + kNormEpsilon: layer
  // normalisation (Ba et al. 2016) without the gain and bias that the layers which read it have.
  ValueId Normalize(ValueId x, int groups);
  // The row of a state as `points` rows, of which a network has one number throughout. `groups` parts stand
  // side by side in x, each of all points, and in every row.
  ValueId Points(ValueId x, int points, int groups);
  // Of each query the mean of the values, weighted by the softmax of (query . key) / sqrt(head) over the rows
  // of its state; each of `heads` equal parts of a row by itself (Vaswani et al. 2017, eq. 1, and section
  // 3.2.2 without its projections). Queries have rows of jobs, types or points, and so have keys and values,
  // which are of one kind. Without keys: 0.
  ValueId Attend(ValueId queries, ValueId keys, ValueId values, int heads);
  // Of each job's row the sum of x over the rows of its state that name it in their edges
  // (ObservationLayout::edges), a row that names it twice twice: messages from those who wait for it. Nobody
  // names it, or the layout has no edges: 0.
  ValueId Collect(ValueId x);
  // With s the logistic function of `gates`: s x, or of three s x + (1 - s) y. All are rows of states, of one
  // width.
  ValueId Gate(ValueId gates, ValueId x, ValueId y = -1);
  // The network has a memory of so many numbers, zeros as an episode begins: gives back state(), which they
  // are at this point. Once.
  ValueId Memory(int units);
  // What they are at the point after this one.
  void Remember(ValueId next);
  // The network's answer: all actions' numbers, and the value of the state.
  void Answer(ValueId scores, ValueId value);
  // Its parameters stand behind all others, so that those begin alike with it and without.
  void DrawLast(const std::string& layer);

  const ObservationLayout& layout() const { return layout_; }
  int num_actions() const { return num_actions_; }
  int outputs() const { return outputs_; }
  int points() const { return points_; }                 // of a state; 0 = none
  int memory() const { return values_[state()].width; }  // floats; 0 = none
  // Of a stored row: the observation, and behind it the memory.
  int row() const { return layout_.size() + memory(); }
  // True where `done` is the last action.
  bool has_done() const { return layout_.q > 0 && num_actions_ == layout_.q * layout_.g + 1; }

  const std::vector<LayerSpec>& layers() const { return layers_; }  // in the order of the parameters
  const std::vector<NetworkValue>& values() const { return values_; }
  const std::vector<NetworkStep>& steps() const { return steps_; }
  ValueId scores() const { return scores_; }
  ValueId value() const { return value_; }
  ValueId next() const { return next_; }  // the state of the next point; -1 = no memory
  bool Reads(ValueId value) const;        // some step does
  bool ReadsBlocks() const;               // of the observation, not only the one row
  // True where a step reads or makes rows of pairs.
  bool OverPairs(const NetworkStep& step) const;

 private:
  ValueId Add(NetworkStep step, NetworkValue value);

  ObservationLayout layout_;
  int num_actions_, outputs_, points_ = 0;
  std::vector<LayerSpec> layers_;
  std::vector<NetworkValue> values_;
  std::vector<NetworkStep> steps_;
  ValueId scores_ = -1, value_ = -1, next_ = -1;
};

}  // namespace berth
