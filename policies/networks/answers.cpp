// From numbers of pairs and of states to one row of numbers a state, those of its actions.
#include <algorithm>

#include "env/base/index.hpp"
#include "policies/networks/forms.hpp"

namespace berth {
namespace {

class ActionsStep final : public PlainStep {
 public:
  ActionsStep(const NetworkValue& of, const NetworkStep& step)
      : width_(U(of.width)), input_(step.inputs[0]), output_(step.output) {}

  void Prepare(PlainRun& run) override {
    std::fill_n(run.write[U(output_)], U(run.layout.q) * U(run.layout.g) * width_, 0.0F);
  }
  void Run(PlainRun& run) override {
    const std::size_t row = U(run.layout.g) * width_;  // of one job
    const float* from = run.read[U(input_)];
    for (std::size_t job = run.begin; job < run.end; ++job, from += row) {
      std::copy_n(from, row, run.write[U(output_)] + U(run.jobs[job]) * row);
    }
  }

 private:
  std::size_t width_;
  Value input_, output_;
};

class ConcatStep final : public PlainStep {
 public:
  ConcatStep(const NetworkDescription& net, const NetworkStep& step) : output_(step.output) {
    for (const Value input : step.inputs) inputs_.emplace_back(input, net.values()[U(input)]);
  }
  void Run(PlainRun& run) override {
    const std::size_t pairs = U(run.layout.q) * U(run.layout.g);
    float* out = run.write[U(output_)];
    for (const auto& [input, value] : inputs_) {
      out = std::copy_n(run.read[U(input)], value.Floats(pairs), out);
    }
  }

 private:
  std::vector<std::pair<Value, NetworkValue>> inputs_;
  Value output_;
};

}  // namespace

std::unique_ptr<PlainStep> PlainActions(const NetworkDescription& net, const NetworkStep& step,
                                        const PolicyBundle&) {
  return std::make_unique<ActionsStep>(net.values()[U(step.inputs[0])], step);
}

std::unique_ptr<PlainStep> PlainConcat(const NetworkDescription& net, const NetworkStep& step,
                                       const PolicyBundle&) {
  return std::make_unique<ConcatStep>(net, step);
}

// [B, Q, G, outputs] to [B, Q G outputs]: 0 keeps the batch.
std::string OnnxActions(OnnxRun& run, const NetworkStep& step) {
  return run.graph.Node("Reshape", {run.Name(step.inputs[0]), run.graph.Integers({0, -1})});
}

std::string OnnxConcat(OnnxRun& run, const NetworkStep& step) {
  std::vector<std::string> names;
  for (const Value input : step.inputs) names.push_back(run.Name(input));
  return run.graph.Node("Concat", names, {{"axis", {1}}});
}

}  // namespace berth
