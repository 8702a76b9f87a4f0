// From numbers of pairs and of states to one row of numbers a state, those of its actions.
#include <algorithm>

#include "env/base/index.hpp"
#include "policies/networks/forms.hpp"

namespace berth {

PlainStep PlainActions(const NetworkDescription& net, const NetworkStep& step, const PolicyBundle&) {
  return [width = U(net.values()[U(step.inputs[0])].width), input = U(step.inputs[0]),
          output = U(step.output)](PlainRun& run) {
    const std::size_t row = U(run.layout.g) * width;  // of one job
    float* out = run.write[output];
    if (run.begin == 0) std::fill_n(out, U(run.layout.q) * row, 0.0F);
    const float* from = run.read[input];
    for (std::size_t job = run.begin; job < run.end; ++job, from += row) {
      std::copy_n(from, row, out + U(run.jobs[job]) * row);
    }
  };
}

PlainStep PlainConcat(const NetworkDescription& net, const NetworkStep& step, const PolicyBundle&) {
  std::vector<std::pair<std::size_t, NetworkValue>> inputs;
  for (const ValueId input : step.inputs) inputs.emplace_back(U(input), net.values()[U(input)]);
  return [inputs, output = U(step.output)](PlainRun& run) {
    float* out = run.write[output];
    for (const auto& [input, value] : inputs) {
      out = std::copy_n(run.read[input], value.Floats(U(run.layout.q) * U(run.layout.g)), out);
    }
  };
}

// [B, Q, G, outputs] to [B, Q G outputs]: 0 keeps the batch.
std::string OnnxActions(OnnxRun& run, const NetworkStep& step) {
  return run.graph.Node("Reshape", {run.Name(step.inputs[0]), run.graph.Integers({0, -1})});
}

std::string OnnxConcat(OnnxRun& run, const NetworkStep& step) {
  std::vector<std::string> names;
  for (const ValueId input : step.inputs) names.push_back(run.Name(input));
  return run.graph.Node("Concat", names, {{"axis", {1}}});
}

}  // namespace berth
