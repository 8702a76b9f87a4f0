// How long an optimiser step takes, as it was measured: by placement and by the batch of each GPU ("atomic").
// A step of 0 s: it was not measured so.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "env/predict/goodput/speed_model.hpp"

namespace berth {

// "4-2" of GPUs per node (4, 2): the smallest rotation of the list that has no zeros, since a ring of nodes
// begins anywhere.
std::string PlacementName(std::span<const int> gpus_per_node);

// GPUs per node of a gang on full nodes and a rest.
std::vector<int> FullNodes(int gpus, int gpus_per_node);

// Thread rule: safe to read from any thread once it is filled.
class StepTable {
 public:
  // Rows as read. AddPlacement: a placement by its name. AddShape: any placement on so many nodes.
  // AddKnown: the answer to a question, in place of what would be interpolated.
  void AddPlacement(const std::vector<int>& gpus_per_node, int atomic, goodput::StepTime time);
  void AddShape(int nodes, int gpus, int atomic, goodput::StepTime time);
  void AddKnown(const std::string& placement, int atomic, goodput::StepTime time) {
    known_[{placement, atomic}] = time;
  }
  void Finish();  // after the last row
  bool empty() const { return placements_.empty() && shapes_.empty(); }

  // The measured placement, linear in `atomic`. A placement that was not measured: from
  // measured shapes (nodes, GPUs), linear in the batch, then in GPUs a node and between numbers of nodes.
  // Not measured outside of the batches that some placement was measured with; beyond the most nodes the
  // largest shape stands.
  goodput::StepTime At(std::span<const int> gpus_per_node, int atomic) const;
  // The same of a placement that was not measured.
  goodput::StepTime AtShape(int nodes, int gpus, int atomic) const;

  double Fingerprint() const;                     // of most of its numbers, as old scenario files keep it
  int min_atomic() const { return min_atomic_; }  // of each GPU, over all measured placements
  int max_atomic() const { return max_atomic_; }
  // The largest batch of each GPU that the placement was measured with; of a placement that was not, of a
  // shape at least as large. 0 = none.
  int MaxAtomic(std::span<const int> gpus_per_node) const;
  // That a named placement on so many GPUs was measured with; 0 = none was.
  int MaxAtomicOf(int gpus) const;

 private:
  using Curve = std::vector<std::pair<int, goodput::StepTime>>;  // by atomic batch
  static goodput::StepTime OnCurve(const Curve& curve, int atomic);
  // Beyond what was measured of a shape its last two batches go on, since a step is nearly linear in its
  // batch.
  goodput::StepTime OnShape(const Curve& curve, int atomic) const;
  goodput::StepTime OnNodes(int nodes, double gpus_per_node,
                            int atomic) const;  // REQUIRES: a measured number of nodes

  std::map<std::string, Curve> placements_;
  std::map<int, int> most_on_;                   // GPUs of placements: largest batch
  std::map<std::pair<int, int>, Curve> shapes_;  // (nodes, GPUs)
  std::map<std::pair<int, int>, std::map<int, std::vector<goodput::StepTime>>> sums_;  // until Finish
  std::map<std::pair<std::string, int>, goodput::StepTime> known_;
  std::vector<int> nodes_;  // measured numbers of nodes, ascending
  int min_atomic_ = 0, max_atomic_ = 0;
};

}  // namespace berth
