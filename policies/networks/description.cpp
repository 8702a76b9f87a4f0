#include "policies/networks/description.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// Of values of both kinds together.
RowOf Joined(RowOf a, RowOf b) {
  if (a == b || b == RowOf::kState) return a;
  BERTH_CHECK(a == RowOf::kState || (a != RowOf::kPoint && b != RowOf::kPoint), "points beside others' rows");
  return a == RowOf::kState ? b : RowOf::kPair;
}

}  // namespace

NetworkDescription::NetworkDescription(const ObservationLayout& layout, int num_actions, int outputs)
    : layout_(layout),
      num_actions_(num_actions),
      outputs_(outputs),
      values_{
          {"jobs", RowOf::kJob, layout.job_channels},    {"pairs", RowOf::kPair, layout.pair_channels},
          {"types", RowOf::kType, layout.type_channels}, {"global", RowOf::kState, layout.global_channels},
          {"observation", RowOf::kState, layout.size()}, {"state", RowOf::kState, 0}} {}

ValueId NetworkDescription::Add(NetworkStep step, NetworkValue value) {
  for (const ValueId input : step.inputs) {
    BERTH_CHECK(input >= 0 && U(input) < values_.size(), value.name, " reads value ", input);
  }
  step.output = static_cast<ValueId>(values_.size());
  steps_.push_back(std::move(step));
  values_.push_back(std::move(value));
  return steps_.back().output;
}

ValueId NetworkDescription::Dense(const std::string& layer, const std::vector<ValueId>& inputs, int units,
                                  double gain, Activation activation) {
  LayerSpec spec{layer, 0, units, gain};
  RowOf rows = RowOf::kState;
  for (const ValueId input : inputs) {
    const NetworkValue& value = values_[U(input)];
    BERTH_CHECK(value.per_pair == 0, layer, " reads ", value.name, ", as long as there are pairs");
    rows = Joined(rows, value.rows);
    spec.inputs += value.width;
  }
  layers_.push_back(std::move(spec));
  return Add({.kind = NetworkStep::Kind::kDense,
              .inputs = inputs,
              .layer = static_cast<int>(layers_.size()) - 1,
              .activation = activation},
             {layer, rows, units});
}

ValueId NetworkDescription::AddDense(ValueId x, const std::string& layer, const std::vector<ValueId>& inputs,
                                     double gain) {
  const ValueId sum = Dense(layer, inputs, values_[U(x)].width, gain);
  BERTH_CHECK(values_[U(x)].rows == values_[U(sum)].rows, layer, " onto ", values_[U(x)].name);
  steps_.back().onto = x;
  return sum;
}

ValueId NetworkDescription::Mean(ValueId x) {
  const NetworkValue& of = values_[U(x)];
  BERTH_CHECK(of.rows != RowOf::kState && of.rows != RowOf::kPair, "mean of ", of.name);
  return Add({.kind = NetworkStep::Kind::kMean, .inputs = {x}},
             {Join("mean(", of.name, ")"), RowOf::kState, of.width});
}

ValueId NetworkDescription::Max(ValueId x) {
  const NetworkValue& of = values_[U(x)];
  BERTH_CHECK(of.rows == RowOf::kJob && x >= kInputs, "maximum of ", of.name);
  const Activation activation = steps_[U(x - kInputs)].activation;
  BERTH_CHECK(activation != Activation::kNone, of.name, " has no least value, which is that of no job");
  return Add({.kind = NetworkStep::Kind::kMax, .inputs = {x}, .activation = activation},
             {Join("max(", of.name, ")"), RowOf::kState, of.width});
}

ValueId NetworkDescription::Actions(ValueId x) {
  const NetworkValue& of = values_[U(x)];
  BERTH_CHECK(of.rows == RowOf::kPair && x >= kInputs, "actions of ", of.name);
  return Add({.kind = NetworkStep::Kind::kActions, .inputs = {x}},
             {Join("actions(", of.name, ")"), RowOf::kState, 0, of.width});
}

ValueId NetworkDescription::Concat(const std::vector<ValueId>& inputs) {
  NetworkValue all{"concat", RowOf::kState, 0};
  for (const ValueId input : inputs) {
    const NetworkValue& value = values_[U(input)];
    BERTH_CHECK(value.rows == RowOf::kState && (value.per_pair == 0 || input == inputs.front()), value.name,
                " among rows of states");
    all.width += value.width;
    all.per_pair += value.per_pair;
  }
  return Add({.kind = NetworkStep::Kind::kConcat, .inputs = inputs}, all);
}

ValueId NetworkDescription::Normalize(ValueId x, int groups) {
  const NetworkValue& of = values_[U(x)];
  BERTH_CHECK(of.rows != RowOf::kState && of.rows != RowOf::kPair && of.width % groups == 0, "normalised ",
              of.name);
  return Add({.kind = NetworkStep::Kind::kNormalize, .inputs = {x}, .groups = groups},
             {Join("normalised(", of.name, ")"), of.rows, of.width});
}

