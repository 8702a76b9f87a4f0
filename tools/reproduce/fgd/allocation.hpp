// The nodes of the published allocation experiment (Weng et al., "Beware of Fragmentation", ATC 2023,
// and its code, kubernetes-scheduler-simulator): what is left of them, what fits, and how fragmented they
// are. Pods come and never leave.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/openb.hpp"
#include "env/base/rng.hpp"

namespace berth::fgd {

inline constexpr int kMostGpus = 8;  // of a node
inline constexpr int kWhole = 1000;  // thousandths of a GPU

struct Pod {
  int cpu = 0;     // milli
  int memory = 0;  // MiB
  int gpus = 0;
  int milli = 0;             // of each GPU
  std::uint64_t models = 0;  // 0 = any
  bool Shares() const { return gpus == 1 && milli < kWhole; }
  bool operator==(const Pod&) const = default;
};
Pod PodOf(const OpenbPod& pod);

struct Node {
  int cpu = 0, memory = 0;  // left: milli, MiB
  int gpus = 0, model = 0;
  std::array<int, kMostGpus> left{};       // [gpus] thousandths
  std::array<int, 16> pods_of_affinity{};  // by AffinityOf
  int TotalLeft() const;
  int Idle() const;  // GPUs of which all is left
};
Node NodeOf(const OpenbNode& node);

// Pods of one kind share a number: 0 = no GPU, 1 = a share of a GPU, 1 + n = n whole GPUs.
int AffinityOf(const Pod& pod);

template <class T>
void Shuffle(std::vector<T>& items, Stream& random) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[random.Below(static_cast<std::uint32_t>(i))]);
}

bool Fits(const Node& node, const Pod& pod);
// `gpu`: which one a share is taken of; whole GPUs are the first idle ones.
void Place(Node& node, const Pod& pod, int gpu);

// What pods are like: their shapes without memory, the most frequent ones that make up 95% of all.
struct TypicalPod {
  Pod pod;           // memory 0
  double frequency;  // of all typical ones, sums to 1
};
// Equally frequent shapes are taken in random order (the authors sort a hash map's entries).
std::vector<TypicalPod> TypicalPods(std::span<const Pod> pods, Stream& random);

// How much idle GPU of a node typical pods cannot use, in thousandths of a GPU: the frequency-weighted sum of
// what is idle where a pod does not fit or needs no GPU, and of GPUs too small for it where it fits (the
// paper's F_n(M), §3.2). Built once from the typical pods; thread-safe.
class Fragmentation {
 public:
  explicit Fragmentation(std::span<const TypicalPod> pods);
  double Of(const Node& node) const;

 private:
  struct Group {  // the same GPUs, ascending CPU
    int gpus, milli;
    std::uint64_t models;
    double frequency;                // of all
    std::vector<int> cpu;            // [n]
    std::vector<double> cumulative;  // [n] frequency of those that need at most cpu[i]
  };
  std::vector<Group> groups_;
  double without_gpu_ = 0.0;
};

}  // namespace berth::fgd
