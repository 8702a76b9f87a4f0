#include "env/features/goodput/step_table.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

bool WasMeasured(const goodput::StepTime& time) {
  return time.step > 0.0;
}

goodput::StepTime Between(const goodput::StepTime& a, const goodput::StepTime& b, double t) {
  return {a.step + (b.step - a.step) * t, a.compute + (b.compute - a.compute) * t};
}

}  // namespace

std::string PlacementName(std::span<const int> gpus_per_node) {
  std::vector<int> ring;
  for (int gpus : gpus_per_node) {
    if (gpus > 0) ring.push_back(gpus);
  }
  std::vector<int> least = ring;
  for (std::size_t k = 1; k < ring.size(); ++k) {
    std::rotate(ring.begin(), ring.begin() + 1, ring.end());
    least = std::min(least, ring);
  }
  std::string name;
  for (int gpus : least) {
    if (!name.empty()) name += '-';
    name += std::to_string(gpus);
  }
  return name;
}

std::vector<int> FullNodes(int gpus, int gpus_per_node) {
  std::vector<int> nodes(U(gpus / gpus_per_node), gpus_per_node);
  if (gpus % gpus_per_node > 0) nodes.push_back(gpus % gpus_per_node);
  return nodes;
}

void StepTable::AddPlacement(const std::vector<int>& gpus_per_node, int atomic, goodput::StepTime time) {
  placements_[PlacementName(gpus_per_node)].push_back({atomic, time});
  int gpus = 0;
  for (int on_node : gpus_per_node) gpus += on_node;
  AddShape(static_cast<int>(gpus_per_node.size()), gpus, atomic, time);
  most_on_[gpus] = std::max(most_on_[gpus], atomic);
  min_atomic_ = min_atomic_ == 0 ? atomic : std::min(min_atomic_, atomic);
  max_atomic_ = std::max(max_atomic_, atomic);
}

void StepTable::AddShape(int nodes, int gpus, int atomic, goodput::StepTime time) {
  sums_[{nodes, gpus}][atomic].push_back(time);
}

void StepTable::Finish() {
  for (auto& [name, curve] : placements_)
    std::sort(curve.begin(), curve.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [shape, by_batch] : sums_) {
    Curve& curve = shapes_[shape];
    for (const auto& [atomic, times] : by_batch) {
      goodput::StepTime mean;
      for (const goodput::StepTime& time : times) mean.step += time.step, mean.compute += time.compute;
      const auto n = static_cast<double>(times.size());
      curve.push_back({atomic, {mean.step / n, mean.compute / n}});
    }
    if (nodes_.empty() || nodes_.back() != shape.first) nodes_.push_back(shape.first);
  }
  sums_.clear();
}

goodput::StepTime StepTable::OnCurve(const Curve& curve, int atomic) {
  const auto above = std::lower_bound(curve.begin(), curve.end(), atomic,
                                      [](const auto& point, int value) { return point.first < value; });
  if (above == curve.end()) return {};
  if (above->first == atomic) return above->second;
  if (above == curve.begin()) return {};
  const auto& [low, at_low] = *(above - 1);
  return Between(at_low, above->second, static_cast<double>(atomic - low) / (above->first - low));
}

goodput::StepTime StepTable::OnShape(const Curve& curve, int atomic) const {
  const bool within = curve.front().first <= atomic && atomic <= curve.back().first;
  if (within || curve.size() < 2 || atomic < min_atomic_ || atomic > max_atomic_)
    return OnCurve(curve, atomic);
  const auto& [low, at_low] = atomic < curve.front().first ? curve.front() : curve[curve.size() - 2];
  const auto& [high, at_high] = atomic < curve.front().first ? curve[1] : curve.back();
  return Between(at_low, at_high, static_cast<double>(atomic - low) / (high - low));
}

goodput::StepTime StepTable::OnNodes(int nodes, double gpus_per_node, int atomic) const {
  const double gpus = gpus_per_node * nodes;
  const auto first = shapes_.lower_bound({nodes, 0}), end = shapes_.lower_bound({nodes + 1, 0});
  auto above = std::find_if(first, end, [&](const auto& shape) { return shape.first.second >= gpus; });
  if (above == end) above = std::prev(end);
  if (above == first || above->first.second <= gpus) return OnShape(above->second, atomic);
  const auto below = std::prev(above);
  const goodput::StepTime a = OnShape(below->second, atomic), b = OnShape(above->second, atomic);
  if (!WasMeasured(a) || !WasMeasured(b)) return WasMeasured(a) ? a : b;
  return Between(a, b, (gpus - below->first.second) / (above->first.second - below->first.second));
}

goodput::StepTime StepTable::AtShape(int nodes, int gpus, int atomic) const {
  if (nodes_.empty()) return {};
  const double per_node = static_cast<double>(gpus) / nodes;
  const auto above = std::lower_bound(nodes_.begin(), nodes_.end(), nodes);
  if (above == nodes_.end()) return OnNodes(nodes_.back(), per_node, atomic);
  if (*above == nodes || above == nodes_.begin()) return OnNodes(*above, per_node, atomic);
  const int low = *(above - 1), high = *above;
  const goodput::StepTime a = OnNodes(low, per_node, atomic), b = OnNodes(high, per_node, atomic);
  if (!WasMeasured(a) || !WasMeasured(b)) return {};
  return Between(a, b, static_cast<double>(nodes - low) / (high - low));
}

goodput::StepTime StepTable::At(std::span<const int> gpus_per_node, int atomic) const {
  const std::string name = PlacementName(gpus_per_node);
  if (const auto known = known_.find({name, atomic}); known != known_.end()) return known->second;
  if (const auto measured = placements_.find(name); measured != placements_.end())
    return OnCurve(measured->second, atomic);
  int nodes = 0, gpus = 0;
  for (int on_node : gpus_per_node) nodes += on_node > 0, gpus += on_node;
  return AtShape(nodes, gpus, atomic);
}

int StepTable::MaxAtomic(std::span<const int> gpus_per_node) const {
  if (const auto found = placements_.find(PlacementName(gpus_per_node)); found != placements_.end())
    return found->second.back().first;
  int nodes = 0, gpus = 0, most = 0;
  for (int on_node : gpus_per_node) nodes += on_node > 0, gpus += on_node;
  for (const auto& [shape, curve] : shapes_) {
    if (shape.first >= nodes && shape.second >= gpus) most = std::max(most, curve.back().first);
  }
  return most;
}

double StepTable::Fingerprint() const {
  double sum = 0.0;
  for (const auto& [shape, curve] : shapes_) {
    for (const auto& [atomic, time] : curve)
      sum += (time.step + 3.0 * time.compute) * (atomic + 7.0 * shape.first + 11.0 * shape.second);
  }
  for (const auto& [question, time] : known_) sum += (time.step + 5.0 * time.compute) * question.second;
  return sum;
}

int StepTable::MaxAtomicOf(int gpus) const {
  const auto found = most_on_.find(gpus);
  return found == most_on_.end() ? 0 : found->second;
}

}  // namespace berth
