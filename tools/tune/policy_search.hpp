// What `berth tune --policy` does: the weights of a frozen policy searched by an evolution strategy. The
// gradient of the mean JCT, or of another reward's sum, with respect to the weights is estimated from pairs
// of policies with mirrored noise on all weights (Salimans et al. 2017, arXiv:1703.03864, with their Adam),
// every policy of a generation on the same training workloads. What a policy gradient loses in the noise of
// arrivals is the same for all of them and drops out; noise on the weights changes every decision of a run in
// one direction, while noise on actions averages out over thousands of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "env/gym/scenario_source.hpp"
#include "env/sim/metrics.hpp"
#include "policies/bundle.hpp"

namespace berth {

struct PolicySearch {
  PolicyBundle start;
  std::vector<std::string> layers;  // whose weights are searched; empty = all
  std::string reference;            // scheduler spec; only progress is told as a ratio to it
  std::shared_ptr<const ScenarioSource> source;
  Window pieces{0, -1};         // a fixed source: its jobs that workloads are pieces of
  std::string reward = "jct";   // what is minimised; env/gym/rewards.hpp
  int workloads = 8;            // a generation
  int jobs = 0;                 // a workload; 0 = the source's own number
  Window window;                // measured
  int population = 32;          // even
  double step = 0.1;            // noise on a weight, in units of its array's scale (WeightScales)
  double learning_rate = 0.05;  // of Adam, in the same units; falls linearly to a tenth of it
  int generations = 0;
  double seconds = 0.0;  // 0 = no limit
  std::uint64_t seed = 0;
  int threads = 1;
  std::function<void(int generation, double ratio)> on_generation = nullptr;
  const std::atomic<bool>* interrupted = nullptr;
};

struct SearchedPolicy {
  PolicyBundle bundle;  // examples answered anew, provenance with the search added
  int generations = 0;
};

// The scale of each of the bundle's arrays: the root mean square of its values, at least 1 / sqrt(inputs) of
// a matrix and 0.1 of a bias; 0 = not searched, because no score that decides depends on
// it or its layer is not named (no `layers`: all are). Error names the layers where one is unknown.
std::vector<double> WeightScales(const PolicyBundle& bundle, const std::vector<std::string>& layers = {});

// The bundle with its layer `skip` set to a rule to start from: channels of the encoder with their weights,
// such as "job.size=-1,pair.regret=-4"; the others' are 0. Error where the network has no such layer, or for
// names.
PolicyBundle WithLinearStart(const PolicyBundle& bundle, const std::string& weights);

// Same seed and same number of generations: same result, on any number of threads. Throws Error for what
// cannot run. A policy that leaves jobs of the window unfinished counts as one that is as bad as its mirror.
SearchedPolicy SearchPolicy(const PolicySearch& search);

}  // namespace berth
