// `berth bench --peers`: the programs of what users would pick instead, run in turn with ours on the same
// work.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/measure.hpp"
#include "tools/json.hpp"

namespace berth::bench {

struct PeersSetup {
  std::string programs;  // folder that holds bench_sb3.py, bench_envpool.py, bench_jumanji.py
  std::string venv;      // Python environment; made, and the packages of peers.txt installed, where it is not
  std::string packages;  // peers.txt
  std::string only;      // cases of train_work.cpp and peer_environments.cpp, by commas; all when empty
  int repeats = 3;
  double share = 1.0;  // of each training case's steps, of both sides
};

struct PeerReport {
  std::string name, what, unit;
  double target = 0;                         // of the median ratio; 0 = not stated
  std::vector<double> ours, theirs, ratios;  // in the unit, one a repeat; ours over theirs
  std::string failure;                       // why there is none, or ""
};

// Every case in turn: ours, theirs, ours, theirs, ... on one thread.
std::vector<PeerReport> MeasurePeers(const PeersSetup& setup);
std::string TableOf(const std::vector<PeerReport>& reports);
Json JsonOf(const std::vector<PeerReport>& reports);

}  // namespace berth::bench
