// Messages along the edges that rows name, a state at a time.
#include <algorithm>
#include <vector>

#include "agents/nn/fused/fused_pass.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

std::size_t U(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

class CollectStep final : public FusedStep {
 public:
  CollectStep(const ObservationLayout& layout, const NetworkStep& step)
      : layout_(layout), input_(step.inputs[0]), output_(step.output) {}

  void Forward(FusedPass& pass) override {
    FindEdges(pass);
    const float* x = pass.At(input_).data;
    const std::ptrdiff_t width = pass.At(output_).width;
    float* y = pass.Out(output_);
    std::fill_n(y, pass.jobs * width, 0.0F);
    for (const Edge& edge : edges_) Add(x + edge.from * width, width, y + edge.to * width);
  }

  void Backward(FusedPass& pass) override {
    const float* dy = pass.GradientBefore(output_);
    const std::ptrdiff_t width = pass.At(output_).width;
    float* dx = pass.GradientOf(input_);
    std::fill_n(dx, pass.jobs * width, 0.0F);
    for (const Edge& edge : edges_) Add(dy + edge.to * width, width, dx + edge.from * width);
    pass.Given(input_);
  }

 private:
  struct Edge {  // between rows of the chunk's jobs
    std::ptrdiff_t from, to;
  };

  static void Add(const float* x, std::ptrdiff_t width, float* y) {
    for (std::ptrdiff_t k = 0; k < width; ++k) y[k] += x[k];
  }

  void FindEdges(const FusedPass& pass) {
    edges_.clear();
    if (layout_.edges == 0) return;
    const float* named = pass.At(NetworkDescription::jobs()).data + layout_.edge;
    for (std::ptrdiff_t s = 0; s < pass.states; ++s) {
      place_.assign(U(layout_.q), -1);
      for (std::ptrdiff_t job = pass.begin[U(s)]; job < pass.begin[U(s + 1)]; ++job)
        place_[U(pass.queue[U(job)])] = job;
      for (std::ptrdiff_t job = pass.begin[U(s)]; job < pass.begin[U(s + 1)]; ++job) {
        for (int e = 0; e < layout_.edges; ++e) {
          const int row = RowOfEdge(named[job * layout_.job_channels + e]);
          if (row >= 0 && row < layout_.q && place_[U(row)] >= 0) edges_.push_back({job, place_[U(row)]});
        }
      }
    }
  }

  ObservationLayout layout_;
  ValueId input_, output_;
  std::vector<Edge> edges_;  // of the last Forward
  std::vector<std::ptrdiff_t> place_;
};

}  // namespace

std::unique_ptr<FusedStep> FusedCollect(const ObservationLayout& layout, const NetworkStep& step) {
  return std::make_unique<CollectStep>(layout, step);
}

}  // namespace berth
