// Messages along the edges that rows name (ObservationLayout::edges). Without LibTorch rows are added in
// their order, so that the bits are those of every machine. In ONNX the sum is a product with the matrix of
// who names whom.
#include <algorithm>

#include "env/base/index.hpp"
#include "env/sim/observation_block.hpp"
#include "policies/networks/forms.hpp"

namespace berth {

PlainStep PlainCollect(const NetworkDescription& net, const NetworkStep& step, const PolicyBundle&) {
  return [width = U(net.values()[U(step.output)].width), input = U(step.inputs[0]), output = U(step.output),
          place = std::vector<int>()](PlainRun& run) mutable {
    float* y = run.write[output];
    const ObservationLayout& layout = run.layout;
    const std::size_t jobs = run.jobs.size();
    std::fill_n(y, jobs * width, 0.0F);
    if (layout.edges == 0) return;
    place.assign(U(layout.q), -1);  // by row of the queue
    for (std::size_t i = 0; i < jobs; ++i) place[U(run.jobs[i])] = static_cast<int>(i);
    const float* edges = run.read[U(NetworkDescription::jobs())] + layout.edge;
    const float* x = run.read[input];
    for (std::size_t i = 0; i < jobs; ++i, edges += layout.job_channels, x += width) {
      for (int e = 0; e < layout.edges; ++e) {
        const int row = RowOfEdge(edges[e]);
        if (row < 0 || row >= layout.q || place[U(row)] < 0) continue;
        float* to = y + U(place[U(row)]) * width;
        for (std::size_t k = 0; k < width; ++k) to[k] += x[k];
      }
    }
  };
}

// names [B, Q, Q]: how often row i names row j, counted from the edges [B, Q, E] and the rows' numbers, which
// are running sums of ones. y = names^T x; of absent rows nobody is named and nothing is given.
std::string OnnxCollect(OnnxRun& run, const NetworkStep& step) {
  OnnxGraph& graph = run.graph;
  const ObservationLayout& layout = run.net.layout();
  const std::string& x = run.Name(step.inputs[0]);
  if (layout.edges == 0) return graph.Node("Mul", {x, graph.Float(0.0F)});
  const std::string edges = graph.Node(
      "Mul", {graph.Node("Slice", {run.Name(run.net.jobs()), graph.Integers({layout.edge}),
                                   graph.Integers({layout.edge + layout.edges}), graph.Integers({2})}),
              graph.Float(1.0F / kEdgeUnit)});
  const std::string there = graph.Node("Transpose", {run.present}, {{"perm", {0, 2, 1}, true}});  // [B, 1, Q]
  const std::string ones = graph.Node("Add", {graph.Node("Mul", {there, graph.Float(0.0F)}), run.one});
  const std::string numbers = graph.Node("CumSum", {ones, graph.Integers({2})});
  // [B, Q, E, 1] against [B, 1, 1, Q]
  const std::string same = graph.Node("Equal", {graph.Node("Unsqueeze", {edges, graph.Integers({3})}),
                                                graph.Node("Unsqueeze", {numbers, graph.Integers({1})})});
  const std::string counted = graph.Node(
      "ReduceSum", {graph.Node("Cast", {same}, {{"to", {1}}}), graph.Integers({2})}, {{"keepdims", {0}}});
  const std::string names = graph.Node("Transpose", {counted}, {{"perm", {0, 2, 1}, true}});
  return graph.Node("MatMul", {names, graph.Node("Mul", {x, run.present})});
}

}  // namespace berth
