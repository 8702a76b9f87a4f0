// The cluster as Slurm sees it: nodes in the order of their names, GPUs that are free on each, and which of
// them a job takes.
#pragma once

#include <span>
#include <vector>

#include "baselines/placement/node_limits.hpp"
#include "baselines/slurm/settings.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

// GPUs on nodes. Slurm gives a job the fewest nodes that hold its gang, of one GPU type; or, where jobs ask
// for GPUs a task (SlurmSettings::spread), any nodes of one type.
struct SlurmTake {
  int node, gpus;
};

// Where Slurm 22.05 puts a job that asks for GPUs a task and for no nodes, as _eval_nodes does (job_test.c of
// select/cons_tres): of runs of neighbours of the least weight the one with the least free that holds what is
// left, else the one with the most; of its nodes the one with the least free that holds the gang alone, else
// all, the emptiest first. What a job of one GPU could use of a node is one, however many are free. `free`
// and `weights` are [nodes]; empty where it does not fit.
std::vector<SlurmTake> SpreadGang(int gang, std::span<const int> free, std::span<const double> weights);

// Slurm's table of nodes. Thread rule: one thread at a time.
class SlurmNodeTable {
 public:
  // Throws Error where the nodes of slurm.conf are not those of the cluster. Each type is a node, in which
  // the simulator chooses devices, where those of `view` are not all its own (it is a part, or GPUs are
  // divided), and where nodes have limits of cores and memory.
  void Reset(const ClusterView& view, const SlurmSettings& settings);
  // What is free now, and what running jobs hold. At every decision.
  void Observe(const ClusterView& view);

  int size() const { return static_cast<int>(nodes_.size()); }
  // Types in the order of their nodes' weights.
  const std::vector<int>& types() const { return types_; }
  int TypeOf(int node) const { return nodes_[static_cast<std::size_t>(node)].type; }
  const std::vector<int>& free() const { return free_; }  // [nodes] GPUs
  // What a running job gives back when it ends: not GPUs that leave service with it.
  std::vector<SlurmTake> Held(const ClusterView& view, int job) const;
  // [nodes] of a partition.
  const std::vector<char>& InPartition(int partition) const {
    return in_partition_[static_cast<std::size_t>(partition)];
  }
  int GpusIn(const ClusterView& view, int partition) const;  // of its nodes; slices are none
  // GPUs of a node, and nodes that a gang needs on a type.
  int GpusOf(int node) const { return nodes_[static_cast<std::size_t>(node)].gpus; }
  int NodesFor(int gang, int type) const;
  // Among nodes that `may` allows: fills `takes` and is true where the job fits `free`.
  bool Choose(const ClusterView& view, int job, std::span<const int> free, std::span<const char> may,
              std::vector<SlurmTake>& takes);
  // Devices for `takes`, among those that are free now or `freed`, but not `taken`, to which they are added;
  // none where types are nodes. Both are [devices].
  void DevicesFor(const ClusterView& view, const std::vector<SlurmTake>& takes,
                  const std::vector<char>& freed, std::vector<char>& taken, std::vector<int>& devices) const;
  bool types_are_nodes() const { return flat_; }

 private:
  struct Node {
    int type, first, gpus;  // devices [first, first + gpus)
    double weight;
  };
  int ChooseNode(const ClusterView& view, int job, std::span<const int> free,
                 std::span<const char> may) const;
  bool ChooseOn(int type, int gang, std::span<const int> free, std::span<const char> may,
                std::vector<SlurmTake>& takes);
  bool ChooseSpread(int type, int gang, std::span<const int> free, std::span<const char> may,
                    std::vector<SlurmTake>& takes);
  bool TypesAreNodes(const ClusterView& view);
  void AddNodes(const ClusterView& view, const SlurmSettings& settings, bool flat);

  std::vector<Node> nodes_;
  std::vector<int> types_;
  std::vector<std::vector<int>> sizes_;  // [types] GPUs of each of its nodes, the largest first
  std::vector<int> of_device_;
  std::vector<int> free_, offered_;
  std::vector<double> weights_;
  std::vector<std::vector<char>> in_partition_;
  bool flat_ = false;
  NodeLimits limits_;
  const SlurmSettings* settings_ = nullptr;
};

}  // namespace berth
