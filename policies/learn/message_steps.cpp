// Messages along the edges that rows name, as LibTorch's operations.
#include "env/sim/observation_block.hpp"
#include "policies/learn/steps.hpp"

namespace berth {

torch::Tensor TorchCollect(TorchRun& run, const NetworkStep& step) {
  const torch::Tensor& x = run.At(step.inputs[0]);  // [B, Q, width]
  const ObservationLayout& layout = run.net.layout();
  torch::Tensor sum = torch::zeros({x.size(0), x.size(1) + 1, x.size(2)}, x.options());
  if (layout.edges == 0) return sum.narrow(1, 1, x.size(1));
  // [B, Q, edges] 1 + row; what names nobody goes to row 0, which is left out. Absent rows name nobody.
  const torch::Tensor edges = run.At(NetworkDescription::jobs())
                                  .narrow(2, layout.edge, layout.edges)
                                  .div(kEdgeUnit)
                                  .to(torch::kInt64);
  for (std::int64_t e = 0; e < layout.edges; ++e)
    sum = sum.scatter_add(1, edges.narrow(2, e, 1).expand_as(x), x);
  return sum.narrow(1, 1, x.size(1));
}

}  // namespace berth
