// Gates without LibTorch and in ONNX, and the recurrent unit that is made of them.
#include "policies/networks/memory.hpp"

#include <algorithm>

#include "env/base/index.hpp"
#include "policies/networks/forms.hpp"

namespace berth {

int ReadMemory(Params& params) {
  return static_cast<int>(params.Integer(kMemoryParam.name, 0, 1024));
}

std::vector<ValueId> WithMemory(NetworkDescription& net, ValueId x, int units) {
  if (units == 0) return {x};
  const ValueId h = net.Memory(units);
  const auto gates = [&](const char* layer) { return net.Dense(layer, {x, h}, units, kLinearGain); };
  const ValueId reset = gates("memory_reset"), update = gates("memory_update");
  const ValueId fresh =
      net.Dense("memory_new", {x, net.Gate(reset, h)}, units, kHiddenGain, Activation::kTanh);
  const ValueId next = net.Gate(update, h, fresh);
  net.Remember(next);
  return {x, next};
}

// The logistic function by the hyperbolic tangent, which is our own on every machine: s(g) = (1 + tanh(g /
// 2)) / 2.
PlainStep PlainGate(const NetworkDescription& net, const NetworkStep& step, const PolicyBundle&) {
  return [inputs = step.inputs, output = U(step.output), width = U(net.values()[U(step.output)].width),
          open = std::vector<float>()](PlainRun& run) mutable {
    open.resize(width);
    const float* gates = run.read[U(inputs[0])];
    for (std::size_t i = 0; i < width; ++i) open[i] = 0.5F * gates[i];
    Activate(Activation::kTanh, open);
    const float *x = run.read[U(inputs[1])], *y = inputs.size() > 2 ? run.read[U(inputs[2])] : nullptr;
    float* out = run.write[output];
    for (std::size_t i = 0; i < width; ++i) {
      const float s = 0.5F + 0.5F * open[i];
      out[i] = s * x[i] + (y != nullptr ? (1.0F - s) * y[i] : 0.0F);
    }
  };
}

std::string OnnxGate(OnnxRun& run, const NetworkStep& step) {
  OnnxGraph& graph = run.graph;
  const std::string open = graph.Node("Sigmoid", {run.Name(step.inputs[0])});
  const std::string kept = graph.Node("Mul", {open, run.Name(step.inputs[1])});
  if (step.inputs.size() == 2) return kept;
  const std::string closed = graph.Node("Sub", {graph.Float(1.0F), open});
  return graph.Node("Add", {kept, graph.Node("Mul", {closed, run.Name(step.inputs[2])})});
}

}  // namespace berth
