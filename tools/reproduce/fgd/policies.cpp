#include <algorithm>
#include <numeric>

#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "tools/reproduce/fgd/run.hpp"

namespace berth::fgd {
namespace {

constexpr int kMost = 100;              // score
constexpr double kMostCpu = 128'000.0;  // milli, of the largest node; likewise GPUs
constexpr int kMostMilli = 8'000;

int ShareOf(const Node& node, const Pod& pod) {
  return pod.Shares() ? BestFitGpu(node, pod) : -1;
}

// Tetris's alignment (Grandl et al., SIGCOMM 2014) upside down: the smaller the dot product of what is asked
// and what is left, the better. dot_product_score.go with dimExtMethod=merge, normMethod=max.
Choice DotProduct(const Node& node, const Pod& pod, const Fragmentation&) {
  const double cpu = (node.cpu / kMostCpu) * (pod.cpu / kMostCpu);
  const double gpu = (node.TotalLeft() / double{kMostMilli}) * (pod.gpus * pod.milli / double{kMostMilli});
  return {static_cast<int>(kMost * (1.0 - (cpu + gpu) / 2.0)), ShareOf(node, pod)};
}

// Pods of one kind (AffinityOf) gather on the same nodes, fuller nodes first (Gandiva, Xiao et al., OSDI
// 2018). gpu_clustering_score.go.
Choice Clustering(const Node& node, const Pod& pod, const Fragmentation&) {
  if (pod.gpus == 0) return {0, -1};
  int kinds = 0;
  for (std::size_t kind = 1; kind < node.pods_of_affinity.size(); ++kind)
    kinds += node.pods_of_affinity[kind] > 0;
  const bool same = node.pods_of_affinity[U(AffinityOf(pod))] > 0;
  const int rank = same ? (kinds == 1 ? 3 : 2) : (kinds == 0 ? 1 : 0);
  return {kMost / 4 * (kMostMilli - node.TotalLeft()) / kMostMilli + kMost * rank / 4, ShareOf(node, pod)};
}

// GPUs in use before idle ones on a node in use before idle nodes (MLaaS in the wild, Weng et al., NSDI
// 2022). gpu_packing_score.go.
Choice Packing(const Node& node, const Pod& pod, const Fragmentation&) {
  if (pod.gpus == 0) return {0, -1};
  const int idle = node.Idle();
  if (idle == node.gpus) return {std::max(kMost / 3 - idle, idle), ShareOf(node, pod)};
  std::array<int, kMostGpus> order;
  std::iota(order.begin(), order.begin() + node.gpus, 0);
  std::stable_sort(order.begin(), order.begin() + node.gpus,
                   [&](int a, int b) { return node.left[U(a)] < node.left[U(b)]; });
  int needed = pod.gpus, idle_used = 0, percent_left = 0;
  for (int i = 0; i < node.gpus && needed > 0; ++i) {
    const int left = node.left[U(order[U(i)])];
    if (left < pod.milli) continue;
    --needed;
    idle_used += left == kWhole;
    percent_left += left * 100 / kWhole;
  }
  const int score = idle_used > 0 ? std::max(kMost / 2 - idle_used, kMost / 3)
                                  : std::max(kMost - percent_left / 10, kMost / 2);
  return {score, ShareOf(node, pod)};
}

// The least left over, CPU and GPU weighing the same. best_fit_score.go; its last step stretches the scores
// of the nodes that fit to 0 to 100, which keeps their order and their ties.
Choice BestFit(const Node& node, const Pod& pod, const Fragmentation&) {
  double left = 0.0;
  left += (node.cpu - pod.cpu) / kMostCpu * 0.5;
  left += (node.TotalLeft() - pod.gpus * pod.milli) / double{kMostMilli} * 0.5;
  return {static_cast<int>((1.0 - left) * kMost), ShareOf(node, pod)};
}

int Improvement(double before, double after) {
  return static_cast<int>(1.0 / (1.0 + Exp(-(before - after) / 1000.0)) * kMost);
}

// Fragmentation gradient descent: where fragmentation grows least (the paper's Algorithm 1). fgd_score.go.
Choice Fgd(const Node& node, const Pod& pod, const Fragmentation& fragmentation) {
  const double before = fragmentation.Of(node);
  if (!pod.Shares()) {
    Node after = node;
    Place(after, pod, -1);
    return {Improvement(before, fragmentation.Of(after)), -1};
  }
  Choice best;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const int left = node.left[U(gpu)];
    const auto seen = std::find(node.left.begin(), node.left.begin() + gpu, left);
    if (left < pod.milli || seen != node.left.begin() + gpu) continue;  // equal GPUs: the first is taken
    Node after = node;
    Place(after, pod, gpu);
    const int score = Improvement(before, fragmentation.Of(after));
    if (best.gpu < 0 || score > best.score) best = {score, gpu};
  }
  return best;
}

constexpr Policy kPolicies[] = {
    {"random", "01-Random", nullptr},
    {"dot product", "02-DotProd", DotProduct},
    {"clustering", "03-GpuClustering", Clustering},
    {"packing", "04-GpuPacking", Packing},
    {"best fit", "05-BestFit", BestFit},
    {"FGD", "06-FGD", Fgd},
};

}  // namespace

std::span<const Policy> Policies() {
  return kPolicies;
}

int BestFitGpu(const Node& node, const Pod& pod) {
  int best = -1;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const int left = node.left[U(gpu)];
    if (left >= pod.milli && (best < 0 || left < node.left[U(best)])) best = gpu;
  }
  return best;
}

int RandomGpu(const Node& node, const Pod& pod, Stream& random) {
  int chosen = -1;
  std::uint32_t seen = 0;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    if (node.left[U(gpu)] >= pod.milli && random.Below(++seen) == 0) chosen = gpu;
  }
  return chosen;
}

}  // namespace berth::fgd
