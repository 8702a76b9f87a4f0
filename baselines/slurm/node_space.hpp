// Backfill's table of the future: windows of time, and which nodes are not promised to a job meanwhile. Slurm
// promises whole nodes (node_space_map_t in backfill.c).
#pragma once

#include <span>
#include <vector>

namespace berth {

class SlurmNodeSpace {
 public:
  void Reset(double begin, double end, int nodes);
  // Takes `nodes` in [start, end), which is cut to the table.
  void Promise(double start, double end, std::span<const int> nodes);
  // Into `may` (and-ed): nodes that nobody is promised in the windows which [start, end] touches. Returns
  // when another set of nodes begins that is worth trying, -1 = none.
  double Narrow(double start, double end, std::span<char> may) const;
  // Is one of `nodes` promised in [start, end)?
  bool Promised(double start, double end, std::span<const int> nodes) const;
  int windows() const { return static_cast<int>(windows_.size()); }

 private:
  struct Window {
    double begin, end;
    std::vector<char> free;  // [nodes]
  };
  std::size_t Cut(double time);  // index of the window that begins there, windows_.size() at the end
  std::vector<Window> windows_;  // one after the other
};

}  // namespace berth