ValueId NetworkDescription::Points(ValueId x, int points, int groups) {
  const NetworkValue& of = values_[U(x)];
  BERTH_CHECK(of.rows == RowOf::kState && of.per_pair == 0 && of.width % (points * groups) == 0, points,
              " points of ", of.name);
  BERTH_CHECK(points_ == 0 || points_ == points, points, " points beside ", points_);
  points_ = points;
  return Add({.kind = NetworkStep::Kind::kPoints, .inputs = {x}, .groups = groups},
             {Join("points(", of.name, ")"), RowOf::kPoint, of.width / points});
}

ValueId NetworkDescription::Attend(ValueId queries, ValueId keys, ValueId values, int heads) {
  const NetworkValue &q = values_[U(queries)], &k = values_[U(keys)], &v = values_[U(values)];
  for (const NetworkValue* of : {&q, &k, &v}) {
    BERTH_CHECK(of->rows != RowOf::kState && of->rows != RowOf::kPair && of->width % heads == 0, of->name,
                " in attention of ", heads, " heads");
  }
  BERTH_CHECK(k.rows == v.rows && q.width == k.width, "keys of ", k.name, ", values of ", v.name);
  return Add({.kind = NetworkStep::Kind::kAttend, .inputs = {queries, keys, values}, .groups = heads},
             {Join("attention(", q.name, ")"), q.rows, v.width});
}

ValueId NetworkDescription::Collect(ValueId x) {
  const NetworkValue& of = values_[U(x)];
  BERTH_CHECK(of.rows == RowOf::kJob, "messages of ", of.name);
  return Add({.kind = NetworkStep::Kind::kCollect, .inputs = {x}},
             {Join("messages(", of.name, ")"), RowOf::kJob, of.width});
}

ValueId NetworkDescription::Gate(ValueId gates, ValueId x, ValueId y) {
  NetworkStep step{.kind = NetworkStep::Kind::kGate, .inputs = {gates, x}};
  if (y >= 0) step.inputs.push_back(y);
  const int width = values_[U(gates)].width;
  for (const ValueId input : step.inputs) {
    const NetworkValue& of = values_[U(input)];
    BERTH_CHECK(of.rows == RowOf::kState && of.per_pair == 0 && of.width == width, of.name, " at a gate of ",
                width);
  }
  return Add(std::move(step), {Join("gated(", values_[U(x)].name, ")"), RowOf::kState, width});
}

ValueId NetworkDescription::Memory(int units) {
  BERTH_CHECK(memory() == 0 && units > 0, units, " units of memory beside ", memory());
  values_[state()].width = units;
  return state();
}

void NetworkDescription::Remember(ValueId next) {
  const NetworkValue& of = values_[U(next)];
  BERTH_CHECK(of.rows == RowOf::kState && of.per_pair == 0 && of.width == memory() && next >= kInputs,
              of.name, " as a memory of ", memory());
  next_ = next;
}

void NetworkDescription::Answer(ValueId scores, ValueId value) {
  const NetworkValue& all = values_[U(scores)];
  const std::size_t wanted = U(num_actions_) * U(outputs_);
  BERTH_CHECK(all.rows == RowOf::kState && all.Floats(U(layout_.q) * U(layout_.g)) == wanted, all.name,
              " as ", wanted, " scores");
  BERTH_CHECK(values_[U(value)].rows == RowOf::kState && values_[U(value)].width == 1,
              values_[U(value)].name);
  scores_ = scores;
  value_ = value;
}

void NetworkDescription::DrawLast(const std::string& layer) {
  const auto is_it = [&](const LayerSpec& spec) { return spec.name == layer; };
  const auto found = std::find_if(layers_.begin(), layers_.end(), is_it);
  BERTH_CHECK(found != layers_.end(), "no layer ", layer);
  const int from = static_cast<int>(found - layers_.begin()), last = static_cast<int>(layers_.size()) - 1;
  std::rotate(found, found + 1, layers_.end());
  for (NetworkStep& step : steps_) {
    if (step.layer == from) {
      step.layer = last;
    } else if (step.layer > from) {
      --step.layer;
    }
  }
}

bool NetworkDescription::Reads(ValueId value) const {
  return std::any_of(steps_.begin(), steps_.end(), [&](const NetworkStep& step) {
    return std::find(step.inputs.begin(), step.inputs.end(), value) != step.inputs.end();
  });
}

bool NetworkDescription::ReadsBlocks() const {
  return Reads(jobs()) || Reads(pairs()) || Reads(types()) || Reads(global());
}

bool NetworkDescription::OverPairs(const NetworkStep& step) const {
  const auto pairs = [&](ValueId value) { return values_[U(value)].rows == RowOf::kPair; };
  return pairs(step.output) || std::any_of(step.inputs.begin(), step.inputs.end(), pairs);
}

}  // namespace berth
